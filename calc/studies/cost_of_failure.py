"""The cost of a plan that does not fit: the failed start, and the next roomier option."""

from typing import NamedTuple

import pandas as pd

from calc.evaluate import Row
from calc.search.board import qualifies

CERTAIN = 0.99  # probability of fitting, from which on a failure is not priced


class CostOfFailure(NamedTuple):
    """The price of a start that fails, in USD, and the cheapest option that surely fits."""

    start_usd: float
    roomier: Row | None


def surest(board: pd.DataFrame) -> Row | None:
    """The cheapest row of a ranked table that keeps its limits and fits with 99 % probability."""
    able = board[qualifies(board) & (board["fit_probability"] >= CERTAIN)]
    return able.loc[able["usd"].idxmin()].to_dict() if len(able) else None


def cost_of_failure(row: Row, board: pd.DataFrame) -> CostOfFailure | None:
    """Return the cost of a failed start; None if it fits for certain or has no price."""
    is_known = row["fit_probability"] < CERTAIN and row.get("usd", float("nan")) >= 0
    if not is_known:
        return None
    return CostOfFailure(row["usd_per_hour"] * row["start_hours"], surest(board))
