"""The board in another order, and with the answers above it."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.evaluate import Row
from calc.job.job import Job


class Order(NamedTuple):
    """An order of the board: the column that decides, and which of its ends comes first."""

    column: str
    largest_first: bool = False


RANKED = "money"  # the order in which the engine ranks the rows
ORDERS = {
    RANKED: Order("usd"),
    "hour": Order("usd_per_hour"),
    "fastest": Order("seconds"),
    "headroom": Order("headroom_bytes", largest_first=True),
    "carbon": Order("carbon_kg"),
}
# Columns that tell why a row is an answer, and so differ between an answer and a row of the board.
SAID_OF_ANSWERS = ("why", "why_codes", "problem", "problem_code")


def sort_board(board: pd.DataFrame, by: str) -> pd.DataFrame:
    """Sort the rows in one of ORDERS, those that qualify first."""
    if by == RANKED:
        return board
    values = board[ORDERS[by].column].to_numpy(dtype=float)
    order = np.lexsort((-values if ORDERS[by].largest_first else values, ~qualifies(board)))
    return board.iloc[order].reset_index(drop=True)


def is_sound(board: pd.DataFrame) -> pd.Series:
    """Return which rows run and fit for certain, meet every limit and have a price."""
    return (
        (board["fits"] == "yes")
        & (board["runs"] == "yes")
        & (board["missed_limits"] == "")
        & board["usd"].notna()
    )


def qualifies(board: pd.DataFrame) -> pd.Series:
    """Return which rows are answers to the job: they are sound, and their time is known."""
    return is_sound(board) & board["seconds"].notna()


def cheapest_without_time(board: pd.DataFrame, job: Job | None) -> Row | None:
    """Return the cheapest row of unknown time that costs less than the first answer.

    None for a rate of requests, since how many machines it needs follows from their time.
    """
    if job is None or job.requests_per_second:
        return None
    usd = board["usd"].to_numpy(dtype=float)
    cheaper = is_sound(board) & board["seconds"].isna() & (usd < usd[0])
    rows = board[cheaper].sort_values("usd", kind="stable").head(1)
    return rows.to_dict("records")[0] if len(rows) else None


def with_answers(answers: pd.DataFrame, board: pd.DataFrame, chosen: Row | None) -> pd.DataFrame:
    """The chosen row if any, the answers, and the rest of the board: the rows of the CSV."""
    first = [] if chosen is None else [pd.DataFrame([chosen])[answers.columns]]
    rows = pd.concat([*first, answers, board.iloc[1:]], ignore_index=True)
    compared = [name for name in rows if name not in ("answer", *SAID_OF_ANSWERS)]
    return rows[~rows[compared].astype(str).duplicated()].reset_index(drop=True)
