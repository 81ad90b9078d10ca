"""The board in another order, and with the answers above it."""

import numpy as np
import pandas as pd

ORDERS = ("money", "hour", "fastest", "headroom", "carbon")
COLUMN = {"hour": "usd_per_hour", "fastest": "seconds", "headroom": "headroom_bytes", "carbon": "carbon_kg"}


def ordered(board: pd.DataFrame, by: str) -> pd.DataFrame:
    """The rows by money, USD per hour, time, headroom or emissions; what qualifies stays first."""
    if by not in COLUMN:
        return board
    values = board[COLUMN[by]].to_numpy(dtype=float)
    order = np.lexsort((-values if by == "headroom" else values, ~qualifies(board)))
    return board.iloc[order].reset_index(drop=True)


def qualifies(board: pd.DataFrame) -> pd.Series:
    """Which rows run the job: the memory fits, limits are kept, money and time known."""
    sure = (board["fits"] == "yes") & (board["misses"] == "") & (board["runs"] == "yes")
    return sure & board[["usd", "seconds"]].notna().all(axis=1)


def with_answers(answers: pd.DataFrame, board: pd.DataFrame) -> pd.DataFrame:
    """The answers, and below them the rest of the board: the rows of the CSV."""
    rows = pd.concat([answers, board.iloc[1:]], ignore_index=True)
    compared = [name for name in rows if name not in ("answer", "why", "problem")]
    return rows[~rows[compared].astype(str).duplicated()].reset_index(drop=True)
