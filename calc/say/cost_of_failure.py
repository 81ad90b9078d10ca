"""The cost of a plan that does not fit, in a sentence."""

import pandas as pd

from calc.evaluate import Row
from calc.say.numbers import about, percent
from calc.say.place import place
from calc.studies.cost_of_failure import cost_of_failure


def failure_sentence(row: Row, board: pd.DataFrame) -> str:
    """Say what a failed start costs, and what the next option with more room costs.

    Empty if the probability is at least 99 %, on your own machines, and if it is not known.
    """
    cost = cost_of_failure(row, board)
    if cost is None:
        return ""
    start = (
        f"the failed start costs {about(cost.start_usd)}"
        if cost.start_usd > 0
        else "the failed start costs nothing"
    )
    if cost.roomier is None:
        return f"If it does not fit, {start}; no option in the table has more room."
    more = cost.roomier["usd"] / row["usd"] - 1
    costs = f"{percent(more)} more" if more > 0 else "no more"
    return (
        f"If it does not fit, {start}; the next option with more room, {place(cost.roomier)}, "
        f"costs {costs}."
    )
