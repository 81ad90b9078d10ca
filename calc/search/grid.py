"""The grid of a job: its layouts as columns of scenarios, and the pairs to try."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.job.job import Job
from calc.search.attention_copies import attention_copies
from calc.search.free_choices import COUNTS
from calc.search.layouts import Part, layout_parts
from calc.search.places import Place
from calc.table import Words, stacked_column


class Grid(NamedTuple):
    """Layouts as columns of scenarios, the pairs of layout and place to try, and accumulations.

    `layout_of_pair` and `place_of_pair`: the numbers of each pair's layout and place. The
    accumulations of a layout are `steps_count` entries of `steps`, from `first_step` on.
    """

    places: list[Place]
    layouts: dict[str, np.ndarray | Words]
    layout_count: int
    layout_of_pair: np.ndarray
    place_of_pair: np.ndarray
    first_step: np.ndarray
    steps_count: np.ndarray
    steps: np.ndarray


def grid(job: Job, places: list[Place], catalogs: Catalogs) -> Grid:
    """Return everything that a job tries, as one grid."""
    grids = [_grid_of(part) for part in layout_parts(job, places, catalogs)]
    for one, place_numbers in attention_copies(job, places, catalogs):
        for part in layout_parts(one, [places[number] for number in place_numbers], catalogs):
            grids.append(on_places(_grid_of(part), places, place_numbers))
    return join_grids(grids)


def on_places(part: Grid, places: list[Place], place_numbers: np.ndarray) -> Grid:
    """Return a grid of some of the places as one of all places, by their numbers among these."""
    return part._replace(places=places, place_of_pair=place_numbers[part.place_of_pair])


def _grid_of(part: Part) -> Grid:
    """Return every shape with every combination of the other choices, on the shape's places."""
    shapes, combinations = part.shapes, part.combinations
    count = len(combinations)
    layouts = _layout_columns(part)
    if part.chooses_expert_parallel:
        layouts["expert_parallel"] = _expert_parallel(part, layouts)
    layout_of_pair = (part.shape_of_pair[:, None] * count + np.arange(count)).ravel()
    place_of_pair = np.repeat(part.place_of_pair, count)
    if "sharding" in part.choices and not part.shards_one_gpu:
        has_one_gpu = shapes.counts[:, 0] == shapes.counts[:, 1] * shapes.counts[:, 2]
        shards = combinations[:, [*part.choices].index("sharding")] > 0
        stays = ~(has_one_gpu[layout_of_pair // count] & shards[layout_of_pair % count])
        layout_of_pair, place_of_pair = layout_of_pair[stays], place_of_pair[stays]
    if "rollout_tensor_parallel" in part.choices:
        degrees = np.array(part.choices["rollout_tensor_parallel"], dtype=float)
        degree = degrees[combinations[:, [*part.choices].index("rollout_tensor_parallel")]]
        place_gpus = np.array([place.gpus for place in part.places])
        stays = ~(degree[layout_of_pair % count] > place_gpus[place_of_pair])
        layout_of_pair, place_of_pair = layout_of_pair[stays], place_of_pair[stays]
    return Grid(
        places=part.places,
        layouts=layouts,
        layout_count=len(shapes.counts) * count,
        layout_of_pair=layout_of_pair,
        place_of_pair=place_of_pair,
        first_step=np.repeat(shapes.first_step, count),
        steps_count=np.repeat(shapes.steps_count, count),
        steps=shapes.steps,
    )


def _layout_columns(part: Part) -> dict[str, np.ndarray | Words]:
    """Return the columns of all layouts: each shape with each combination, shape by shape."""
    shape_counts, combinations = part.shapes.counts, part.combinations
    layouts: dict[str, np.ndarray | Words] = {
        name: np.repeat(shape_counts[:, number].astype(float), len(combinations))
        for number, name in enumerate(COUNTS)
    }
    for number, (name, values) in enumerate(part.choices.items()):
        codes = np.tile(combinations[:, number], len(shape_counts))
        if all(isinstance(value, str) for value in values):
            layouts[name] = Words(codes, np.array(values, dtype=object))
        else:
            layouts[name] = np.array(values, dtype=float)[codes]
    return layouts


def _expert_parallel(part: Part, layouts: dict[str, np.ndarray | Words]) -> np.ndarray:
    """Return the expert parallel degree of each layout of a service.

    It divides whole experts where tensor parallel would cut a block of an expert's scales.
    """
    tensor_parallel, precision = np.asarray(layouts["tensor_parallel"]), layouts["precision"]
    assert isinstance(precision, Words), "the formats to serve in are words"
    cuts_scales = np.any(
        [
            (precision.codes == code)
            & np.isin(tensor_parallel, part.whole_expert_degrees.get(word, []))
            for code, word in enumerate(part.choices["precision"])
        ],
        axis=0,
    )
    return np.where(cuts_scales, tensor_parallel, 1.0)


def join_grids(several: Sequence[Grid]) -> Grid:
    """Return several grids as one; a column in which all layouts are equal has one value."""
    counts = [one.layout_count for one in several]
    layouts = {
        name: _short(stacked_column([one.layouts[name] for one in several], counts))
        for name in several[0].layouts
    }
    starts = np.cumsum([0, *counts])
    step_starts = np.cumsum([0, *(len(one.steps) for one in several)])
    return Grid(
        places=several[0].places,
        layouts=layouts,
        layout_count=int(starts[-1]),
        layout_of_pair=_numbers_joined([one.layout_of_pair for one in several], starts),
        place_of_pair=np.concatenate([one.place_of_pair for one in several]),
        first_step=_numbers_joined([one.first_step for one in several], step_starts),
        steps_count=np.concatenate([one.steps_count for one in several]),
        steps=np.concatenate([one.steps for one in several]),
    )


def _numbers_joined(parts: Sequence[np.ndarray], starts: np.ndarray) -> np.ndarray:
    """Return the numbers of all parts, counted on from the start of each part."""
    return np.concatenate([part + start for part, start in zip(parts, starts, strict=False)])


def _short(values: np.ndarray | Words) -> np.ndarray | Words:
    """Return a column in which all layouts are equal as one value, any other as it is."""
    codes = values.codes if isinstance(values, Words) else values
    if not len(codes) or (codes != codes[0]).any():
        return values
    return Words(codes[:1], values.vocabulary) if isinstance(values, Words) else values[:1]
