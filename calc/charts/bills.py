"""Tables behind the charts of Compare & bill: answers by measure, and what moves them."""

from collections.abc import Sequence
from textwrap import wrap

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.plan.cases import case_ratios
from calc.plan.figures import figures
from calc.say.cases import FACTORS, Money, with_range
from calc.say.numbers import duration, gib, gib_of, is_missing, span
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
Point = tuple[float, float, float]  # value, low and high end
NOTHING: Point = (float("nan"),) * 3


def measures(rows: Sequence[Row], catalogs: Catalogs) -> list[str]:
    """Return the measures that at least one of the rows has."""
    return [name for name in TITLES if any(_has(row, name, catalogs) for row in rows)]


def answers_table(
    rows: Sequence[Row],
    places_in_bill: Sequence[int],
    measure: str,
    money: Money,
    catalogs: Catalogs,
) -> pd.DataFrame:
    """Return a bar for each answer that has the measure.

    Columns: name, label (in lines, the model first among several jobs), rank, value, low, high,
    text, is_ticked, full (the value of a full bar: the largest one, or the memory of its card).
    """
    several = len({row["job"] for row in rows}) > 1
    table = []
    for place, row in enumerate(rows):
        if _has(row, measure, catalogs):
            point = _point(row, measure, catalogs)
            text = _text(row, measure, point, money)
            model = name_of("model", row["model"], catalogs)
            parts = [row["scenario"]]
            if several and model not in row["scenario"]:
                parts.insert(0, model)
            label = LINE_BREAK.join(line for part in parts for line in _lines(part))
            table.append((" · ".join(parts), label, place, *point, text, place in places_in_bill))
    names = ["name", "label", "rank", "value", "low", "high", "text", "is_ticked"]
    answers = pd.DataFrame(table, columns=names)
    cards = [rows[place]["gpu_memory_bytes"] / GIB for place in answers["rank"]]
    return answers.assign(full=cards if measure == "memory" else answers["value"].max())


def _lines(name: str) -> list[str]:
    """Return a name as lines of a label, without the dots at which it is cut.

    A count stays beside the machines that it counts.
    """
    lines = wrap(name.replace("× ", "×\u00a0"), LONGEST_LINE, break_on_hyphens=False)
    return [line.removeprefix("· ").removesuffix(" ·") for line in lines]


def moves_table(moves: pd.DataFrame, bill_usd: pd.Series, money: Money) -> pd.DataFrame:
    """Return the bars of a tornado: label, rank, low, high, base, low_text, high_text.

    An end is written as its distance from the bill's sum as the screen writes it, which can be a
    dollar off the sum of the unrounded lines. It is empty where nothing changes.
    """
    base_usd = float(bill_usd.sum())
    written_usd = money.total(bill_usd.tolist())

    def end_text(end_usd: float) -> str:
        change_usd = round(end_usd - base_usd, money.digits)
        return money(written_usd + change_usd) if change_usd else ""

    return pd.DataFrame(
        {
            "label": [FACTORS[name] for name in moves["factor"]],
            "rank": range(len(moves)),
            "low": moves["low_usd"],
            "high": moves["high_usd"],
            "base": base_usd,
            "low_text": [end_text(usd) for usd in moves["low_usd"]],
            "high_text": [end_text(usd) for usd in moves["high_usd"]],
        }
    )


def _has(row: Row, measure: str, catalogs: Catalogs) -> bool:
    """Return whether a row was estimated and has the measure."""
    return not row["problem"] and not is_missing(_point(row, measure, catalogs)[0])


def _point(row: Row, measure: str, catalogs: Catalogs) -> Point:
    """The measure of a row with its range."""
    if measure == "memory":
        low = row["needed_low_bytes"] / GIB
        high = row["needed_high_bytes"] / GIB
        return row["needed_bytes"] / GIB, low, high
    if measure in ("once", "month"):
        if (measure == "once") != bool(row["is_once"]) or is_missing(row["usd"]):
            return NOTHING
        usd = row["once_usd"] if row["is_once"] else row["monthly_usd"]
        low, high = (usd * ratio for ratio in case_ratios(row))
        return usd, low, high
    if measure == "hours" and ends_of(row):
        numbers = figures(row)
        return row["hours"], numbers.low_hours, numbers.high_hours
    if measure in PACES and not ends_of(row) and pace_unit(row, catalogs) == measure:
        seconds = pace_seconds(row, catalogs)
        return seconds, seconds, seconds
    return NOTHING


def _text(row: Row, measure: str, point: Point, money: Money) -> str:
    """A measure of a row in words: $46 ($38 to $112); 29.3 GiB of 40.0 GiB; 2.1 h; 44 ms."""
    value, low, high = point
    if measure == "memory":
        return f"{gib(value)} of {gib_of(row['gpu_memory_bytes'])}"
    if measure in ("once", "month"):
        return with_range(value, low, high, money)
    return span(value) if measure == "hours" else duration(value)
