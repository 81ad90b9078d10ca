"""The cheapest placement, proven by CP-SAT.

A run is an optional interval, machines and quotas are cumulative.

Source: OR-Tools 9.15, ortools/sat/python/cp_model.py (new_optional_fixed_size_interval_var,
add_cumulative, best_objective_bound).
"""

from importlib.util import find_spec
from typing import Any

from calc.schedule.problem import Placement, Problem, total_usd, weights

CENTS = 100
SEARCH_SECONDS = 4.0  # of OR-Tools' deterministic time, which is the same on a busy machine
LONGEST_SECONDS = 4.0  # on the clock, whatever else runs
WORKERS = 2
LARGEST_SUM = 2**60  # of weights in cents: CP-SAT counts in 64 bits


def is_installed() -> bool:
    """Return whether OR-Tools is installed."""
    return find_spec("ortools") is not None


def solve_placement(problem: Problem, hint: list[Placement]) -> tuple[list[Placement], float]:
    """The placement of most runs at the lowest cost, and a bound below it. [USD]

    It starts from `hint` and is never worse. The bound is NaN if the search found nothing within
    SEARCH_SECONDS, or if its priorities are more than it can weigh.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    is_taken, starts, spans = _add_ways(model, problem, hint)
    left_out = _add_runs(model, problem, is_taken)
    most = _add_capacities(model, problem, spans)
    penalties = [round(weight * CENTS) for weight in weights(problem, _dearest_usd(problem))]
    if sum(penalties) > LARGEST_SUM:
        return hint, float("nan")
    cost = [round(way.usd * CENTS) * on for way, on in zip(problem.ways, is_taken, strict=True)]
    for pool, count in zip(problem.pools, most, strict=False):
        cost.append(round(pool.usd * CENTS) * count)
    late = [penalty * out for penalty, out in zip(penalties, left_out, strict=True)]
    model.minimize(sum([*cost, *late]))
    solver = _with_limits(cp_model.CpSolver())
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return hint, float("nan")
    placements = []
    for way, start, on in zip(problem.ways, starts, is_taken, strict=True):
        if solver.boolean_value(on):
            placements.append(Placement(way, solver.value(start)))
    late_cents = sum(
        penalty * solver.value(out) for penalty, out in zip(penalties, left_out, strict=True)
    )
    bound_usd = (solver.best_objective_bound - late_cents) / CENTS
    return placements, max(0.0, min(bound_usd, total_usd(placements, problem)))


def _add_ways(
    model: Any, problem: Problem, hint: list[Placement]
) -> tuple[list[Any], list[Any], list[Any]]:
    """Variables of each way: whether it is taken, the minute of its start, and its interval."""
    hint_starts = {one.way: one.start for one in hint}
    is_taken, starts, spans = [], [], []
    for way, (first, last) in zip(problem.ways, problem.windows, strict=True):
        on = model.new_bool_var("")
        start = model.new_int_var(first, last - way.minutes, "")
        spans.append(model.new_optional_fixed_size_interval_var(start, way.minutes, on, ""))
        model.add_hint(on, way in hint_starts)
        model.add_hint(start, hint_starts.get(way, first))
        is_taken.append(on)
        starts.append(start)
    return is_taken, starts, spans


def _add_runs(model: Any, problem: Problem, is_taken: list[Any]) -> list[Any]:
    """A variable for each run that is left out; a run takes exactly one way, or is left out."""
    left_out = [model.new_bool_var("") for _ in problem.runs]
    for run, out in enumerate(left_out):
        ways = [on for way, on in zip(problem.ways, is_taken, strict=True) if way.run == run]
        model.add_exactly_one([out, *ways])
    return left_out


def _add_capacities(model: Any, problem: Problem, spans: list[Any]) -> list[Any]:
    """The most of each capacity that is ever taken; no moment takes more than there is."""
    most = []
    for capacity in problem.capacities:
        here = [number for number, way in enumerate(problem.ways) if way.pool in capacity.taken]
        count = model.new_int_var(0, capacity.most, "")
        demands = []
        for number in here:
            way = problem.ways[number]
            demands.append(way.instances * capacity.taken[way.pool])
        model.add_cumulative([spans[number] for number in here], demands, count)
        most.append(count)
    return most


def _dearest_usd(problem: Problem) -> float:
    """More than any placement costs: the dearest way of each run, and every pool bought. [USD]"""
    dearest = sum(
        max((way.usd for way in problem.ways if way.run == run), default=0)
        for run in range(len(problem.runs))
    )
    return dearest + sum(pool.usd * pool.instances for pool in problem.pools)


def _with_limits(solver: Any) -> Any:
    """The solver with limits on its time, and the same result on every call."""
    solver.parameters.max_deterministic_time = SEARCH_SECONDS
    solver.parameters.max_time_in_seconds = LONGEST_SECONDS
    solver.parameters.num_workers = WORKERS
    solver.parameters.interleave_search = True
    solver.parameters.random_seed = 1
    return solver
