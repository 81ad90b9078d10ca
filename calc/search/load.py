"""Sequences on each replica that keep up with a wanted rate of requests: Little's law, arrangement by arrangement.

Sequences at once = requests per second x seconds of a request, which grow with the sequences: the fewest that satisfy it.
"""

from typing import Any

import numpy as np

from calc.crossed import PAIR, Crossed
from calc.search.grid import Grid
from calc.search.timing import add_time
from calc.table import distinct, taken

MOST_SEQUENCES = 4096
TURNS = 6  # most come to rest in so many
REQUEST = ("time_to_first_token_seconds", "time_per_output_token_seconds")


def loaded(grid: Grid, crossed: Crossed, job: dict[str, Any]) -> Grid:
    """The grid with the sequences of every pair of layout and place as a layout's micro-batch."""
    pairs = len(crossed.layout)
    few, many = np.zeros(pairs), np.ones(pairs)  # `few` are too few
    at, turn = np.arange(pairs), 0
    while len(at):  # time grows with the sequences: fewer than what the time of fewer asks for would not do; later doubled
        needed = _needed(crossed.only(at), many[at], job)
        short = (needed > many[at]) & (many[at] < MOST_SEQUENCES)
        at, needed, turn = at[short], needed[short], turn + 1
        few[at], many[at] = (needed - 1, needed) if turn < TURNS else (many[at], np.minimum(many[at] * 2, MOST_SEQUENCES))
    while len(at := np.flatnonzero(many - few > 1)):
        middle = np.floor((few[at] + many[at]) / 2)
        enough = _needed(crossed.only(at), middle, job) <= middle
        few[at], many[at] = np.where(enough, few[at], middle), np.where(enough, middle, many[at])
    first, copies = distinct((crossed.layout.astype(float), many), pairs)
    layouts = {name: taken(values, grid.size, crossed.layout[first]) for name, values in grid.layouts.items()}
    own = crossed.layout[first]
    return Grid(
        layouts | {"batch": many[first]}, len(first), copies, crossed.place, grid.first_step[own], grid.steps_count[own], grid.steps
    )


def _needed(crossed: Crossed, batch: np.ndarray, job: dict[str, Any]) -> np.ndarray:
    """Sequences that the rate keeps busy on each replica of this batch, in whole numbers and up to the most. [sequences]"""
    crossed.set("batch", PAIR, batch)
    add_time(crossed, job["work"], REQUEST)
    first, token = (crossed.at(name, PAIR) for name in REQUEST)
    busy = job["requests_per_second"] * (first + job["answer_tokens"] * token)
    needed = np.ceil(busy / crossed.at("data_parallel", PAIR))
    return np.broadcast_to(np.minimum(np.nan_to_num(needed, nan=np.inf), MOST_SEQUENCES), len(batch))
