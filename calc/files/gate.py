"""`python -m calc gate`: whether every scenario of a plan still fits and keeps its limits, for a repository's own checks."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from calc.plan.figures import records
from calc.units import GIB


class Limits(NamedTuple):
    """What a row must keep; None is no limit."""

    fits: bool = False
    usd_most: float | None = None
    hours_most: float | None = None
    usd_per_hour_most: float | None = None


def broken(rows: pd.DataFrame, limits: Limits) -> list[str]:
    """A sentence for each limit that a row breaks; a figure that nobody knows keeps none."""
    return [f"{row['scenario']}: {sentence}" for row in records(rows) for sentence in _broken(row, limits)]


def _broken(row: dict[str, Any], limits: Limits) -> Iterator[str]:
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
        if most is not None and value != value:
            yield f"{what}: not known; {_why(row)}."
        elif most is not None and value > most:
            yield f"{what}: {value:,.2f} {unit}, {value - most:,.2f} over the limit of {most:,.10g}."


def _fits(row):
    if not row["fits"]:
        return "nothing is said about fitting: name an instance or a gpu."
    need = f"{row['memory_bytes'] / GIB:.3g} GiB (up to {row['memory_high_bytes'] / GIB:.3g}) on {row['gpu_memory_bytes'] / GIB:.3g} GiB"
    return f"it is tight: {need}." if row["fits"] == "tight" else f"it does not fit: {need}."


def _why(row):
    if not row["instance"]:
        return "name an instance"
    if row["work"] == "training" and row["train_tokens"] != row["train_tokens"]:
        return "name train_tokens"
    return f"there is no price of {row['instance']} in {row['region']} on {row['market']}, or no speed of this setting"
