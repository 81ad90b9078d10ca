"""Estimates against truth as tables for a page: points, worst misses and why.

Input and output are DataFrames. A row of the input is a case: case, group, family, model, quantity,
truth, predicted, error_ratio, inside, problem, and the columns of the scenario.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.columns import GLOSSARY
from calc.evaluate import Row
from calc.units import GIB

PEAKS = ("allocated_peak_bytes", "logged_peak_bytes", "memory_bytes")
# How the groups of runs on real GPUs begin; all others are simulated.
ON_GPUS = ("measured", "published")
UNEXPLAINED = "not explained"
TOO = {"low": -1, "high": 1}


def without_problem(errors: pd.DataFrame) -> pd.DataFrame:
    """The cases that the estimate covers."""
    return errors[errors["problem"] == ""]


def peaks(errors: pd.DataFrame) -> pd.DataFrame:
    """The covered cases that measured a peak."""
    sound = without_problem(errors)
    return sound[sound["quantity"].isin(PEAKS)]


def on_gpus(errors: pd.DataFrame) -> pd.Series:
    """The cases that ran on a real GPU."""
    return errors["group"].str.startswith(ON_GPUS)


class ErrorSize(NamedTuple):
    """The errors of some cases: their number, and the share that lies inside the range."""

    cases: int
    median_error_ratio: float
    p90_error_ratio: float
    worst_error_ratio: float
    inside_ratio: float


def size_of_error(errors: pd.DataFrame) -> ErrorSize:
    """Return how far the estimates of some cases are off."""
    size = errors["error_ratio"].abs()
    return ErrorSize(
        len(errors), size.median(), size.quantile(0.9), size.max(), errors["inside"].mean()
    )


def case_points(errors: pd.DataFrame, unit: float) -> pd.DataFrame:
    """The cases as points of a chart: measured, predicted, and the rank of the family."""
    rank = {family: place for place, family in enumerate(sorted(errors["family"].unique()))}
    return pd.DataFrame(
        {
            "case": errors["case"],
            "group": errors["group"],
            "label": errors["family"],
            "rank": errors["family"].map(rank),
            "model": errors["model"],
            "measured": errors["truth"] / unit,
            "predicted": errors["predicted"] / unit,
            "error_ratio": errors["error_ratio"],
        }
    )


def unit_of_quantity(quantity: str) -> tuple[float, str]:
    """The divisor and the name of the unit in which a quantity is shown."""
    return (GIB, "GiB") if quantity.endswith("_bytes") else (1e9, "billions")


def misses(errors: pd.DataFrame, reasons: list[Row], count: int) -> pd.DataFrame:
    """The cases with the largest errors, largest first, each with a reason and its source."""
    sound = without_problem(errors)
    order = sound["error_ratio"].abs().sort_values(ascending=False, kind="stable").index
    worst = sound.loc[order].head(count)
    reasons_of_worst = [_reason(row, reasons) for row in worst.to_dict("records")]
    return worst.assign(
        why=[why for why, _ in reasons_of_worst],
        why_source=[source for _, source in reasons_of_worst],
    )


def _reason(row, reasons):
    """The first reason whose patterns and sign match the case."""
    for reason in reasons:
        fits = all(
            _fits(str(row.get(name, "")), patterns) for name, patterns in reason["where"].items()
        )
        if fits and np.sign(row["error_ratio"]) == TOO[reason["too"]]:
            return reason["why"], reason["source"]
    return UNEXPLAINED, ""


def _fits(word, patterns):
    return any(
        fnmatchcase(word, str(pattern))
        for pattern in (patterns if isinstance(patterns, list) else [patterns])
    )


def reasons_counted(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """The reasons in a column, most frequent first, each with its number of cases and models."""
    groups = rows[rows[column] != ""].groupby(column)
    models = groups["model"].agg(lambda models: ", ".join(dict.fromkeys(models)))
    table = pd.DataFrame(
        {"reason": models.index, "cases": groups.size().to_numpy(), "models": models.to_numpy()}
    )
    return table.sort_values("cases", ascending=False, kind="stable", ignore_index=True)


def by_source(errors: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """The errors grouped by columns: cases, median, signed median, p90, worst, share inside."""
    groups = errors.assign(size=errors["error_ratio"].abs()).groupby(list(names))
    return groups.agg(
        cases=("size", "size"),
        median_error_ratio=("size", "median"),
        bias_ratio=("error_ratio", "median"),
        p90_error_ratio=("size", lambda sizes: sizes.quantile(0.9)),
        worst_error_ratio=("size", "max"),
        inside_ratio=("inside", "mean"),
    ).reset_index()


def simulated_arrivals(rows: pd.DataFrame) -> tuple[int, float]:
    """Services whose arrivals were simulated, and the share of percentiles that are met.

    Within 15 % up to a load of 80 %.
    """
    calm = rows[rows["load_ratio"].astype(float) <= 0.8]
    return rows["shape"].nunique(), float((calm["error_ratio"].astype(float).abs() <= 0.15).mean())


def in_percent(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with every ratio in per cent too, for tables on screen."""
    shares = [name for name in rows if name.endswith("_ratio")]
    return rows.assign(
        **{
            f"{name.removesuffix('_ratio')}_percent": 100 * rows[name].astype(float)
            for name in shares
        }
    )


def measured_label(quantity: str) -> str:
    """Quantity of a published time, by its column; rates and steps count as one."""
    return GLOSSARY[quantity].label.lower() if quantity in GLOSSARY else quantity


def speed_points(speed: pd.DataFrame) -> pd.DataFrame:
    """The published rates as points of a chart; held out means not used in the fit.

    A time per token is shown as the tokens per second of one request. Times to first token are no
    rates and are left out.
    """
    speed = speed[speed["measured"] != "time_to_first_token_seconds"]
    per_token = speed["measured"] == "time_per_output_token_seconds"
    rates = {
        name: np.where(per_token, 1 / speed[name].astype(float), speed[name].astype(float))
        for name in ("value", "predicted")
    }
    use = np.where(speed["held_out"].astype(str) == "True", "held out", "looked at")
    return pd.DataFrame(
        {
            "case": speed["source"],
            "model": speed["published_model"],
            "group": speed["work"] + ", " + use,
            "measured": rates["value"],
            "predicted": rates["predicted"],
            "error_ratio": rates["predicted"] / rates["value"] - 1,
        }
    )
