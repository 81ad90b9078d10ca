"""`python -m calc gate`: whether every scenario of a plan fits and keeps its limits."""

from collections.abc import Iterator
from typing import NamedTuple

import pandas as pd

from calc.evaluate import Row
from calc.plan.figures import records
from calc.say.numbers import is_missing
from calc.say.verdict import memory_of


class Limits(NamedTuple):
    """What a row must keep; None is no limit."""

    fits: bool = False
    usd_most: float | None = None
    hours_most: float | None = None
    usd_per_hour_most: float | None = None


def broken(rows: pd.DataFrame, limits: Limits) -> list[str]:
    """A sentence for each limit that a row breaks; a figure that is not known keeps no limit."""
    return [f"{row['scenario']}: {sentence}" for row in records(rows) for sentence in _broken(row, limits)]


def _broken(row: Row, limits: Limits) -> Iterator[str]:
    if row["problem"]:
        yield row["problem"]
        return
    if limits.fits and row["runs"] == "no":
        yield f"it does not run on {row['instance'] or row['gpu']}; {row['note']}"
    elif limits.fits and row["fits"] != "yes":
        yield _fits(row)
    bill = "the run" if row["work"] == "training" else "a month"
    for what, value, most, unit in (
        (f"USD of {bill}", row["usd"], limits.usd_most, "USD"),
        (f"hours of {bill}", row["hours"], limits.hours_most, "hours"),
        ("USD per hour", row["usd_per_hour"], limits.usd_per_hour_most, "USD"),
    ):
        if most is not None and is_missing(value):
            yield f"{what}: not known; {_remedy(row)}."
        elif most is not None and value > most:
            yield f"{what}: {value:,.10g} {unit}, {value - most:,.10g} over the limit of {most:,.10g}."


def _fits(row: Row) -> str:
    if not row["fits"]:
        return "nothing is said about fitting: name an instance or a gpu."
    return f"it {'is tight' if row['fits'] == 'tight' else 'does not fit'}: {memory_of(row).rpartition(':')[0]}."


def _remedy(row: Row) -> str:
    if not row["instance"]:
        return "name an instance"
    if row["work"] == "training" and is_missing(row["train_tokens"]):
        return "name train_tokens"
    return f"there is no price of {row['instance']} in {row['region']} on {row['market']}, or no speed of this setting"
