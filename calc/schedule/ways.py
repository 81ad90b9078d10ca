"""Needs of a run on a pool: instances, minutes and dollars, from its ranked table."""

from math import ceil
from typing import NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.job.columns import CONFIDENCE_REACH
from calc.say.problem import problem_text
from calc.schedule.team_tables import OWNED_MARKET, Occurrence, Pool
from calc.search.options import options
from calc.table import is_missing
from calc.units import HOUR_MINUTES

SHARES = (1, 2, 4)  # of machines that are paid anyway a run is offered all, half and a quarter


class Way(NamedTuple):
    """A run on a pool: instances, minutes, and the total cost of its hours. [USD]

    `minutes` extend as far into the range of time as the job's confidence requires.
    """

    run: int
    pool: int
    instances: int
    minutes: int
    usd: float


def ways_of(
    runs: list[Occurrence], pools: list[Pool], catalogs: Catalogs
) -> tuple[list[Way], dict[int, str]]:
    """Every way to do every run in its window; for a run without one, a sentence that says why."""
    ways: dict[tuple[int, int, int, int], Way] = {}
    problems: dict[int, str] = {}
    for number, run in enumerate(runs):
        problems[number] = (
            f"{run.name}: no pool is there long enough between its start and its deadline."
        )
        for place, pool in enumerate(pools):
            window = window_hours(run, pool)
            for job in _jobs(run, pool, window) if window > 0 else ():
                answer = options(job, catalogs)
                if answer.obstacle:
                    text = problem_text(answer.obstacle, answer.resolved, catalogs)
                    problems[number] = f"{run.name} on {pool.name}: {text}"
                for row in () if answer.obstacle else answer.rows:
                    way = _way(number, place, row, pool, window, answer.job)
                    ways.setdefault((number, place, way.instances, way.minutes), way)
    fitting = [
        way
        for way in ways.values()
        if way.instances <= pools[way.pool].instances
        and way.minutes <= window_hours(runs[way.run], pools[way.pool]) * HOUR_MINUTES + 1e-6
    ]
    placeable = {way.run for way in fitting}
    return fitting, {
        number: problem for number, problem in problems.items() if number not in placeable
    }


def finishes(run: Occurrence) -> bool:
    """Return whether a run ends when its work is done; a service runs to its deadline."""
    return bool(
        ends_of({"work": "inference" if run.job.get("goal") == "serve" else "training"} | run.job)
    )


def window_hours(run: Occurrence, pool: Pool) -> float:
    """Hours of the run's window with the pool there; 0 if a service would lack some. [h]"""
    begins = max(day for day in (run.starts, pool.starts) if day is not None)
    last = min(day for day in (run.deadline, pool.ends) if day is not None)
    hours = (last - begins) / pd.Timedelta(hours=1)
    return hours if finishes(run) or (begins, last) == (run.starts, run.deadline) else 0.0


def _jobs(run: Occurrence, pool: Pool, window: float) -> list[Row]:
    """The run's job on this pool alone: rented on its market, or on your own machines."""
    job = dict(run.job)
    if finishes(run):
        job["hours_most"] = min(window, float(run.job.get("hours_most", window)))
    if pool.by_the_hour:
        market = "on-demand" if pool.market == OWNED_MARKET else pool.market
        place = {"instance": pool.instance, "regions": pool.region, "markets": market}
        return [job | place | {"instances_most": pool.instances, "answers": "fastest"}]
    counts = dict.fromkeys(max(1, pool.instances // share) for share in SHARES)
    return [job | {"have": f"{count} x {pool.instance}"} for count in counts]


def _way(number: int, place: int, row: Row, pool: Pool, window: float, job: Row) -> Way:
    """An answer as a way: its hours to the job's confidence, a service's those of the window."""
    instances = int(
        row["instances_needed"]
        + row["spare_instances" if pool.market == "spot" else "standby_instances"]
    )
    hours, billed_hours = window, window
    if not is_missing(row["run_high_hours"]):
        reach = CONFIDENCE_REACH[job["confidence"]]
        hours = row["hours"] * (row["run_high_hours"] / row["hours"]) ** reach
        billed_hours = row["usd"] / row["usd_per_hour"]
    usd = 0.0
    if pool.by_the_hour:
        usd = billed_hours * (
            row["usd_per_hour"] if pool.usd_per_hour is None else pool.usd_per_hour * instances
        )
    return Way(number, place, instances, ceil(hours * HOUR_MINUTES - 1e-6), float(usd))
