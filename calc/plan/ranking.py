"""Estimated scenarios ranked: what fits first, then the cheapest; the one row to name, and how the others fare."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from calc.cost.markets import MARKETS
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.support import RUNS

HOURS = {"hour": 1.0, "day": 24.0}
HOLDS = ("yes", "tight")
# How a row stands, the best first: it fits, within the range or tightly, and runs, is emulated or is not verified; else why not.
STANDINGS = (*RUNS[:-1], "does not fit", "no card", "refused", "problem")
OFFERED = len(RUNS) - 1


def standing(rows: pd.DataFrame | dict[str, Any]) -> np.ndarray:
    """How each result row stands, as its place in STANDINGS."""
    fits, runs, problem = (np.atleast_1d(np.asarray(rows[name], dtype=object)) for name in ("fits", "runs", "problem"))
    verdicts = {"": "no card"} | {each: each for each in RUNS[:-1]} | {RUNS[-1]: "refused"}
    ran = np.array([STANDINGS.index(verdicts[each]) for each in runs])
    lost = [problem != "", runs == RUNS[-1], (fits == "no") | (fits == "")]
    return np.select(lost, [STANDINGS.index("problem"), ran, np.maximum(ran, STANDINGS.index("does not fit"))], ran)


def offered(rows: pd.DataFrame | dict[str, Any]) -> np.ndarray:
    """Whether result rows fit, or are tight, and are not refused: what may be named, with its mark where it has one."""
    return standing(rows) < OFFERED


def in_period(frame: pd.DataFrame, market: str, period: str) -> pd.Series:
    """USD of each row in a period (hour, day, month) on a market; NaN where there is no price."""
    if period == "month":
        return frame[f"usd_per_month_{MARKETS[market].key}"]
    return frame[f"usd_per_hour_{MARKETS[market].key}"] * HOURS[period]


def rank(frame: pd.DataFrame, market: str = "on-demand", period: str = "hour") -> pd.DataFrame:
    """The rows, best first as they stand, then cheaper first, then smaller.

    Adds usd (in the period, on the market) and frontier (no other row that may be named is both cheaper and smaller).
    """
    usd, memory = in_period(frame, market, period).to_numpy(dtype=float), frame["memory_bytes"].to_numpy(dtype=float)
    tight = (frame["fits"] == "tight").to_numpy()
    order = np.lexsort((memory, usd, tight, standing(frame)))  # NaN goes last
    usd, memory, holds = usd[order], memory[order], offered(frame)[order] & ~np.isnan(usd[order])
    by_cost = np.flatnonzero(holds)[np.lexsort((memory[holds], usd[holds]))]
    best_before = np.minimum.accumulate(np.concatenate([[np.inf], memory[by_cost]]))[:-1]
    frontier = np.isin(np.arange(len(order)), by_cost[memory[by_cost] < best_before])
    return frame.iloc[order].assign(usd=usd, frontier=frontier)


def scenario_of(row: Mapping[str, Any] | pd.Series) -> dict[str, Any]:
    """The inputs of a result row, as one scenario."""
    return {name: row[name] for name in inputs_by_name() if name in row}
