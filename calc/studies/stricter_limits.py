"""A service with stricter limits or a spare, and how much load its answer takes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.mappings import Cells
from calc.search.best_answers import least_money
from calc.search.options import Options
from calc.search.rankings import rankings_of
from calc.studies.limits_cost import STEPS, Relaxed

SPEEDS = ("first_token_seconds", "token_seconds")
MOST_LOAD = 2  # times the load of the job, up to which the answer is tried
MOST_COUNT = 100_000
TOGETHER = 15  # loads that are searched at once
SAME_RATIO = 1 + 1e-6


class LoadLimit(NamedTuple):
    """The most requests in flight that an answer carries, and the cost of the next option.

    `usd` is NaN if no more expensive option follows within MOST_LOAD times the load.
    """

    users: int
    usd: float


def stricter_limits(job: Cells, options: Options, catalogs: Catalogs) -> list[Relaxed]:
    """A service without end: both speeds at their next stricter step, a spare instance."""
    row, job_cells = options.rows[0], options.job
    if not _is_service(options):
        return []
    speeds = {name: _below(name, job_cells[name]) for name in SPEEDS if job_cells.get(name)}
    stricter: list[tuple[str, Any, Row]] = []
    if len(speeds) == len(SPEEDS) and all(speeds.values()):
        stricter.append(("+".join(SPEEDS), tuple(speeds.values()), speeds))
    if not row["spare"] > 0:
        stricter.append(("spare", 1, {"spare": 1}))
    usd_each = _least_usd_each([{**job, **changes} for _, _, changes in stricter], catalogs)
    return [
        Relaxed(name, step, usd)
        for (name, step, _), usd in zip(stricter, usd_each, strict=True)
        if row["usd"] < usd < np.inf
    ]


def stricter_speeds(job: Cells) -> dict[str, float]:
    """Return both speeds of a job at their next stricter step. [s]"""
    return {name: _below(name, job[name]) for name in SPEEDS}


def load_limit(job: Cells, options: Options, catalogs: Catalogs) -> LoadLimit | None:
    """Return the load at which the answer of a service gives way to a more expensive one."""
    row = options.rows[0]
    users = options.job.get("users")
    if not _is_service(options) or not users or options.job.get("requests_per_second"):
        return None
    alone = {
        **job,
        "people": None,
        "instance": row["instance"],
        "instances_most": int(row["instances_needed"]),
    }

    def takes(loads: Sequence[int]) -> list[bool]:
        jobs = [{**alone, "users": load} for load in loads]
        return [usd <= row["usd"] * SAME_RATIO for usd in _least_usd_each(jobs, catalogs)]

    most = MOST_LOAD * int(users)
    if takes([most]) == [True]:
        return LoadLimit(most, np.nan)
    less = _last(takes, int(users), most)
    (usd,) = _least_usd_each([{**job, "people": None, "users": less + 1}], catalogs)
    return LoadLimit(less, usd) if row["usd"] * SAME_RATIO < usd < np.inf else None


def _between(less: int, most: int) -> list[int]:
    """Return whole numbers between two, evenly spaced; all of them if they are few."""
    step = max((most - less) / (TOGETHER + 1), 1)
    return sorted(
        {round(less + step * part) for part in range(1, TOGETHER + 1)} & {*range(less + 1, most)}
    )


def most_possible(job: Cells, name: str, least: int, catalogs: Catalogs) -> int:
    """The largest count in a column for which a job still has an answer; `least` has one."""

    def takes(counts: Sequence[int]) -> list[bool]:
        qualify = [False] * len(counts)
        for number, ranking in rankings_of([{**job, name: count} for count in counts], catalogs):
            qualify[number] = len(ranking.qualifying) > 0
        return qualify

    most = 2 * least
    while takes([most]) == [True] and most < MOST_COUNT:
        most *= 2
    return _last(takes, most // 2, most)


def _last(takes: Callable[[Sequence[int]], list[bool]], less: int, most: int) -> int:
    """The last whole number that takes it, between one that does and one that does not."""
    while most - less > 1:
        between = _between(less, most)
        is_taken = takes(between)
        for count, fits in zip(between, is_taken, strict=True):
            if not fits:
                most = min(most, count)
        less = max([less, *[count for count in between if count < most]])
    return less


def _is_service(options: Options) -> bool:
    """Return whether the first answer is a rented service without end that generates."""
    row: Row = options.rows[0]
    if (
        not row["answer"]
        or options.obstacle
        or options.job.get("have")
        or row["work"] != "inference"
    ):
        return False
    return not options.job.get("tokens_total") and row["time_per_output_token_seconds"] > 0


def _below(name: str, limit: float) -> float:
    """Return the next stricter step of a limit; 0 if there is none. [s]"""
    return float(max(STEPS[name][STEPS[name] < limit * (1 - 1e-9)], default=0.0))


def _least_usd_each(jobs: Sequence[Cells], catalogs: Catalogs) -> list[float]:
    """The lowest cost of each job; infinite if nothing qualifies. [USD]"""
    least_usd = [np.inf] * len(jobs)
    for number, ranking in rankings_of(jobs, catalogs):
        if len(ranking.qualifying):
            best = least_money(ranking, ranking.qualifying)
            least_usd[number] = float(ranking.candidates.usd[best])
    return least_usd
