"""The bill of each row: time, whole instances, dollars per hour, month and run, and what spot's interruptions cost."""

import numpy as np

from calc.cost.placement import PLACEMENT
from calc.cost.prices import PER_HOUR, PER_RUN, add_cost
from calc.cost.spot import SPOT, add_spot
from calc.evaluate import evaluate_all
from calc.speed.ranges import SPEED_RESULTS, add_speed

BILL = tuple(dict.fromkeys((*SPEED_RESULTS, *(formula.__name__ for formula in (*PER_HOUR, *PER_RUN, *SPOT, *PLACEMENT)))))


def bill_columns(table, catalogs):
    """Time and money of a joined table that holds its memory results, and where the job may not stand."""
    evaluate_all(PLACEMENT, add_spot(add_cost(add_speed(table, catalogs))))
    return {name: _finite(np.broadcast_to(table[name], table["rows"])) for name in BILL}


def _finite(values):
    """What would take forever has no number."""
    return values if values.dtype == object else np.where(np.isinf(values), np.nan, values)
