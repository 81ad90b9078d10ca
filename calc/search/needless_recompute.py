"""Layouts that recompute more than they need: their time is never worth estimating.

Recomputing activations saves memory and costs time. If a layout is certain to fit, the same layout
with more recompute on the same card is slower and dearer, and no limit ever prefers it.
"""

from collections.abc import Sequence

import numpy as np

from calc.job.job import Job
from calc.layout_place_table import LayoutPlaceTable
from calc.search.grid import Grid
from calc.search.pairs import by_pair
from calc.table import Words, distinct

# Selective recompute comes in two kinds, of which neither is always the faster.
EXTRA_WORK = {"none": 0, "selective": 1, "selective-ops": 1, "full": 2}  # in order of time
CERTAIN = 0.995  # of fitting: what rounds to 100 %


def alike_but_recompute(grid: Grid, jobs: Sequence[Job]) -> np.ndarray:
    """Return a number for each layout, equal for layouts that differ in their recompute alone.

    All differ if a job compares recompute itself, or asks for the layout with the most memory left.
    """
    if not _varies(grid) or any(_wants_all(job) for job in jobs):
        return np.arange(grid.layout_count)
    others = [values for name, values in grid.layouts.items() if name != "recompute"]
    _, alike = distinct([*others, grid.first_step], grid.layout_count)
    return alike


def needs_recompute(
    pair_table: LayoutPlaceTable, grid: Grid, alike: np.ndarray, positions: Sequence[np.ndarray]
) -> np.ndarray:
    """Return whether less recompute leaves any doubt that a pair fits. Shape (pairs,).

    `alike`: of each layout (alike_but_recompute). `positions`: of each job, those of the grid's
    pairs, -1 for a pair that it does not try. Only pairs that the same jobs try are compared.
    """
    pairs = len(pair_table.layout_of_pair)
    if not _varies(grid) or not pairs:
        return np.ones(pairs, dtype=bool)
    layout = by_pair(pair_table, "row_number")
    pair_number = by_pair(pair_table, "pair_number")
    tried = [position.take(pair_number) >= 0 for position in positions]
    place, runs = pair_table.place_of_pair, by_pair(pair_table, "runs")
    _, group = distinct([alike.take(layout), place, runs, *tried], pairs)
    extra_work = _extra_work(grid.layouts["recompute"], layout)
    is_certain = by_pair(pair_table, "fit_probability") >= CERTAIN
    enough = np.full(group.max() + 1, max(EXTRA_WORK.values()))
    np.minimum.at(enough, group[is_certain], extra_work[is_certain])
    return extra_work <= enough[group]


def _varies(grid: Grid) -> bool:
    """Return whether layouts of a grid differ in their recompute."""
    recompute = grid.layouts.get("recompute")
    return isinstance(recompute, Words) and len(recompute.codes) > 1


def _wants_all(job: Job) -> bool:
    """Return whether an answer of a job may recompute more than it needs."""
    return len(job.fixed.get("recompute", ())) > 1 or "roomiest" in job.answers


def _extra_work(recompute: np.ndarray | Words, layout: np.ndarray) -> np.ndarray:
    """The place of each layout's recompute in the order of time. Shape (pairs,)."""
    assert isinstance(recompute, Words), "the kinds of recompute are words"
    of_word = np.array([EXTRA_WORK[word] for word in recompute.vocabulary])
    return of_word[recompute.codes.take(layout)]
