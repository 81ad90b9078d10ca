"""All candidates of jobs with their verdicts, time and cost: one entry each.

Memory depends on the layout, time on layout and instance type, the price on instance type, region
and market: each formula runs at its own level (calc/crossed.py). Of candidates that differ in their
region alone the one of least price counts, and where that price is old also the least that is not.

Jobs about the same work, which differ in what they fix, allow or limit, go through the formulas
together: most of the time of a small search is what a formula takes for one value or a thousand.
"""

from collections.abc import Sequence
from dataclasses import fields
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.crossed import ONE, Crossed
from calc.engine.pipeline import not_covered, settled_table
from calc.engine.stages import EMPTY, walk
from calc.evaluate import Columns, parameters_of
from calc.job.columns import LIMITS
from calc.job.job import Job
from calc.scenarios.problems import Problems
from calc.scenarios.read import known_inputs
from calc.search.batch_for_rate import loaded
from calc.search.candidates import add_time_of_candidates, sold_on
from calc.search.grid import Grid, side_by_side
from calc.search.pairs import (
    ENGINE_OF_CARD,
    LAYOUT_STAGES,
    able_pairs,
    by_pair,
    crossed_with,
    keep_fitting,
)
from calc.search.places import Offer, offers, place_columns
from calc.speed.slots import cache_pool_bytes
from calc.table import Table

PAIRS_AT_ONCE = 2**15  # of layouts and places, whose columns stay within 60 MB
# What jobs about the same work may differ in: no formula above `candidates_of` reads it.
OPEN = {
    *("job", "fixed", "regions", "markets", "users", "people", "instances_most", "step_tokens"),
    *("step_factor", "fewest_bits", "quantize_own", "formats", "narrow_formats"),
    *("published_precision", "admits", "answers", "obtainable", "confidence", "judged", *LIMITS),
}


class Combinations(NamedTuple):
    """The candidates, a column per figure; how many were tried; the fault that all share.

    `smallest_bytes`: the least memory of a layout where none fits; else NaN.
    """

    grid: Grid
    candidates: Columns
    tried: int
    smallest_bytes: float
    problem: str

    @property
    def size(self) -> int:
        """How many candidates there are."""
        return len(self.candidates["usd"]) if self.candidates else 0


class Together(NamedTuple):
    """Jobs about the same work, and one grid in which each has its own layouts and places.

    `job_of_place`: the number of the job whose place it is; `sold`: the offers of each job.
    """

    jobs: Sequence[Job]
    grid: Grid
    job_of_place: np.ndarray
    sold: list[list[Offer]]

    def pairs_of_jobs(self, crossed: Crossed) -> list[np.ndarray]:
        """The numbers of the pairs of each job."""
        job_of_pair = self.job_of_place.take(crossed.place)
        return [np.flatnonzero(job_of_pair == number) for number in range(len(self.jobs))]


def work_key(job: Job, grid: Grid) -> tuple[str, ...]:
    """Return what jobs must have in common to be searched together."""
    common = [
        f"{field.name}={getattr(job, field.name)!r}"
        for field in fields(job)
        if field.name not in OPEN
    ]
    return (*common, *grid.layouts)


def combinations(
    grids: Sequence[Grid], jobs: Sequence[Job], catalogs: Catalogs
) -> list[Combinations]:
    """Return the candidates of each job that fit on their cards and are not refused.

    `grids`: of each job. All jobs have the same `work_key`. A candidate's `layout` and `place` are
    numbers in the grid that is returned with it.
    """
    together = _together(grids, jobs, catalogs)
    table, problems = layouts_table(together.grid, jobs[0], catalogs)
    results = [
        Combinations(grid, {}, tried, np.nan, fault)
        for grid, tried, fault in zip(
            grids, _tried_counts(together), _shared_faults(grids, problems), strict=True
        )
    ]
    if not problems.sound.any():
        return results
    cards = place_columns(together.grid.places, catalogs)
    if jobs[0].requests_per_second:
        together = _at_rate(together, table, cards)
        table, problems = layouts_table(together.grid, jobs[0], catalogs)
    crossed = able_pairs(
        together.grid, cards, table, problems.sound, together.job_of_place, catalogs
    )
    results = [
        _explained(result, pairs, crossed, table, catalogs)
        for result, pairs in zip(results, together.pairs_of_jobs(crossed), strict=True)
    ]
    return _with_candidates(results, together, crossed)


def _together(grids: Sequence[Grid], jobs: Sequence[Job], catalogs: Catalogs) -> Together:
    """The jobs with their grids side by side."""
    whole = side_by_side(grids)
    job_of_place = np.repeat(np.arange(len(jobs)), [len(grid.places) for grid in grids])
    return Together(
        jobs, whole, job_of_place, [offers(job, whole.places, catalogs) for job in jobs]
    )


def _tried_counts(together: Together) -> list[int]:
    """How many candidates of each job are tried.

    These are the ways of each pair of layout and place times the offers of the place.
    """
    grid, counts = together.grid, []
    job_of_pair = together.job_of_place.take(grid.place)
    ways = grid.steps_count[grid.layout]
    for number, sold in enumerate(together.sold):
        offers_of_place = np.sum([~np.isnan(offer.usd_per_hour) for offer in sold], axis=0)
        of_job = job_of_pair == number
        counts.append(int((ways * offers_of_place[grid.place])[of_job].sum()))
    return counts


def _shared_faults(grids: Sequence[Grid], problems: Problems) -> list[str]:
    """What is wrong with the first layout of each job that has no sound one; else empty."""
    starts = np.cumsum([0, *(grid.size for grid in grids)])
    return [
        str(problems.text[start]) if end > start and not problems.sound[start:end].any() else ""
        for start, end in pairwise(starts.tolist())
    ]


def _at_rate(together: Together, table: Table, cards: Columns) -> Together:
    """The jobs with a layout for each batch that their rate of requests needs."""
    crossed = crossed_with(walk(table | {}, LAYOUT_STAGES), cards, together.grid)
    crossed.evaluate_all(ENGINE_OF_CARD)
    for name in parameters_of(
        cache_pool_bytes
    ):  # nobody waits for a slot where all that are needed must fit
        crossed.set(name, ONE, EMPTY)
    return together._replace(grid=loaded(together.grid, crossed, together.jobs[0]))


def _explained(
    result: Combinations, pairs: np.ndarray, crossed: Crossed, table: Table, catalogs: Catalogs
) -> Combinations:
    """A result with the least memory of its layouts, or with the reason why none is known."""
    if not len(pairs):
        return result
    memory_bytes = by_pair(crossed, "memory_bytes")[pairs]
    if np.isnan(memory_bytes).all():
        layout = int(by_pair(crossed, "row_number")[pairs[0]])
        return result._replace(problem=not_covered(table, layout, catalogs))
    return result._replace(smallest_bytes=float(np.nanmin(memory_bytes)))


def _with_candidates(
    results: list[Combinations], together: Together, crossed: Crossed
) -> list[Combinations]:
    """The results with the candidates of each job; one that fits nowhere keeps its least memory."""
    parts: list[list[Columns]] = [[] for _ in results]
    fits = np.zeros(len(results), dtype=bool)
    for part in crossed.parts(PAIRS_AT_ONCE) if len(crossed.layout) else ():
        fits[together.job_of_place[keep_fitting(part)]] = True
        add_time_of_candidates(part, together.grid, together.jobs[0])
        for number, pairs in enumerate(together.pairs_of_jobs(part)):
            if len(pairs):
                alone = part if len(pairs) == len(part.layout) else part.only(pairs)
                parts[number] += sold_on(alone, together.sold[number], together.jobs[number])
    first_places = np.searchsorted(together.job_of_place, np.arange(len(results)))
    return [
        result._replace(
            grid=together.grid._replace(places=result.grid.places),
            candidates=_one_table(several, first),
            smallest_bytes=np.nan if fit else result.smallest_bytes,
        )
        for result, several, first, fit in zip(results, parts, first_places, fits, strict=True)
    ]


def _one_table(parts: list[Columns], first_place: int) -> Columns:
    """The candidates of all parts, their places counted from the first one of their job."""
    if not parts:
        return {}
    table = joined_tables(parts)
    return table | {"place": table["place"] - first_place}


def joined_tables(parts: list[Columns]) -> Columns:
    """The candidates of all parts as one table."""
    return (
        parts[0]
        if len(parts) == 1
        else {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    )


def layouts_table(grid: Grid, job: Job, catalogs: Catalogs) -> tuple[Table, Problems]:
    """The settled table of all layouts, and what is wrong with each."""
    problems = Problems(grid.size)
    inputs = inputs_of(job, grid.layouts | {"rows": grid.size, "row_number": np.arange(grid.size)})
    return settled_table(inputs, catalogs, problems), problems


def inputs_of(job: Job, columns: Columns) -> Columns:
    """The inputs (scenarios.read) of scenarios with these columns; the job sets the others."""
    of_work = "train_tokens" if job.work == "training" else "tokens_total"
    names = ("work", "model", "sequence_tokens", "prompt_tokens", "hours_per_month", of_work)
    running = {"start_seconds": 0.0} if job.have else {}  # machines that are there run already
    set_by_job = {name: value for name in names if (value := getattr(job, name)) is not None}
    row = set_by_job | running | job.assumed
    row |= {
        "tuning": "full" if job.method == "full" else "lora",
        "implementation": job.implementation,
    }
    return known_inputs(row, columns)
