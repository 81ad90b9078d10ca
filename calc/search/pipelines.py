"""Layouts with pipeline stages that are searched after all others.

A service has replicas over several machines, if no single one is sure to hold one. Each machine
divides its matrices over all its GPUs and has a part of the blocks, as vLLM and SGLang run a model
that is too large for a node. A training tries its mixed degrees here, each in a grid of its own,
because all at once they would be too many.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calc.catalogs.load import Catalogs
from calc.job.cells import JobError
from calc.job.job import Job
from calc.rules.placement import slow_to_join
from calc.scenarios.lookups import constants
from calc.search.candidates import Candidates
from calc.search.grid import Grid, grid, join_grids
from calc.search.pairs import FITS
from calc.search.places import place_columns
from calc.search.search_results import SearchResult, search
from calc.search.shapes import DIVIDING, mixed_degrees

MACHINES = (2, 4)  # of one replica
FIXING = ("pipeline_parallel", "tensor_parallel", "gpus")  # a job that sets these lays itself out


def with_pipelines(
    results: Sequence[SearchResult], jobs: Sequence[Job], catalogs: Catalogs
) -> list[SearchResult]:
    """Add the candidates with stages that the first search of each job has left out.

    `results`: of the jobs, which are about the same work.
    """
    grids = [_grid(found, job, catalogs) for found, job in zip(results, jobs, strict=True)]
    open_jobs = [job for grid, job in zip(grids, jobs, strict=True) if grid]
    if not open_jobs:
        return list(results)
    wider = iter(search([grid for grid in grids if grid], open_jobs, catalogs))
    return [
        _merge(found, next(wider)) if grid else found
        for found, grid in zip(results, grids, strict=True)
    ]


def _grid(found: SearchResult, job: Job, catalogs: Catalogs) -> Grid | None:
    """The grid of what the first search has left out; None without any."""
    if found.problem or not found.grid.places:
        return None
    grids = (
        _grids_of_training(found, job, catalogs)
        if job.trains
        else _grids_over_machines(found, job, catalogs)
    )
    return join_grids(grids) if grids else None


def _grids_of_training(found: SearchResult, job: Job, catalogs: Catalogs) -> list[Grid]:
    """The grid of each mixed degree of a training."""
    laid_out = [
        _laid_out(job, dict(zip(DIVIDING, degrees, strict=True)))
        for degrees in mixed_degrees(job, catalogs)
    ]
    try:
        return [grid(one, found.grid.places, catalogs) for one in laid_out]
    except JobError:  # more combinations than are compared at once
        return []


def _laid_out(job: Job, degrees: dict[str, int]) -> Job:
    """The job with these degrees fixed."""
    return replace(job, fixed=job.fixed | {name: [degree] for name, degree in degrees.items()})


def _grids_over_machines(found: SearchResult, job: Job, catalogs: Catalogs) -> list[Grid]:
    """The grids of replicas over several machines, on the types where one holds no replica."""
    if not job.generates or any(name in job.fixed for name in FIXING):
        return []
    place_numbers = _places_to_join(found, catalogs)
    gpus = np.array([found.grid.places[number].gpus for number in place_numbers])
    return [
        _grid_of(job, found.grid, place_numbers[gpus == count], int(count), catalogs)
        for count in np.unique(gpus)
    ]


def _merge(found: SearchResult, wider: SearchResult) -> SearchResult:
    """The candidates on one machine and on several as one table."""
    tried = found.tried + wider.tried
    if not wider.size:
        # Either may be unknown.
        smallest_bytes = float(np.fmin(found.smallest_bytes, wider.smallest_bytes))
        return found._replace(tried=tried, smallest_bytes=smallest_bytes)
    moved = replace(
        wider.candidates,
        layout_number=wider.candidates.layout_number + found.grid.layout_count,
        pair_number=wider.candidates.pair_number + len(found.grid.layout_of_pair),
    )
    candidates = Candidates.joined([found.candidates, moved]) if found.size else moved
    return SearchResult(join_grids([found.grid, wider.grid]), candidates, tried, np.nan, "")


def _places_to_join(found: SearchResult, catalogs: Catalogs) -> np.ndarray:
    """Return the numbers of the places on which several machines may hold what one does not.

    No candidate fits on one machine there, the job may rent several, and a fast network joins them.
    """
    places = found.grid.places
    cards = place_columns(places, catalogs)
    slowest = constants(catalogs, "overheads")["slowest_joining_bytes_per_second"]
    has_slow_network = np.broadcast_to(
        slow_to_join(
            cards["instance_network_bytes_per_second"], cards["instance_efa_interfaces"], slowest
        ),
        len(places),
    )
    places_that_fit = found.candidates.place_number[found.candidates.fits == FITS.index("yes")]
    has_fit = np.isin(np.arange(len(places)), places_that_fit)
    has_several = np.array(
        [place.instance != "" and place.most >= min(MACHINES) for place in places]
    )
    return np.flatnonzero(has_several & ~has_slow_network & ~has_fit)


def _grid_of(job: Job, whole: Grid, numbers: np.ndarray, gpus: int, catalogs: Catalogs) -> Grid:
    """Return the grid of pipelines over machines with this many GPUs."""
    laid_out = {"pipeline_parallel": list(MACHINES), "tensor_parallel": [gpus]}
    places = [whole.places[number] for number in numbers]
    pipelined = grid(replace(job, fixed=job.fixed | laid_out), places, catalogs)
    return pipelined._replace(places=whole.places, place_of_pair=numbers[pipelined.place_of_pair])
