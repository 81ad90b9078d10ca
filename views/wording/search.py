"""The sentences of the wide search, from calc's numbers."""

from typing import Any

from calc.catalogs.load import Catalogs
from calc.cost.job import Job
from calc.cost.markets import MARKETS, PLAN_MARKETS
from calc.evaluate import Row
from calc.say.numbers import duration, gib, is_missing, percent, span, three, usd
from calc.say.place import cards, place
from calc.say.setting import name_of, setting
from calc.search import ranking
from calc.units import GIB
from views.session.present_plan import Present

ABOUT = (
    "The answers above compare layouts, micro-batches, recompute and instances. Here anything may vary: number formats, optimizers, "
    "software, LoRA, other regions, larger batches. A choice with nothing chosen is left to the answers."
)
NO_START = "The search starts from a plan: loosen what is in the way above first."
CARDS = {
    "cheapest": ("Least money for the run", "Least money a month"),
    "cheapest hour": ("Least money an hour", "Least money an hour"),
    "fastest": ("Fastest within the limits", "Fastest within the limits"),
}
LIMITS = {
    "instances": ("Instances at most", "Instances at most"),
    "usd_per_hour": ("USD per hour at most", "USD per hour at most"),
    "usd": ("USD for the run at most", "USD per month at most"),
    "hours": ("Done within hours", ""),
    "step_tokens": ("Tokens per optimizer step at least", ""),
    "highest_step_tokens": ("Tokens per optimizer step at most", ""),
    "users": ("", "Users at once"),
    "first_token_seconds": ("", "Seconds to the first token at most"),
    "output_token_seconds": ("", "Seconds per output token at most"),
}
REASONS = {
    ranking.TIGHT: "are tight",
    ranking.EMULATED: "are emulated",
    ranking.UNKNOWN: "are not known to run, or how fast",
    ranking.OUTSIDE: "are outside the limits",
}


def price(row: Row) -> Any:
    """$83.19 in 81.9 hours, or $3,210 a month."""
    return f"{usd(row['usd'])} in {span(row['hours'])}" if row["work"] == "training" else f"{usd(row['usd'])} a month"


def basis(row: Row) -> str:
    """Published, derived or assumed; spot observed or estimated; and the date of the price."""
    if row["market"] not in PLAN_MARKETS:
        return "as the catalog has it"
    key = MARKETS[row["market"]].key
    return f"{row[f'{key}_basis']}, {row[f'{key}_as_of']}"


def counts(search: Any, seconds: float) -> str:
    """How many combinations were tried, and what became of them."""
    parts = [f"{search.counts[number]:,} {words}" for number, words in REASONS.items() if search.counts[number]]
    rest = search.tried - int(search.counts.sum())
    parts += [f"{rest:,} do not fit, or do not run there"] if rest > 0 else []
    return f"{search.tried:,} combinations in {duration(seconds)}: **{search.possible:,} possible**; {', '.join(parts)}."


def card(name: str, row: Row, catalogs: Catalogs) -> tuple[str, ...]:
    """Title, number, note and lines of one of the three cards."""
    trains = row["work"] == "training"
    money, pace = usd(row["usd"]), duration(row["seconds"])
    run = f"{money} in {pace}" if trains else f"{money} a month, {pace} per token"
    hour = usd(row["usd_per_hour"])
    number, note = {
        "cheapest": (money, f"{f'in {pace}' if trains else f'{pace} per token'}, {hour} per hour"),
        "cheapest hour": (hour, run),
        "fastest": (pace + ("" if trains else " per token"), f"{money}{'' if trains else ' a month'}, {hour} per hour"),
    }[name]
    return (
        CARDS[name][0 if trains else 1],
        number,
        note,
        f"**{place(row, with_region=True)}**",
        memory(row, catalogs),
        setting(row, catalogs),
    )


def memory(row: Row, catalogs: Catalogs) -> str:
    """8 × H100 SXM5 80GB, 61.2 GiB, 77 % of the card."""
    used = f"{gib(row['memory_bytes'] / GIB)}, {percent(row['memory_bytes'] / row['gpu_memory_bytes'])} of the card"
    return f"{cards(row, catalogs)}, {used}{', tight' if row['fits'] == 'tight' else ''}"


def in_place(row: Row) -> str:
    """Where a plan stands, what an hour costs, and how fast it is."""
    pace = f"{three(row['tokens_per_second'])} tokens per second"
    return f"**{place(row, with_region=True)}**, {usd(row['usd_per_hour'])} per hour (price {basis(row)}); {pace}"


def present(now: Present, before: Job) -> str:
    """The plan that the rows are compared with."""
    row = now.row
    if row["problem"]:
        return f"Row looked at: {row['problem']}"
    where = f"{row['instances_needed']:.0f} × {row['instance']}" if row["instance"] else f"{row['gpus']:.0f} GPUs"
    if is_missing(float(before.usd[0])):
        return f"Row looked at: {where}, without a price."
    when = f" in {duration(before.seconds[0])}" if row["work"] == "training" else " a month"
    ends = ["" if row["fits"] in ("yes", "tight") else " It does not fit.", f" It {row['misses']}." if row.get("misses") else ""]
    money = f"{usd(before.usd[0])}{when}, {usd(before.usd_per_hour[0])} per hour"
    return f"Row looked at: {before.instances[0]:.0f} × {row['instance']}, {MARKETS[now.market].label}, {money}.{''.join(ends)}"


def within(row: Row, budget: float) -> str:
    """Whether a plan keeps the budget per hour, and by how much."""
    gap = row["usd_per_hour"] - budget
    return f"within, {usd(-gap)} to spare" if gap <= 0 else f"{usd(gap)} over the budget"


def budget_note(scenario: Row, catalogs: Catalogs) -> str:
    """What the four have in common."""
    model, length = name_of("model", scenario["model"], catalogs), f"{scenario['sequence_tokens']:,.0f} tokens"
    batch = f"{scenario['batch']:,.0f} sequence{'s' if scenario['batch'] > 1 else ''} of {length}"
    return (
        f"{model}, {batch} at once, the same load in four forms; each is the least money an hour of all layouts on "
        "all instances, in the regions and on the markets that the search allows."
    )
