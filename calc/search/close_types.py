"""The types that nobody can rank below the first answer, and how sure its rank is."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.plan.figures import figures, records
from calc.say.numbers import about, is_missing, percent
from calc.say.place import place
from calc.search.board import is_sound
from calc.search.options import Options
from calc.search.tightened import Turn

CLOSE_RATIO = 1.1
FEWEST, MOST = 2, 6
COUNTS = (
    "No",
    "One",
    "Two",
    "Three",
    "Four",
    "Five",
    "Six",
    "Seven",
    "Eight",
    "Nine",
    "Ten",
    "Eleven",
    "Twelve",
)
ENDINGS = {1: "st", 2: "nd", 3: "rd"}


class CloseTypes(NamedTuple):
    """The rows of the short board, how many types lie within 10 %, and the next dearer row."""

    rows: list[Row]
    close: int
    next: Row | None


def close_types(options: Options) -> CloseTypes:
    """The first answer and every type within 10 % of its money, at least two and at most six."""
    board = options.board
    sound = is_sound(board)
    if options.problem or not sound.any():
        return CloseTypes(
            records(board[board["usd"].notna() | (board.index == 0)].head(FEWEST)), 0, None
        )
    types = board[sound].drop_duplicates("instance")
    types = pd.concat([types.head(1), types.iloc[1:].sort_values("usd", kind="stable")])
    near = (types["usd"] <= CLOSE_RATIO * types["usd"].iloc[0]).sum()
    rest = records(types.iloc[near : near + 1])
    return CloseTypes(
        records(types.head(min(max(near, FEWEST), MOST))), int(near), rest[0] if rest else None
    )


def close_heading(types: CloseTypes, options: Options) -> str:
    """Four types within 10 %: take the one you can get."""
    if options.job.get("have"):
        return "On each of your machines"
    if not types.close:
        return "The nearest types"
    if types.close == 1:
        return "No other type within 10 %"
    count = COUNTS[types.close] if types.close < len(COUNTS) else f"{types.close}"
    return f"{count} types within 10 %: take the one you can get"


def how_sure(types: CloseTypes, turn: Turn | None, ways: Mapping[str, Any]) -> str:
    """Why they cannot be ranked, what the next costs, and where the answer turns."""
    if not types.close:
        return ""
    first = types.rows[0]
    parts = (
        [f"Time is known to ± {_known_to(first)}, so these cannot be ranked."]
        if types.close > 1 and ends_of(first)
        else []
    )
    if types.next is not None:
        parts.append(
            f"The next type, {place(types.next)}, costs "
            f"{percent(types.next['usd'] / first['usd'] - 1)} more."
        )
    if turn is not None:
        load = f"{turn.users:,} requests at once"
        dearer = f"up to {load}; from the {ordinal(turn.users + 1)} on {about(turn.usd)}"
        parts.append(f"The answer takes {f'{load} too' if is_missing(turn.usd) else dearer}.")
    parts += (
        [f"Signed for 1 year it is {about(ways['commitment'])} a month: Compare & bill."]
        if "commitment" in ways
        else []
    )
    return " ".join(parts)


def ordinal(number: int) -> str:
    """1st, 7th, 12th, 22nd."""
    return f"{number:,}{'th' if number % 100 in (11, 12, 13) else ENDINGS.get(number % 10, 'th')}"


def _known_to(row: Row) -> str:
    """Half the range of a run's time, over its middle."""
    numbers = figures(row)
    return percent((numbers["high_hours"] - numbers["low_hours"]) / 2 / row["hours"])
