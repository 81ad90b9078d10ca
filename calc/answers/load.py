"""Sequences on each replica that keep up with a wanted rate of requests: Little's law, arrangement by arrangement.

Sequences at once = requests per second x seconds of a request, which grow with the sequences: the fewest that satisfy it.
"""

from typing import Any

import numpy as np

from calc.answers.grid import Grid
from calc.answers.timing import add_time
from calc.coded import distinct, taken
from calc.crossed import PAIR, Crossed

MOST_SEQUENCES = 4096
REQUEST = ("time_to_first_token_seconds", "time_per_output_token_seconds")


def loaded(grid: Grid, crossed: Crossed, whole: dict[str, Any]) -> Grid:
    """The grid with the sequences of every pair of layout and place as a layout's micro-batch."""
    pairs = len(crossed.layout)
    few, many = np.zeros(pairs), np.ones(pairs)  # `few` are too few; doubled until they are enough, then halved
    enough = _keeps_up(crossed, many, whole)
    while not enough.all() and (many[~enough] < MOST_SEQUENCES).any():
        growing = ~enough & (many < MOST_SEQUENCES)
        few, many = np.where(growing, many, few), np.where(growing, many * 2, many)
        enough = _keeps_up(crossed, many, whole)
    while (many - few > 1).any():
        middle = np.floor((few + many) / 2)
        keeps = _keeps_up(crossed, np.maximum(middle, 1), whole) | (many - few <= 1)
        few, many = np.where(keeps, few, middle), np.where(keeps & (many - few > 1), middle, many)
    first, copies = distinct((crossed.layout.astype(float), many), pairs)
    layouts = {name: taken(values, grid.size, crossed.layout[first]) for name, values in grid.layouts.items()}
    own = crossed.layout[first]
    return Grid(
        layouts | {"batch": many[first]}, len(first), copies, crossed.place, grid.first_step[own], grid.steps_count[own], grid.steps
    )


def _keeps_up(crossed: Crossed, batch: np.ndarray, whole: dict[str, Any]) -> np.ndarray:
    """Whether every pair keeps up with so many sequences on each replica."""
    crossed.set("batch", PAIR, batch)
    add_time(crossed, whole["work"], REQUEST)
    first, token = (crossed.at(name, PAIR) for name in REQUEST)
    replicas = crossed.at("gpus", PAIR) / (crossed.at("tensor_parallel", PAIR) * crossed.at("pipeline_parallel", PAIR))
    needed = whole["requests_per_second"] * (first + whole["answer_tokens"] * token)
    return np.broadcast_to(np.nan_to_num(needed, nan=np.inf) <= batch * replicas, len(batch))
