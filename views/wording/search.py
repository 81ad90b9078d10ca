"""The sentences of the wide search, from calc's numbers."""

from calc.cost.job import within as within_limits
from calc.cost.markets import MARKETS, PLAN_MARKETS
from calc.say.numbers import duration, gib, is_missing, percent, span, three, usd
from calc.say.place import card_name
from calc.say.setting import name_of, setting
from calc.search.frontier import place
from calc.units import GIB

ABOUT = (
    "The answers above compare layouts, micro-batches, recompute and instances. Here anything may vary: number formats, optimizers, "
    "software, LoRA, other regions, larger batches; over a million combinations take a few seconds."
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


def job(row):
    """A found row as place() of the frontier reads it."""
    return {"instances": row["found_instances"], "market": row["found_market"], **_where(row)}


def _where(row):
    return {"instance": row["instance"], "region": row["region"]}


def price(row):
    """$83.19 in 81.9 hours, or $3,210 a month."""
    if row["work"] == "training":
        return f"{usd(row['found_usd'])} in {span(row['found_hours'])}"
    return f"{usd(row['found_usd'])} a month"


def basis(row):
    """Published, derived or assumed; spot observed or estimated; and the date of the price."""
    if row["found_market"] not in PLAN_MARKETS:
        return "as the catalog has it"
    key = MARKETS[row["found_market"]].key
    return f"{row[f'{key}_basis']}, {row[f'{key}_as_of']}"


REASONS = {
    "impossible": "cannot be laid out",
    "too large": "do not fit the card",
    "do not run": "do not run there",
    "without a price": "are not sold there",
    "outside the limits": "are outside the limits",
}


def counts(found, seconds):
    """How many combinations were looked at, and what became of them."""
    parts = ", ".join(f"{found.counts[name]:,} {words}" for name, words in REASONS.items() if found.counts[name])
    return f"{found.evaluated:,} combinations in {duration(seconds)}: **{found.counts['held']:,} possible**; {parts}."


def card(label, row, catalogs):
    """Title, number, note and lines of one of the three cards."""
    trains = row["work"] == "training"
    title = CARDS[label][0 if trains else 1]
    money, pace = usd(row["found_usd"]), duration(row["found_seconds"])
    run = f"{money} in {pace}" if trains else f"{money} a month, {pace} per token"
    hour = f"{usd(row['found_usd_per_hour'])} per hour"
    number, note = {
        "cheapest": (money, f"{'in ' if trains else ''}{pace}{'' if trains else ' per token'}, {hour}"),
        "cheapest hour": (hour.removesuffix(" per hour"), run),
        "fastest": (pace + ("" if trains else " per token"), f"{money}{'' if trains else ' a month'}, {hour}"),
    }[label]
    return title, number, note, f"**{place(job(row))}**", memory(row, catalogs), setting(row, catalogs)


def memory(row, catalogs):
    """8 × H100 SXM5 80GB, 61.2 GiB, 77 % of the card."""
    gpus = f"{row['gpus']:.0f} × {card_name(row['gpu'], catalogs)}"
    used = f"{gib(row['memory_bytes'] / GIB)}, {percent(row['memory_bytes'] / row['gpu_memory_bytes'])} of the card"
    return f"{gpus}, {used}{', tight' if row['fits'] == 'tight' else ''}"


def in_place(row):
    """Where a found plan stands, what an hour costs, and how fast it is."""
    pace = f"{three(row['tokens_per_second'])} tokens per second"
    return f"**{place(job(row))}**, {usd(row['found_usd_per_hour'])} per hour (price {basis(row)}); {pace}"


def present(now, before, limits):
    """The plan that the found ones are compared with, and whether it keeps their limits."""
    row = now.row
    if row["problem"]:
        return f"Row looked at: {row['problem']}"
    where = f"{row['instances_needed']:.0f} × {row['instance']}" if row["instance"] else f"{row['gpus']:.0f} GPUs"
    if is_missing(float(before.usd[0])):
        return f"Row looked at: {where}, without a price."
    when = f" in {duration(before.seconds[0])}" if row["work"] == "training" else " a month"
    fits = "" if row["fits"] in ("yes", "tight") else " It does not fit."
    outside = "" if within_limits(before, limits)[0] else " It is outside the limits of this search."
    place_now = f"Row looked at: {before.instances[0]:.0f} × {row['instance']}, {MARKETS[now.market].label}"
    hourly = f"{usd(before.usd_per_hour[0])} per hour"
    return f"{place_now}, {usd(before.usd[0])}{when}, {hourly}.{fits}{outside}"


def within(row, budget):
    """Whether a plan keeps the budget per hour, and by how much."""
    gap = row["found_usd_per_hour"] - budget
    return f"within, {usd(-gap)} to spare" if gap <= 0 else f"{usd(gap)} over the budget"


def loosen(result):
    """What to allow more of where nothing is possible: the reason that stops most of what could be laid out."""
    outside = result.counts["outside the limits"]
    if outside:
        return f"{outside:,} combinations would be possible without the limits: raise the budget, the deadline or the instances."
    if result.counts["do not run"]:
        return f"{result.counts['do not run']:,} combinations fit, but the software refuses them: allow other formats or instances."
    if result.counts["too large"]:
        return "All that can be laid out is too large: allow more GPUs, sharding, recompute, a smaller format or LoRA."
    return "Nothing can be laid out or runs: allow GPU counts that the parallel degrees divide, other software or other families."


def budget_note(scenario, catalogs):
    """What the four have in common."""
    model, length = name_of("model", scenario["model"], catalogs), f"{scenario['sequence_tokens']:,.0f} tokens"
    batch = f"{scenario['batch']:,.0f} sequence{'s' if scenario['batch'] > 1 else ''} of {length}"
    return (
        f"{model}, {batch} at once, the same load in four forms; each is the least money an hour of all layouts on "
        "all instances, in the regions and on the markets that the search allows."
    )
