"""The grid of a job: layouts as columns of scenarios, and the pairs that are tried."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.job.job import Job
from calc.search.free_choices import COUNTS
from calc.search.layouts import Part, arrangements
from calc.search.places import Place
from calc.table import Words, stacked_column


class Grid(NamedTuple):
    """Layouts as columns of scenarios, the pairs that are tried, each layout's accumulations.

    `layout` and `place` are the numbers of each pair; `first_step` of each layout is a number in
    `steps`.
    """

    places: list[Place]
    layouts: dict[str, np.ndarray | Words]
    size: int
    layout: np.ndarray
    place: np.ndarray
    first_step: np.ndarray
    steps_count: np.ndarray
    steps: np.ndarray


def grid(job: Job, places: list[Place], catalogs: Catalogs) -> Grid:
    """Everything that a job tries, as one grid."""
    return join_grids([_crossed(part) for part in arrangements(job, places, catalogs)])


def _crossed(part: Part) -> Grid:
    """Shapes with every choice beside them, on the places that take them."""
    lists, shapes, numbers = part.choices, part.shapes, part.numbers
    choices = len(numbers)
    layouts: dict[str, np.ndarray | Words] = {
        name: np.repeat(shapes.counts[:, number].astype(float), choices)
        for number, name in enumerate(COUNTS)
    }
    for number, (name, values) in enumerate(lists.items()):
        codes = np.tile(numbers[:, number], len(shapes.counts))
        words = all(isinstance(value, str) for value in values)
        layouts[name] = (
            Words(codes, np.array(values, dtype=object))
            if words
            else np.array(values, dtype=float)[codes]
        )
    if part.spread:  # tensor parallel would cut a block of an expert's scales
        tensor, precision = (
            np.asarray(layouts["tensor_parallel"]),
            np.tile(numbers[:, [*lists].index("precision")], len(shapes.counts)),
        )
        spread = [part.spread.get(word, []) for word in lists["precision"]]
        cut = np.any(
            [
                (precision == number) & np.isin(tensor, degrees)
                for number, degrees in enumerate(spread)
            ],
            axis=0,
        )
        layouts["expert_parallel"] = np.where(cut, tensor, 1.0)
    layout = (part.shape[:, None] * choices + np.arange(choices)).ravel()
    place = np.repeat(part.place, choices)
    if "sharding" in lists and not part.shards_one_gpu:
        alone = shapes.counts[:, 0] == shapes.counts[:, 1] * shapes.counts[:, 2]
        sharded = numbers[:, list(lists).index("sharding")] > 0
        sound = ~(alone[layout // choices] & sharded[layout % choices])
        layout, place = layout[sound], place[sound]
    first, count = np.repeat(shapes.first_step, choices), np.repeat(shapes.steps_count, choices)
    return Grid(part.places, layouts, len(first), layout, place, first, count, shapes.steps)


def join_grids(several: Sequence[Grid]) -> Grid:
    """Several grids as one; a column in which all layouts are equal has one value."""
    sizes = [one.size for one in several]
    layouts = {
        name: _short(stacked_column([one.layouts[name] for one in several], sizes))
        for name in several[0].layouts
    }
    starts = np.cumsum([0, *(one.size for one in several)])
    steps = np.cumsum([0, *(len(one.steps) for one in several)])
    return Grid(
        several[0].places,
        layouts,
        int(starts[-1]),
        np.concatenate([one.layout + start for one, start in zip(several, starts, strict=False)]),
        np.concatenate([one.place for one in several]),
        np.concatenate(
            [one.first_step + start for one, start in zip(several, steps, strict=False)]
        ),
        np.concatenate([one.steps_count for one in several]),
        np.concatenate([one.steps for one in several]),
    )


def _short(values: np.ndarray | Words) -> np.ndarray | Words:
    """A column in which all layouts are equal as one value."""
    codes = values.codes if isinstance(values, Words) else values
    if not len(codes) or (codes != codes[0]).any():
        return values
    return Words(codes[:1], values.vocabulary) if isinstance(values, Words) else values[:1]
