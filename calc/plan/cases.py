"""Three cases of a bill, and what moves it: each factor alone, from its low to its high end."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import billed_hours, ends_of
from calc.cost.markets import spare_of
from calc.cost.offers import price_line
from calc.evaluate import Row
from calc.layout import replicas
from calc.plan.bill import attempt_usd, on_markets
from calc.plan.figures import records
from calc.table import is_missing

UNCHANGED = (1.0, 1.0)
ASKED_DISCOUNT = 0.10  # of the factor discount
LEAST_SHARE = 0.001  # of the bill, below which a factor moves nothing
Ratios = tuple[float, float]


class Cases(NamedTuple):
    """A bill in three cases, in USD."""

    low: float
    base: float
    high: float


def cases(bill: pd.DataFrame, column: str, contingency_percent: float = 0.0) -> Cases:
    """Return the low, base and high case of a bill's column. [USD]

    Low: runs at the fast end of their time and services at the high end of their throughput. High:
    the other ends, one more attempt at each run, and the contingency on top.
    """
    usd = bill[column].to_numpy(dtype=float)
    has_price = ~np.isnan(usd)
    ratios = np.array([case_ratios(row) for row in records(bill)]).reshape(-1, 2)
    low = float((usd * ratios[:, 0])[has_price].sum())
    high = float((usd * ratios[:, 1])[has_price].sum())
    base = float(usd[has_price].sum())
    return Cases(low, base, high * (1 + contingency_percent / 100))


def case_ratios(row: Row) -> Ratios:
    """Return the low and the high case of a billed row, over its bill."""
    low, high = run_ratios(row) if ends_of(row) else service_ratios(row)
    return low, high * _attempt_ratios(row)[1]


def run_ratios(row: Row) -> Ratios:
    """Return what a run costs at the fast and at the slow end of its time, over its bill."""
    if not ends_of(row) or not row["usd"] > 0:
        return UNCHANGED
    ends = [row[f"run_{end}_hours"] / row["run_hours"] for end in ("low", "high")]
    slow = np.array([row["hours"] * ends[1]])
    ratios = [
        billed_hours(
            row["market"], np.ones(1), np.array([row["hours"] * end]), slow, row["attempts"]
        )[0]
        / row["billed_hours"]
        for end in ends
    ]
    return _known_ratios(*ratios)


def service_ratios(row: Row) -> Ratios:
    """Return a service's cost at the high and the low end of its throughput, over its bill.

    Its working instances grow in steps of the instances that a replica takes.
    """
    if ends_of(row) or not row["usd"] > 0:
        return UNCHANGED
    working = row["instances"] - spare_of(row)
    step = max(float(row["instances_needed"] / replicas(row)), 1.0)
    speeds = [row["tokens_per_second"] / row[f"{end}_tokens_per_second"] for end in ("high", "low")]
    if not all(math.isfinite(speed) for speed in speeds):
        return UNCHANGED
    instances_at_ends = [
        max(math.ceil(working * speed / step - 1e-9), 1) * step for speed in speeds
    ]
    return _known_ratios(
        *((instances + spare_of(row)) / row["instances"] for instances in instances_at_ends)
    )


def _attempt_ratios(row: Row) -> Ratios:
    """Return what a run's bill is multiplied by: 1, and the share with one more attempt.

    Services and bills without a cost stay as they are.
    """
    if not ends_of(row) or not row["usd"] > 0:
        return UNCHANGED
    return _known_ratios(1.0, 1 + attempt_usd(row) / row["usd"])


def _price_ratios(row: Row, catalogs: Catalogs) -> Ratios:
    """Return the lowest and the highest price of the history on the row's market, over today's."""
    line = price_line(catalogs, row["instance"], row["region"])
    prices = line.loc[line["market"] == row["market"], "usd_per_hour"].dropna()
    if len(prices) < 2 or row.get("private_usd_per_hour", 0) > 0:
        return UNCHANGED
    today = float(prices.iloc[-1])
    return _known_ratios(prices.min() / today, prices.max() / today)


def _spot_ratios(row: Row, catalogs: Catalogs) -> Ratios:
    """Return what the row costs on Spot, over its bill."""
    if row["market"] != "on-demand" or row["have"] or not row["usd"] > 0:
        return UNCHANGED
    markets = on_markets(row, catalogs)
    spot = markets.loc[markets["market"] == "spot", "usd"].dropna()
    return _known_ratios(float(spot.iloc[0]) / row["usd"], 1.0) if len(spot) else UNCHANGED


def moves(bill: pd.DataFrame, column: str, catalogs: Catalogs) -> pd.DataFrame:
    """Return a bill's column with each factor alone at both ends: factor, low_usd, high_usd.

    Factors that move nothing are left out; the one that moves most comes first.
    """
    rows = [row for row in records(bill) if not is_missing(row[column])]
    usd = np.array([row[column] for row in rows], dtype=float)
    factors = {
        "hours": [run_ratios(row) for row in rows],
        "load": [service_ratios(row) for row in rows],
        "attempts": [_attempt_ratios(row) for row in rows],
        "price": [_price_ratios(row, catalogs) for row in rows],
        "spot": [_spot_ratios(row, catalogs) for row in rows],
        "discount": [_discount_ratios(row) for row in rows],
    }
    table: list[Row] = []
    for factor, ratios in factors.items():
        low, high = np.array(ratios).reshape(-1, 2).T
        ends = sum((usd * low).tolist()), sum((usd * high).tolist())
        table.append({"factor": factor, "low_usd": min(ends), "high_usd": max(ends)})
    frame = pd.DataFrame(table)
    span = frame["high_usd"] - frame["low_usd"]
    order = span.sort_values(ascending=False, kind="stable").index
    return frame.loc[order[span[order] > LEAST_SHARE * sum(usd.tolist())]].reset_index(drop=True)


def _discount_ratios(row: Row) -> Ratios:
    """Return what the discount that is asked for makes of a bill; nothing of own machines'."""
    return UNCHANGED if row["have"] else (1 - ASKED_DISCOUNT, 1.0)


def _known_ratios(low: float, high: float) -> Ratios:
    """The ratios, and no change if one is not known."""
    return (low, high) if math.isfinite(low) and math.isfinite(high) else UNCHANGED
