"""Searches for the candidates of jobs and ranks them. The last results are cached."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.job.cells import JobError, JobRow
from calc.job.job import Job
from calc.job.resolve import resolve
from calc.mappings import Cells
from calc.search import ranking
from calc.search.grid import Grid, grid
from calc.search.pipelines import with_pipelines
from calc.search.places import places_of
from calc.search.ranking import Ranking
from calc.search.search_results import SearchResult, search, work_key

KEPT_RESULTS = 4
# A crowded server needs the memory of one search, not of one for every visitor.
ONE_AT_ONCE = Lock()  # search: each takes up to 250 MB
WIDER = 8  # times as many instances, if nothing fits on as many as are allowed
MOST_LAYOUTS = 60_000  # of all jobs in one search
# The fields on which a job's layouts depend, among those in which jobs of one search may differ.
LAYOUT_FIELDS = ("fixed", "users", "step_tokens", "step_factor", "fewest_bits", "quantize_own")


def resolved_job(row: JobRow, catalogs: Catalogs) -> Job:
    """Return the resolved job of a row. Raise JobError if it is not possible."""
    job: Job = _recent_jobs(catalogs)(row)
    return job


def ranked_candidates(
    row: JobRow, catalogs: Catalogs, factors: tuple[int, ...] = (1, WIDER)
) -> tuple[Ranking | None, SearchResult]:
    """Return the ranking of a job's candidates, None if it has none, and the candidates.

    `factors`: multiples of the instances that are allowed, tried in turn until something fits.
    """
    job = resolved_job(row, catalogs)
    for factor in factors[:1] if job.have else factors:
        result = _recent_results(catalogs)(row.without(ranking.SORTING), factor)
        if result.problem or result.size:
            break
    return _ranking_of_job(result, job), result


def ranking_of(row: JobRow, catalogs: Catalogs) -> Ranking | None:
    """Return the ranking of a job on the instances that it allows; None if nothing fits."""
    try:
        return ranked_candidates(row, catalogs, (1,))[0]
    except JobError:
        return None


def rankings_of(jobs: Sequence[Cells], catalogs: Catalogs) -> Iterator[tuple[int, Ranking]]:
    """Yield the number and the ranking of each job for which `ranking_of` has one.

    Jobs with the same work are searched together, which takes far less time than one by one. Do not
    keep the rankings: all together they can take hundreds of megabytes.
    """
    return _ranked_each(_search_results(jobs, catalogs))


def rankings_beside(
    row: JobRow, jobs: Sequence[Cells], catalogs: Catalogs
) -> Iterator[tuple[int, Ranking]]:
    """Search a job together with others, and yield the rankings of the others.

    They are those of `rankings_of`. The job's own result goes into the cache of
    `ranked_candidates`. If the job is not possible, the others are not searched.
    """
    results = _search_results([row.columns, *jobs], catalogs, whole=0)
    number, _, result = next(results, (-1, None, None))
    if number != 0 or result is None:
        return iter(())
    passed_on = _passed_on(catalogs)
    passed_on[row.without(ranking.SORTING)] = result
    ranked_candidates(row, catalogs)
    passed_on.clear()  # it is still there if the cache had the job already
    return _ranked_each((number - 1, job, result) for number, job, result in results)


def _ranked_each(
    results: Iterable[tuple[int, Job, SearchResult]],
) -> Iterator[tuple[int, Ranking]]:
    """Yield the number and the ranking of each job that has one."""
    for number, job, result in results:
        ranked = _ranking_of_job(result, job)
        if ranked is not None:
            yield number, ranked


def _search_results(
    jobs: Sequence[Cells], catalogs: Catalogs, whole: int | None = None
) -> Iterator[tuple[int, Job, SearchResult]]:
    """Search jobs, those with the same work together. Yield the result of each possible job.

    `whole`: the number of the job that keeps all its candidates. The other training runs keep only
    those that can be answers. A service keeps all, because its search goes on to more machines if
    none is certain to fit.
    """
    for numbers, grids, resolved_jobs in _groups(jobs, catalogs):
        only_possible = [
            job.trains and number != whole
            for number, job in zip(numbers, resolved_jobs, strict=True)
        ]
        with ONE_AT_ONCE:
            results = search(grids, resolved_jobs, catalogs, only_possible)
            results = with_pipelines(results, resolved_jobs, catalogs)
        results.reverse()  # so that each result can be let go once it is read
        for number, job in zip(numbers, resolved_jobs, strict=True):
            yield number, job, results.pop()


def _groups(
    jobs: Sequence[Cells], catalogs: Catalogs
) -> Iterator[tuple[list[int], list[Grid], list[Job]]]:
    """Yield the numbers, grids and jobs that are searched together, without impossible jobs."""
    groups: dict[tuple[str, ...], list[tuple[int, Grid, Job]]] = {}
    for number, cells in enumerate(jobs):
        try:
            job = resolved_job(JobRow.of(cells), catalogs)
            job_grid = grid(job, places_of(job, catalogs), catalogs)
        except JobError:
            continue
        groups.setdefault(work_key(job, job_grid), []).append((number, job_grid, job))
    for members in groups.values():
        group: list[tuple[int, Grid, Job]] = []
        layout_counts: dict[str, int] = {}
        for number, job_grid, job in members:
            key = repr([getattr(job, name) for name in LAYOUT_FIELDS])
            added = 0 if key in layout_counts else job_grid.layout_count
            if group and added and sum(layout_counts.values()) + added > MOST_LAYOUTS:
                yield _columns_of(group)
                group, layout_counts = [], {}
            layout_counts.setdefault(key, job_grid.layout_count)
            group.append((number, job_grid, job))
        yield _columns_of(group)


def _columns_of(
    members: Sequence[tuple[int, Grid, Job]],
) -> tuple[list[int], list[Grid], list[Job]]:
    """Return the numbers, the grids and the jobs of a group, each as a list."""
    numbers, grids, jobs = zip(*members, strict=True)
    return list(numbers), list(grids), list(jobs)


def _ranking_of_job(result: SearchResult, job: Job) -> Ranking | None:
    """Return the ranking of a job's candidates; None if it has none."""
    if result.problem or not result.size:
        return None
    return ranking.ranking(result.candidates, result.grid, job)


@cached_per_catalogs("models", "readings")
def _recent_results(catalogs: Catalogs) -> Any:
    """Return a cached function that searches a row: a job that differs only in a limit has it."""
    passed_on = _passed_on(catalogs)

    def search_row(row: JobRow, factor: int) -> SearchResult:
        ready = passed_on.pop(row, None) if factor == 1 else None
        return ready or _result_of(row, factor, catalogs)

    return lru_cache(maxsize=KEPT_RESULTS)(search_row)


@cached_per_catalogs("models", "readings")
def _passed_on(_catalogs: Catalogs) -> dict[JobRow, SearchResult]:
    """Results that were searched together with other jobs, on their way into the cache."""
    return {}


@cached_per_catalogs("models", "readings")
def _recent_jobs(catalogs: Catalogs) -> Any:
    """Return a cached function that resolves a row."""
    return lru_cache(maxsize=KEPT_RESULTS)(lambda row: resolve(row.columns, catalogs))


def _result_of(row: JobRow, factor: int, catalogs: Catalogs) -> SearchResult:
    """Search a job on `factor` times as many instances as it allows."""
    job = resolved_job(row, catalogs)
    with ONE_AT_ONCE:
        job_grid = grid(job, places_of(job, catalogs, factor), catalogs)
        return with_pipelines(search([job_grid], [job], catalogs), [job], catalogs)[0]
