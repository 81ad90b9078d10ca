"""The price of being wrong where a plan may not fit: a failed start, a roomier choice."""

import pandas as pd

from calc.evaluate import Row
from calc.say.numbers import about, is_missing, percent
from calc.say.place import place
from calc.say.verdict import in_a_hundred

SURE = 0.99  # from here on nothing is said


def surest(board: pd.DataFrame) -> pd.Series | None:
    """The cheapest row of the ranked table that keeps its limits and fits 99 times of 100."""
    able = board[(board["fits"] == "yes") & (board["runs"] == "yes") & (board["misses"] == "") & (board["fit_probability"] >= SURE)]
    able = able[able["usd"].notna()]
    return able.loc[able["usd"].idxmin()] if len(able) else None


def price_of_being_wrong(row: Row, board: pd.DataFrame) -> str:
    """It fits 97 times of 100: a start that fails costs $3, the next roomier choice 40 % more.

    Empty from 99 in 100 on, and where nothing is known of it.
    """
    probability = row["fit_probability"]
    if is_missing(probability) or probability >= SURE:
        return ""
    often = f"It fits {in_a_hundred(probability)} times of 100"
    if is_missing(row.get("usd")):  # on machines of one's own
        return f"{often}."
    failed = row["usd_per_hour"] * row["start_hours"]
    starts = f"a start that fails costs {about(failed)}" if failed > 0 else "a start that fails is not billed"
    roomier = surest(board)
    if roomier is None:
        return f"{often}: {starts}, and nothing in the table is roomier."
    more = roomier["usd"] / row["usd"] - 1
    return f"{often}: {starts}, the next roomier choice, {place(roomier)}, {f'{percent(more)} more' if more > 0 else 'no more'}."
