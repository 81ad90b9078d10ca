"""Estimated scenarios ranked: what fits first, then the cheapest; the one row to name, and how the others fare."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from calc.columns import COMPONENTS
from calc.cost.markets import MARKETS
from calc.scenarios.inputs import inputs_by_name
from calc.units import GIB

HOURS = {"hour": 1.0, "day": 24.0}
HOLDS = ("yes", "tight")
ORDER = {"yes": 0, "tight": 1, "no": 2, "": 3}


def in_period(frame: pd.DataFrame, market: str, period: str) -> pd.Series:
    """USD of each row in a period (hour, day, month) on a market; NaN where there is no price."""
    if period == "month":
        return frame[f"usd_per_month_{MARKETS[market].key}"]
    return frame[f"usd_per_hour_{MARKETS[market].key}"] * HOURS[period]


def rank(frame: pd.DataFrame, market: str = "on-demand", period: str = "hour") -> pd.DataFrame:
    """The rows, best first: what fits before what is tight before what does not fit, cheaper first, then smaller.

    Adds usd (in the period, on the market) and frontier (no other row that holds is both cheaper and smaller).
    """
    usd, memory = in_period(frame, market, period).to_numpy(dtype=float), frame["memory_bytes"].to_numpy(dtype=float)
    verdict = np.where(frame["problem"] == "", [ORDER[each] for each in frame["fits"]], len(ORDER))
    order = np.lexsort((memory, usd, verdict))  # NaN goes last
    usd, memory, holds = usd[order], memory[order], (verdict[order] <= ORDER["tight"]) & ~np.isnan(usd[order])
    by_cost = np.flatnonzero(holds)[np.lexsort((memory[holds], usd[holds]))]
    best_before = np.minimum.accumulate(np.concatenate([[np.inf], memory[by_cost]]))[:-1]
    frontier = np.isin(np.arange(len(order)), by_cost[memory[by_cost] < best_before])
    return frame.iloc[order].assign(usd=usd, frontier=frontier)


def answer(ranked: pd.DataFrame) -> dict[str, Any]:
    """The row to name, and how many rows fit, are tight, do not fit, cannot be estimated.

    The row is the cheapest that holds; without one the row that is least over its card; without a card the smallest.
    """
    fits, usd = ranked["fits"].to_numpy(dtype=object), ranked["usd"].to_numpy(dtype=float)
    memory, card = (ranked[name].to_numpy(dtype=float) for name in ("memory_bytes", "gpu_memory_bytes"))
    sound = (ranked["problem"] == "").to_numpy()
    holds = sound & np.isin(fits, HOLDS)
    states = (
        ("cheapest", holds & ~np.isnan(usd), usd),
        ("unpriced", holds, memory),
        ("over", sound & (fits != ""), memory - card),
        ("no card", sound, memory),
        ("problem", np.ones(len(ranked), dtype=bool), np.zeros(len(ranked))),
    )
    state, able, measure = next(each for each in states if each[1].any())
    row = ranked.iloc[np.lexsort((memory, np.where(able, measure, np.inf)))[0]]
    parts = row[list(COMPONENTS)].astype(float)
    return {
        "state": state,
        "row": row,
        "fit": int((sound & (fits == "yes")).sum()),
        "tight": int((sound & (fits == "tight")).sum()),
        "do_not_fit": int((sound & (fits == "no")).sum()),
        "problems": int((~sound).sum()),
        "rows": len(ranked),
        "memory_gib": float(row["memory_bytes"]) / GIB,
        "low_gib": float(row["memory_low_bytes"]) / GIB,
        "high_gib": float(row["memory_high_bytes"]) / GIB,
        "card_gib": float(row["gpu_memory_bytes"]) / GIB,
        "over_gib": float(row["memory_bytes"] - row["gpu_memory_bytes"]) / GIB,
        "used_ratio": float(row["memory_bytes"] / row["gpu_memory_bytes"]) if row["fits"] else float("nan"),
        "largest": parts.idxmax() if parts.notna().any() else "",
        "largest_gib": float(parts.max()) / GIB,
        "largest_ratio": float(parts.max() / row["memory_bytes"]) if parts.notna().any() else float("nan"),
    }


def scenario_of(row: Mapping[str, Any] | pd.Series) -> dict[str, Any]:
    """The inputs of a result row, as one scenario."""
    return {name: row[name] for name in inputs_by_name() if name in row}
