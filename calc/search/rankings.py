"""The candidates of jobs, searched and ranked; those of the last jobs are remembered."""

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
WIDER = 8  # times as many instances, where nothing fits in those allowed
LAYOUTS_TOGETHER = 60_000  # of several jobs in one search that differ in their layouts
# What a job's layouts depend on, of all that jobs in one search may differ in.
LAID_OUT_BY = ("fixed", "users", "step_tokens", "step_factor", "fewest_bits", "quantize_own")


def resolved_job(row: JobRow, catalogs: Catalogs) -> Job:
    """The job of a row; JobError where it is not possible."""
    job: Job = _recent_jobs(catalogs)(row)
    return job


def ranked_candidates(
    row: JobRow, catalogs: Catalogs, factors: tuple[int, ...] = (1, WIDER)
) -> tuple[Ranking | None, SearchResult]:
    """The ranking of a job's candidates, None where it has none; and its candidates.

    `factors`: times as many instances as allowed, tried in turn until something fits.
    """
    job = resolved_job(row, catalogs)
    for factor in factors[:1] if job.have else factors:
        result = _recent_results(catalogs)(row.without(ranking.SORTING), factor)
        if result.problem or result.size:
            break
    return _ranking_of_job(result, job), result


def ranking_of(row: JobRow, catalogs: Catalogs) -> Ranking | None:
    """The ranking of another job on the instances that it allows; None where nothing fits."""
    try:
        return ranked_candidates(row, catalogs, (1,))[0]
    except JobError:
        return None


def rankings_of(jobs: Sequence[Cells], catalogs: Catalogs) -> Iterator[tuple[int, Ranking]]:
    """Yield the number and the ranking of each job for which `ranking_of` has one.

    Jobs about the same work are searched together, which takes far less time than one by one. Read
    each ranking and let it go: all together they can take hundreds of megabytes.
    """
    return _ranked_each(_searched(jobs, catalogs))


def rankings_beside(
    row: JobRow, jobs: Sequence[Cells], catalogs: Catalogs
) -> Iterator[tuple[int, Ranking]]:
    """Search a job, which `ranked_candidates` then has, with others as `rankings_of` does.

    Of an impossible job no others are searched.
    """
    searched = _searched([row.columns, *jobs], catalogs, whole=0)
    number, _, result = next(searched, (-1, None, None))
    if number != 0 or result is None:
        return iter(())
    handed = _handed_over(catalogs)
    handed[row.without(ranking.SORTING)] = result
    ranked_candidates(row, catalogs)
    handed.clear()  # also where the job was known before
    return _ranked_each((number - 1, job, result) for number, job, result in searched)


def _ranked_each(
    searched: Iterable[tuple[int, Job, SearchResult]],
) -> Iterator[tuple[int, Ranking]]:
    """The number and the ranking of each job that has one."""
    for number, job, result in searched:
        ranked = _ranking_of_job(result, job)
        if ranked is not None:
            yield number, ranked


def _searched(
    jobs: Sequence[Cells], catalogs: Catalogs, whole: int | None = None
) -> Iterator[tuple[int, Job, SearchResult]]:
    """The candidates of each possible job, together where they are about the same work.

    `whole`: the number of the job that has all its candidates. Of the other trainings only those
    that can be answers stay; a service is searched on further machines where none is sure to fit.
    """
    for numbers, grids, resolved in _groups(jobs, catalogs):
        only_possible = [
            job.trains and number != whole for number, job in zip(numbers, resolved, strict=True)
        ]
        with ONE_AT_ONCE:
            found = search(grids, resolved, catalogs, only_possible)
            results = with_pipelines(found, resolved, catalogs)
        results.reverse()
        for number, job in zip(numbers, resolved, strict=True):
            yield number, job, results.pop()


def _groups(
    jobs: Sequence[Cells], catalogs: Catalogs
) -> Iterator[tuple[list[int], list[Grid], list[Job]]]:
    """Jobs that are searched together: numbers, grids and jobs, without the impossible ones."""
    groups: dict[tuple[str, ...], list[tuple[int, Grid, Job]]] = {}
    for number, cells in enumerate(jobs):
        try:
            job = resolved_job(JobRow.of(cells), catalogs)
            tried = grid(job, places_of(job, catalogs), catalogs)
        except JobError:
            continue
        groups.setdefault(work_key(job, tried), []).append((number, tried, job))
    for members in groups.values():
        together: list[tuple[int, Grid, Job]] = []
        layouts: dict[str, int] = {}
        for member in members:
            laid_out = repr([getattr(member[2], name) for name in LAID_OUT_BY])
            more = 0 if laid_out in layouts else member[1].layout_count
            if together and sum(layouts.values()) + more > LAYOUTS_TOGETHER and more:
                yield _columns_of(together)
                together, layouts = [], {}
            layouts.setdefault(laid_out, member[1].layout_count)
            together.append(member)
        yield _columns_of(together)


def _columns_of(
    members: Sequence[tuple[int, Grid, Job]],
) -> tuple[list[int], list[Grid], list[Job]]:
    """The numbers, the grids and the jobs of some members of a group."""
    numbers, grids, jobs = zip(*members, strict=True)
    return list(numbers), list(grids), list(jobs)


def _ranking_of_job(result: SearchResult, job: Job) -> Ranking | None:
    """The ranking of candidates; None where there is none."""
    if result.problem or not result.size:
        return None
    return ranking.ranking(result.candidates, result.grid, job)


@cached_per_catalogs("models", "readings")
def _recent_results(catalogs: Catalogs) -> Any:
    """The last places and candidates: a job that differs in a limit alone has the same."""
    handed = _handed_over(catalogs)

    def made(row: JobRow, factor: int) -> SearchResult:
        ready = handed.pop(row, None) if factor == 1 else None
        return ready or _result_of(row, factor, catalogs)

    return lru_cache(maxsize=KEPT_RESULTS)(made)


@cached_per_catalogs("models", "readings")
def _handed_over(_catalogs: Catalogs) -> dict[JobRow, SearchResult]:
    """Candidates that were searched beside those of other jobs, on their way into the cache."""
    return {}


@cached_per_catalogs("models", "readings")
def _recent_jobs(catalogs: Catalogs) -> Any:
    """The last jobs resolved, for what ranks a job and for what makes its candidates."""
    return lru_cache(maxsize=KEPT_RESULTS)(lambda row: resolve(row.columns, catalogs))


def _result_of(row: JobRow, factor: int, catalogs: Catalogs) -> SearchResult:
    """All candidates of a job on so many times as many instances as it allows."""
    job = resolved_job(row, catalogs)
    with ONE_AT_ONCE:
        tried = grid(job, places_of(job, catalogs, factor), catalogs)
        return with_pipelines(search([tried], [job], catalogs), [job], catalogs)[0]
