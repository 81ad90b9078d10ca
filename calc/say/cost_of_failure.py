"""The cost of a plan that does not fit, in a sentence."""

import pandas as pd

from calc.evaluate import Row
from calc.say.numbers import about, percent
from calc.say.place import place
from calc.studies.cost_of_failure import cost_of_failure


def failure_sentence(row: Row, board: pd.DataFrame) -> str:
    """If it does not fit, the failed start costs $3; the next roomier choice costs 40 % more.

    Empty from a probability of 99 % on, on machines of one's own, and where nothing is known of it.
    """
    cost = cost_of_failure(row, board)
    if cost is None:
        return ""
    start = (
        f"the failed start costs {about(cost.start_usd)}"
        if cost.start_usd > 0
        else "nobody bills the failed start"
    )
    if cost.roomier is None:
        return f"If it does not fit, {start}; nothing in the table is roomier."
    more = cost.roomier["usd"] / row["usd"] - 1
    costs = f"{percent(more)} more" if more > 0 else "no more"
    return (
        f"If it does not fit, {start}; the next roomier choice, {place(cost.roomier)}, "
        f"costs {costs}."
    )
