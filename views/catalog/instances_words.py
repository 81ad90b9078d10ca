"""The wording of the Instances tab: its heading, whose job it is for, dates, what a type is."""

from collections.abc import Iterator

import pandas as pd

from calc.answers.full_answer import Answer
from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.say.numbers import about, day_text, gib, percent, three_digits, usd, with_noun
from calc.say.paid import month_words
from calc.say.place import card_name
from calc.say.verdict import verdict
from calc.search.board import qualifies

TIGHT = (
    "Tight: it usually runs, but only once cached memory is given back, so it never comes first."
)
HISTORY = (
    "In {region}: each point is a day on which a price was seen, and it counts until the "
    "next. Estimates are left out. `make prices` "
    "adds a small file for each day on which prices changed (catalogs/edited/history)."
)


def heading(result: Answer, every: int) -> str:
    """The heading: 13 types run the job, from $49 to $101; 7 more are tight."""
    board = result.board.assign(runs_job=qualifies(result.board)).sort_values(
        "runs_job", ascending=False, kind="stable"
    )
    board = board.drop_duplicates("instance")
    able, others = board[board["runs_job"]], board[~board["runs_job"]]
    if not len(able):
        return f"None of {every} types runs the job within its limits"
    least = about(able["usd"].min())
    most = about(able["usd"].max())
    month = month_words(result.job)
    range_words = f"from {least} to {most}{month}" if least != most else f"for {least}{month}"
    sentence = (
        f"{with_noun(len(able), 'type')} run{'s' if len(able) == 1 else ''} the job, {range_words}"
    )
    return "; ".join([sentence, *_others(others)])


def _others(board: pd.DataFrame) -> Iterator[str]:
    """The types that do not fit with certainty: 7 more are tight; 2 more are emulated."""
    tight, sure = board["fits"] == "tight", board["runs"] == "yes"
    past = board["misses"] != ""
    reasons = {
        "tight": tight,
        "emulated or not known to run": ~tight & ~sure,
        "past a limit": ~tight & sure & past,
        "of unknown speed": ~tight & sure & ~past,
    }
    for reason, rows in reasons.items():
        if rows.any():
            yield f"{rows.sum()} more {'is' if rows.sum() == 1 else 'are'} {reason}"


def of_all(count: int) -> str:
    """The heading without a job: 69 instance types with GPUs."""
    return f"{with_noun(count, 'instance type')} with GPUs"


def for_job(sentence: str, elsewhere: str, has_answer: bool, problem: str) -> str:
    """For: fine-tune all weights of Llama 3.1 8B ...; what else the list answers."""
    if not has_answer:
        return (
            f"Prices and sizes of each. "
            f"{problem or 'The job runs on what you have, so nothing is ranked here.'}"
        )
    where = ""
    if elsewhere:
        where = f" These are the answers of the same job in {elsewhere}; the plan is elsewhere."
    return f"For: {sentence[0].lower()}{sentence[1:]}{where}" + (f" {problem}" if problem else "")


def caption(table: pd.DataFrame, market: str) -> str:
    """The first and the last day of the prices shown, and what a mark means."""
    columns = {
        name: table[f"{MARKETS[name].key}_as_of"] for name in dict.fromkeys((market, "spot"))
    }
    days = {
        name: sorted({*column[column.notna() & (column != "")]}) for name, column in columns.items()
    }
    spans = {
        name: dict.fromkeys((day_text(several[0]), day_text(several[-1])))
        for name, several in days.items()
        if several
    }
    dates = "; ".join(
        f"{MARKETS[name].label} of {' to '.join(span)}" for name, span in spans.items()
    )
    return (
        f"Prices {dates}, not a promise. Linux, shared tenancy, before tax, storage and traffic. "
        f"{TIGHT}"
    )


def facts(
    rows: list[Row], of_job: list[Row | None], catalogs: Catalogs
) -> list[tuple[str, list[str]]]:
    """Label and one cell per ticked instance type; the figures of the job come first.

    `of_job`: the row of the job on each type, None where the job does not run on it.
    """
    table = [
        ("Card", [f"{row['gpus']:.0f} × {card_name(row['gpu'], catalogs)}" for row in rows]),
        ("GPU memory", [gib(row["gpu_gib"]) for row in rows]),
        ("$ an hour, on demand", [usd(row["on_demand_usd_per_hour"]) for row in rows]),
        ("$ an hour, spot", [usd(row["spot_usd_per_hour"]) for row in rows]),
        ("Spot saves", [percent(row["spot_discount_ratio"]) for row in rows]),
        ("Taken back in a month", [row["interruption_band"] or "not published" for row in rows]),
        ("GPU memory for $1 an hour", [gib(row["gib_per_usd"]) for row in rows]),
        ("Dense 16-bit PFLOP/s", [three_digits(row["bf16_pflops"]) for row in rows]),
        ("vCPUs of the quota", [f"{row['vcpus']:,.0f}" for row in rows]),
        ("Quota on demand", [row["on_demand_quota"] for row in rows]),
        ("Host memory", [gib(row["host_gib"]) for row in rows]),
        ("Between the GPUs", [row["interconnect"] for row in rows]),
        ("Processor", ["Arm" if row["arm"] else "x86" for row in rows]),
    ]
    if any(of_job):
        needs = ("The job needs", [_needs_of_job(row) for row in of_job])
        costs = ("The job costs", ["" if row is None else usd(row["usd"]) for row in of_job])
        table = [needs, costs, *table]
    return [(label, [cell or "–" for cell in cells]) for label, cells in table]


def _needs_of_job(row: Row | None) -> str:
    """The instances that the job takes, and whether it fits: 2, fits; empty if it does not run."""
    if row is None:
        return ""
    return f"{row['instances_needed']:.0f}, {verdict(row['fits'], row['runs'])}"
