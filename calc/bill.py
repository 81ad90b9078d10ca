"""The bill of each row: time, whole instances, dollars per hour, month and run, and what spot's interruptions cost."""

import numpy as np

from calc.cost import PER_HOUR, PER_RUN, add_cost
from calc.speed_results import SPEED_RESULTS, add_speed
from calc.spot import SPOT, add_spot

BILL = tuple(dict.fromkeys((*SPEED_RESULTS, *(formula.__name__ for formula in (*PER_HOUR, *PER_RUN, *SPOT)))))


def host_memory_needed_bytes(offloaded_bytes, gpus, instance_gpus):
    """CPU memory that offloading takes on one instance: that of each GPU on it. [B]"""
    return offloaded_bytes * np.minimum(gpus, instance_gpus)


def bill_columns(table):
    """Time and money of a joined table that holds its memory results."""
    add_spot(add_cost(add_speed(table)))
    return {name: np.broadcast_to(table[name], table["rows"]) for name in BILL}
