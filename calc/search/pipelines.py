"""Replicas of a service over several machines, if no single one is sure to hold one.

Each machine divides its matrices over all its GPUs and has a part of the blocks, as vLLM and SGLang
run a model that is too large for a node.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calc.catalogs.load import Catalogs
from calc.job.job import Job
from calc.rules.placement import slow_to_join
from calc.scenarios.lookups import constants
from calc.search.candidates import Candidates
from calc.search.grid import Grid, grid, join_grids
from calc.search.pairs import FITS
from calc.search.places import place_columns
from calc.search.search_results import SearchResult, search

MACHINES = (2, 4)  # of one replica
FIXING = ("pipeline_parallel", "tensor_parallel", "gpus")  # a job that sets these lays itself out


def with_pipelines(
    results: Sequence[SearchResult], jobs: Sequence[Job], catalogs: Catalogs
) -> list[SearchResult]:
    """Add candidates over several machines on the types that have none that fits a single one.

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
    """The grid of pipelines over machines of the types on which none fits; None without any."""
    laid_out = any(name in job.fixed for name in FIXING)
    if job.trains or not job.generates or laid_out or found.problem or not found.grid.places:
        return None
    open_places = _joinable(found, catalogs)
    gpus = np.array([found.grid.places[number].gpus for number in open_places])
    grids = [
        _grid_of(job, found.grid, open_places[gpus == count], int(count), catalogs)
        for count in np.unique(gpus)
    ]
    return join_grids(grids) if grids else None


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


def _joinable(found: SearchResult, catalogs: Catalogs) -> np.ndarray:
    """The numbers of the types without a candidate that fits whose machines a network joins."""
    places = found.grid.places
    cards = place_columns(places, catalogs)
    slowest = constants(catalogs, "overheads")["slowest_joining_bytes_per_second"]
    apart = np.broadcast_to(
        slow_to_join(
            cards["instance_network_bytes_per_second"], cards["instance_efa_interfaces"], slowest
        ),
        len(places),
    )
    fitting = found.candidates.place_number[found.candidates.fits == FITS.index("yes")]
    several = np.array([place.instance != "" and place.most >= min(MACHINES) for place in places])
    return np.flatnonzero(several & ~apart & ~np.isin(np.arange(len(places)), fitting))


def _grid_of(job: Job, whole: Grid, numbers: np.ndarray, gpus: int, catalogs: Catalogs) -> Grid:
    """The grid of pipelines over machines with so many GPUs, among all places of the job."""
    laid_out = {"pipeline_parallel": list(MACHINES), "tensor_parallel": [gpus]}
    places = [whole.places[number] for number in numbers]
    pipelined = grid(replace(job, fixed=job.fixed | laid_out), places, catalogs)
    return pipelined._replace(places=whole.places, place_of_pair=numbers[pipelined.place_of_pair])
