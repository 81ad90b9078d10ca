"""The types whose cost is within 10 % of the first answer's, and the next one beyond."""

from typing import NamedTuple

import pandas as pd

from calc.evaluate import Row
from calc.plan.figures import records
from calc.search.board import cheapest_without_time, qualifies
from calc.search.options import Options

CLOSE_RATIO = 1.1
FEWEST, MOST = 2, 6


class NearTies(NamedTuple):
    """The rows of the short board, the number of types within 10 %, and the next row beyond.

    `cheapest_without_time`: the cheapest row of unknown speed that costs less than all of them.
    `tie_ratio`: the ratio of two costs within which the job counts them as equal.
    """

    rows: list[Row]
    close: int
    next: Row | None
    cheapest_without_time: Row | None = None
    tie_ratio: float = 1.0


def near_ties(options: Options) -> NearTies:
    """Return the first answer and the types within 10 % of its cost, two to six rows."""
    board = options.board
    sound = qualifies(board)
    if options.obstacle or options.resolved is None or not sound.any():
        return NearTies(
            records(board[board["usd"].notna() | (board.index == 0)].head(FEWEST)), 0, None
        )
    types = board[sound].drop_duplicates("instance")
    types = pd.concat([types.head(1), types.iloc[1:].sort_values("usd", kind="stable")])
    near = (types["usd"] <= CLOSE_RATIO * types["usd"].iloc[0]).sum()
    rest = records(types.iloc[near : near + 1])
    return NearTies(
        records(types.head(min(max(near, FEWEST), MOST))),
        int(near),
        rest[0] if rest else None,
        cheapest_without_time(board, options.resolved),
        options.resolved.judged["tie_ratio"],
    )
