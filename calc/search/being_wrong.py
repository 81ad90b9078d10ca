"""The price of being wrong where a plan may not fit: a failed start, a roomier choice."""

import pandas as pd

from calc.evaluate import Row
from calc.say.numbers import about, is_missing, percent
from calc.say.place import place
from calc.search.board import is_sound

SURE = 0.99  # from here on nothing is said


def surest(board: pd.DataFrame) -> pd.Series | None:
    """The cheapest row of the ranked table that keeps its limits and fits 99 times of 100."""
    able = board[is_sound(board) & (board["fit_probability"] >= SURE)]
    return able.loc[able["usd"].idxmin()] if len(able) else None


def price_of_being_wrong(row: Row, board: pd.DataFrame) -> str:
    """If it does not fit, the failed start costs $3; the next roomier choice costs 40 % more.

    Empty from 99 in 100 on, on machines of one's own, and where nothing is known of it.
    """
    if (
        is_missing(row["fit_probability"])
        or row["fit_probability"] >= SURE
        or is_missing(row.get("usd"))
    ):
        return ""
    failed, roomier = row["usd_per_hour"] * row["start_hours"], surest(board)
    start = (
        f"the failed start costs {about(failed)}" if failed > 0 else "nobody bills the failed start"
    )
    if roomier is None:
        return f"If it does not fit, {start}; nothing in the table is roomier."
    more = roomier["usd"] / row["usd"] - 1
    costs = f"{percent(more)} more" if more > 0 else "no more"
    return f"If it does not fit, {start}; the next roomier choice, {place(roomier)}, costs {costs}."
