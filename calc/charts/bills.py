"""Tables behind the charts of Compare & bill: answers by measure, and what moves them."""

from collections.abc import Sequence
from textwrap import wrap

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.plan.cases import case_ratios
from calc.plan.figures import figures
from calc.say.cases import FACTORS, with_range
from calc.say.numbers import billed_usd, duration, gib, is_missing, span
from calc.say.setting import name_of
from calc.say.speed import pace_seconds, pace_unit
from calc.units import GIB

TITLES = {
    "once": "Cost, once",
    "month": "Cost a month",
    "hours": "Time of the run",
    "token": "Time of a token",
    "batch": "Time of a batch",
    "sound": "Time to transcribe a window of sound",
    "memory": "Memory per GPU, of its card",
}
PACES = ("token", "batch", "sound")  # of services, by what they serve
LINE_BREAK, LONGEST_LINE = "\n", 24  # in a label, characters
Point = tuple[float, float, float, str]  # value, low and high end, and the value in words


def measures(rows: Sequence[Row], catalogs: Catalogs) -> list[str]:
    """Return the measures that at least one of the rows has."""
    return [name for name in TITLES if any(_has(row, name, catalogs) for row in rows)]


def answers_table(
    rows: Sequence[Row], ticked: Sequence[int], measure: str, catalogs: Catalogs
) -> pd.DataFrame:
    """Return a bar for each answer that has the measure.

    Columns: name, label (in lines, the model first among several jobs), rank, value, low, high,
    text, is_ticked.
    """
    several = len({row["job"] for row in rows}) > 1
    table = []
    for place, row in enumerate(rows):
        if _has(row, measure, catalogs):
            model = name_of("model", row["model"], catalogs)
            parts = [row["scenario"]]
            if several and model not in row["scenario"]:
                parts.insert(0, model)
            label = LINE_BREAK.join(line for part in parts for line in _lines(part))
            table.append(
                (" · ".join(parts), label, place, *_point(row, measure, catalogs), place in ticked)
            )
    names = ["name", "label", "rank", "value", "low", "high", "text", "is_ticked"]
    return pd.DataFrame(table, columns=names)


def _lines(name: str) -> list[str]:
    """Return a name as lines of a label, without the dots at which it is cut.

    A count stays beside the machines that it counts.
    """
    lines = wrap(name.replace("× ", "×\u00a0"), LONGEST_LINE, break_on_hyphens=False)
    return [line.removeprefix("· ").removesuffix(" ·") for line in lines]


def moves_table(moved: pd.DataFrame, bill_usd: pd.Series) -> pd.DataFrame:
    """Return the bars of a tornado: label, rank, low, high, base, low_text, high_text."""
    base_usd = float(bill_usd.sum())
    return pd.DataFrame(
        {
            "label": [FACTORS[name] for name in moved["factor"]],
            "rank": range(len(moved)),
            "low": moved["low_usd"],
            "high": moved["high_usd"],
            "base": base_usd,
            "low_text": [_unless(usd, base_usd) for usd in moved["low_usd"]],
            "high_text": [_unless(usd, base_usd) for usd in moved["high_usd"]],
        }
    )


def _unless(usd: float, base_usd: float) -> str:
    """An end of a bar in words; empty if it is the base."""
    return "" if billed_usd(usd) == billed_usd(base_usd) else billed_usd(usd)


def _has(row: Row, measure: str, catalogs: Catalogs) -> bool:
    """Return whether a row was estimated and has the measure."""
    return not row["problem"] and not is_missing(_point(row, measure, catalogs)[0])


def _point(row: Row, measure: str, catalogs: Catalogs) -> Point:
    """The measure of a row with its range."""
    nothing = (float("nan"),) * 3 + ("",)
    if measure == "memory":
        low = row["needed_low_bytes"] / GIB
        high = row["needed_high_bytes"] / GIB
        needed = row["needed_bytes"] / GIB
        return needed, low, high, f"{gib(needed)} of {gib(row['gpu_memory_bytes'] / GIB)}"
    if measure in ("once", "month"):
        if (measure == "once") != bool(row["is_once"]) or is_missing(row["usd"]):
            return nothing
        usd = row["once_usd"] if row["is_once"] else row["monthly_usd"]
        low, high = (usd * ratio for ratio in case_ratios(row))
        return usd, low, high, with_range(usd, low, high)
    if measure == "hours" and ends_of(row):
        numbers = figures(row)
        return row["hours"], numbers.low_hours, numbers.high_hours, span(row["hours"])
    if measure in PACES and not ends_of(row) and pace_unit(row, catalogs) == measure:
        seconds = pace_seconds(row, catalogs)
        return seconds, seconds, seconds, "" if is_missing(seconds) else duration(seconds)
    return nothing
