"""The plan of a team: who runs where and when, what it costs, what to buy next.

A run is placed in its window on one pool. Owned machines and those paid whole cost the same, used
or not. The planner leaves out as few runs as possible, in order of priority, then minimizes cost,
then finish time.
"""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.plan.ownership import OWNERSHIP
from calc.schedule import solver
from calc.schedule.problem import (
    Placement,
    Problem,
    cheapest_first,
    peak,
    problem_of,
    pushed_forward,
    total_usd,
)
from calc.schedule.team_tables import MOST_INSTANCES, Occurrence, Pool, pools_of, runs_of
from calc.schedule.ways import ways_of
from calc.units import HOUR_MINUTES

COLUMNS = (
    "run",
    *OWNERSHIP,
    "model",
    "pool",
    "instance",
    "region",
    "market",
    "instances",
    "starts",
    "begins",
    "ends",
    "deadline",
    "priority",
    "usd",
    "problem",
)
POOL_COLUMNS = (
    "pool",
    "instance",
    "instances",
    "instances_most",
    "used_hours",
    "paid_hours",
    "idle_hours",
    "usd",
)
NEXT_COLUMNS = ("pool", "instance", "placed_runs", "usd", "how")
POOLS_FULL = (
    "{}: the pools are full between its start and its deadline; add machines, or move the deadline."
)
HEURISTIC = (
    "placed run by run where each is cheapest, without a proof: a better plan may exist; `make "
    "schedule` installs what proves one"
)


class Schedule(NamedTuple):
    """Runs in order of their start, those without a place last; pools with idle hours; the bill.

    No placement of these runs costs less than `least_usd`; NaN if nothing is proven: without the
    solver, without a bound in time, or if a run has no place.
    """

    runs: pd.DataFrame
    pools: pd.DataFrame
    usd: float
    least_usd: float
    how: str

    @property
    def left_out(self) -> int:
        """Runs without a place."""
        return int((self.runs["problem"] != "").sum())


def schedule(
    jobs: pd.DataFrame, pools: pd.DataFrame, catalogs: Catalogs, prove: bool = True
) -> Schedule:
    """The plan of a team. Raises TableError."""
    return _schedule(runs_of(jobs), pools_of(pools, catalogs), catalogs, prove)


def next_to_buy(jobs: pd.DataFrame, pools: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """Effect of one more instance of each pool: runs placed and dollars, the best first.

    A pool that is as large as a pool may be is left out. `how` says what is known of the larger
    plan, as Schedule.how.
    """
    runs = runs_of(jobs)
    those = pools_of(pools, catalogs)
    before = _schedule(runs, those, catalogs, True)
    rows = []
    for place, pool in enumerate(those):
        if pool.instances == MOST_INSTANCES:
            continue
        after = _schedule(
            runs,
            [*those[:place], pool._replace(instances=pool.instances + 1), *those[place + 1 :]],
            catalogs,
            True,
        )
        more_runs = before.left_out - after.left_out
        rows.append(
            {
                "pool": pool.name,
                "instance": pool.instance,
                "placed_runs": more_runs,
                "usd": after.usd - before.usd,
                "how": after.how,
            }
        )
    return pd.DataFrame(rows, columns=list(NEXT_COLUMNS)).sort_values(
        ["placed_runs", "usd"], ascending=[False, True], ignore_index=True
    )


def _schedule(
    runs: list[Occurrence], pools: list[Pool], catalogs: Catalogs, prove: bool
) -> Schedule:
    """Place the runs on the pools, and prove the plan if a solver is installed."""
    ways, problems = ways_of(runs, pools, catalogs)
    problem = problem_of(runs, pools, ways, catalogs)
    placements = cheapest_first(problem)
    least = float("nan")
    was_searched = False
    if prove and solver.is_installed():
        placements, least = solver.solve_placement(problem, placements)
        placements, was_searched = pushed_forward(placements, problem), True
    usd = total_usd(placements, problem)
    out = len(runs) - len(placements)
    how = how_good(usd, least, out) if was_searched else HEURISTIC + _left_out(out)
    least = least if out == 0 else float("nan")
    return Schedule(
        _runs(placements, problems, problem), _pools(placements, problem), usd, least, how
    )


def how_good(usd: float, least_usd: float, left_out: int) -> str:
    """Say how good a plan is: its gap to the bound, and what no proof covers."""
    if not least_usd >= 0:
        quality = "no bound was found in time: a better plan may exist, by how much is not known"
    elif usd - least_usd >= 0.01:
        gap = f"{100 * (usd / least_usd - 1):.1f} %" if least_usd else f"${usd:,.0f}"
        quality = f"at most {gap} above the least possible"
    elif left_out:
        quality = "no cheaper plan was found for the runs that have a place"
    else:
        quality = "proven: on the machines listed, no plan costs less"
    return quality + _left_out(left_out)


def _left_out(runs: int) -> str:
    """The reservation of a plan that leaves runs out."""
    if not runs:
        return ""
    are = "1 run is" if runs == 1 else f"{runs:,} runs are"
    return f"; {are} left out, so the bill is not that of all jobs"


def _runs(
    placements: list[Placement], problems: Mapping[int, str], problem: Problem
) -> pd.DataFrame:
    """A row for each run: its place and time, or why it has none."""
    placed_runs = {one.way.run: one for one in placements}
    rows = []
    for number, run in enumerate(problem.runs):
        if number in placed_runs:
            outcome = _place_and_time(placed_runs[number], problem)
        else:
            why = problems.get(number, POOLS_FULL.format(run.name))
            outcome = {"begins": pd.NaT, "ends": pd.NaT, "problem": why}
        rows.append(_facts_of_run(run) | outcome)
    return pd.DataFrame(rows, columns=list(COLUMNS)).sort_values(
        ["begins", "run"], na_position="last", ignore_index=True
    )


def _facts_of_run(run: Occurrence) -> Row:
    """The cells of a run that do not depend on where it is placed."""
    return {
        "run": run.name,
        **{name: str(run.job.get(name) or "") for name in OWNERSHIP},
        "model": run.job["model"],
        "starts": run.starts,
        "deadline": run.deadline,
        "priority": run.priority,
    }


def _place_and_time(one: Placement, problem: Problem) -> Row:
    """The cells of a run that say where and when it runs, and what it costs."""
    pool = problem.pools[one.way.pool]
    return {
        "begins": problem.begins + pd.Timedelta(minutes=one.start),
        "ends": problem.begins + pd.Timedelta(minutes=one.end),
        "pool": pool.name,
        "instance": pool.instance,
        "region": pool.region,
        "market": pool.market,
        "instances": one.way.instances,
        "usd": one.way.usd,
        "problem": "",
    }


def _pools(placements: list[Placement], problem: Problem) -> pd.DataFrame:
    """A row for each pool: machines taken, hours used, hours paid but idle, and dollars."""
    rows = [_row_of_pool(number, placements, problem) for number in range(len(problem.pools))]
    return pd.DataFrame(rows, columns=list(POOL_COLUMNS))


def _row_of_pool(number: int, placements: list[Placement], problem: Problem) -> Row:
    """The row of one pool; of machines that are rented, those that a run uses count."""
    pool = problem.pools[number]
    mine = [one for one in placements if one.way.pool == number]
    used_hours = sum(one.way.instances * one.way.minutes for one in mine) / HOUR_MINUTES
    instances = pool.instances
    if pool.usd or pool.by_the_hour:
        instances = peak(mine, problem.capacities[number])
    last = max(run.deadline for run in problem.runs)
    begins = max(pool.starts or problem.begins, problem.begins)
    span_hours = (min(pool.ends or last, last) - begins) / pd.Timedelta(hours=1)
    paid_hours = used_hours if pool.by_the_hour else instances * max(0.0, span_hours)
    return {
        "pool": pool.name,
        "instance": pool.instance,
        "instances": instances,
        "instances_most": pool.instances,
        "used_hours": used_hours,
        "paid_hours": paid_hours,
        "idle_hours": paid_hours - used_hours,
        "usd": sum(one.way.usd for one in mine) + pool.usd * instances,
    }
