"""The placement problem: ways in their windows, machines, quotas, and what a plan costs."""

from typing import NamedTuple

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.quotas import quota_for
from calc.schedule.team_tables import Occurrence, Pool
from calc.schedule.ways import Way


class Capacity(NamedTuple):
    """The most that may run at once: machines of a pool, or vCPUs of a quota by pool."""

    most: int
    taken: dict[int, int]


class Problem(NamedTuple):
    """Runs, pools, ways and capacities, first those of the pools in their order.

    A window is the first and the last minute of a way; minutes count from `begins`.
    """

    runs: list[Occurrence]
    pools: list[Pool]
    ways: list[Way]
    windows: list[tuple[int, int]]
    capacities: list[Capacity]
    begins: pd.Timestamp


class Placement(NamedTuple):
    """A way that is taken, and its first minute."""

    way: Way
    start: int

    @property
    def end(self) -> int:
        """The minute in which its machines are free again."""
        return self.start + self.way.minutes


def problem_of(
    runs: list[Occurrence], pools: list[Pool], ways: list[Way], catalogs: Catalogs
) -> Problem:
    """The problem of placing the runs on the pools."""
    begins = min(run.starts for run in runs)

    def minute(day: pd.Timestamp) -> int:
        return int((day - begins).total_seconds() // 60)

    windows = []
    for way in ways:
        run, pool = runs[way.run], pools[way.pool]
        first = max(run.starts, pool.starts or run.starts)
        last = min(run.deadline, pool.ends or run.deadline)
        windows.append((minute(first), minute(last)))
    capacities = [Capacity(pool.instances, {place: 1}) for place, pool in enumerate(pools)]
    quotas: dict[tuple[str, str], dict[int, int]] = {}
    for place, pool in enumerate(pools):
        if pool.quota_vcpus is not None:
            instance = catalogs.instances.loc[pool.instance]
            name = quota_for(instance["family"], catalogs, pool.market == "spot").name
            quotas.setdefault((pool.region, name), {})[place] = int(instance["vcpus"])
    capacities += [
        Capacity(int(min(pools[place].quota_vcpus or 0 for place in quota)), quota)
        for quota in quotas.values()
    ]
    return Problem(runs, pools, ways, windows, capacities, begins)


def weights(problem: Problem, most_usd: float) -> list[float]:
    """Penalty of leaving a run out: above all cost and all later priorities. [USD]"""
    weight, of_priority = most_usd + 1, {}
    for priority in sorted({run.priority for run in problem.runs}, reverse=True):
        of_priority[priority] = weight
        weight *= 1 + sum(run.priority == priority for run in problem.runs)
    return [of_priority[run.priority] for run in problem.runs]


def peak(placements: list[Placement], capacity: Capacity) -> int:
    """The most that is taken of a capacity at any minute."""
    here = [one for one in placements if one.way.pool in capacity.taken]
    return max((_instances_in_use(here, capacity, one.start) for one in here), default=0)


def _instances_in_use(placements: list[Placement], capacity: Capacity, minute: int) -> int:
    """Instances that the placed runs use in a minute."""
    return sum(
        one.way.instances * capacity.taken[one.way.pool]
        for one in placements
        if one.start <= minute < one.end
    )


def bought_usd(placements: list[Placement], problem: Problem) -> float:
    """The price of the machines that the plan takes from pools that are paid whole. [USD]"""
    return sum(
        pool.usd * peak(placements, problem.capacities[place])
        for place, pool in enumerate(problem.pools)
        if pool.usd
    )


def total_usd(placements: list[Placement], problem: Problem) -> float:
    """Hours of use, and machines paid whole. [USD]"""
    return sum(one.way.usd for one in placements) + bought_usd(placements, problem)


def earliest(number: int, placements: list[Placement], problem: Problem) -> Placement | None:
    """A way at the earliest minute at which its machines and quotas have room, None without one."""
    way, (first, last) = problem.ways[number], problem.windows[number]
    mine = [capacity for capacity in problem.capacities if way.pool in capacity.taken]
    sharing = [
        one for one in placements if any(one.way.pool in capacity.taken for capacity in mine)
    ]
    for start in sorted({first, *(one.end for one in sharing if first < one.end)}):
        trial = Placement(way, start)
        if trial.end > last:
            return None
        overlapping = [one for one in sharing if one.start < trial.end and start < one.end]
        if all(peak([*overlapping, trial], capacity) <= capacity.most for capacity in mine):
            return trial
    return None


def pushed_forward(placements: list[Placement], problem: Problem) -> list[Placement]:
    """Move each placed run as early as it can be at the same cost; keep their order."""
    numbers = {way: number for number, way in enumerate(problem.ways)}
    early: list[Placement] = []
    waiting = sorted(placements, key=lambda one: one.start)
    for order, one in enumerate(waiting):
        earlier = earliest(numbers[one.way], [*early, *waiting[order + 1 :]], problem)
        best = earlier if earlier is not None and earlier.start < one.start else one
        cheaper = total_usd([*early, best, *waiting[order + 1 :]], problem) <= total_usd(
            [*early, one, *waiting[order + 1 :]], problem
        )
        early.append(best if cheaper else one)
    return early


def cheapest_first(problem: Problem) -> list[Placement]:
    """Place runs without a proof: by priority and deadline, each where it adds least."""
    placements: list[Placement] = []
    order = sorted(
        range(len(problem.runs)),
        key=lambda run: (problem.runs[run].priority, problem.runs[run].deadline),
    )
    for run in order:
        mine = [number for number, way in enumerate(problem.ways) if way.run == run]
        trials = [
            one for number in mine if (one := earliest(number, placements, problem)) is not None
        ]
        if trials:
            placements.append(_adds_least(trials, placements, problem))
    return placements


def _adds_least(
    trials: list[Placement], placements: list[Placement], problem: Problem
) -> Placement:
    """The placement that adds least to the bill; of equal ones the first to end."""
    usd_before = total_usd(placements, problem)
    added_usd = [round(total_usd([*placements, one], problem) - usd_before, 2) for one in trials]
    best = min(range(len(trials)), key=lambda number: (added_usd[number], trials[number].end))
    return trials[best]
