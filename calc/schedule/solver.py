"""The cheapest placement, proven by CP-SAT.

A run is an optional interval, machines and quotas are cumulative.

Source: OR-Tools 9.15, ortools/sat/python/cp_model.py (new_optional_fixed_size_interval_var,
add_cumulative, best_objective_bound).
"""

from importlib.util import find_spec

from calc.schedule.problem import Placed, Problem, total_usd, weights

CENTS = 100
SEARCH_SECONDS = 4.0  # of OR-Tools' deterministic time, which is the same on a busy machine
LONGEST_SECONDS = 4.0  # on the clock, whatever else runs
WORKERS = 2
LARGEST_SUM = 2**60  # of weights in cents: CP-SAT counts in 64 bits


def is_installed() -> bool:
    """Return whether OR-Tools is here."""
    return find_spec("ortools") is not None


def solve_placement(problem: Problem, hint: list[Placed]) -> tuple[list[Placed], float]:
    """The placement of most runs at the lowest cost, and a bound below it. [USD]

    It starts from `hint` and is never worse. The bound is NaN where the search found nothing within
    SEARCH_SECONDS, or where its priorities are more than it can weigh.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    ways = problem.ways
    hinted = {one.way: one.start for one in hint}
    taken, starts, spans = [], [], []
    for way, (first, last) in zip(ways, problem.windows, strict=True):
        taken.append(model.new_bool_var(""))
        starts.append(model.new_int_var(first, last - way.minutes, ""))
        spans.append(
            model.new_optional_fixed_size_interval_var(starts[-1], way.minutes, taken[-1], "")
        )
        model.add_hint(taken[-1], way in hinted)
        model.add_hint(starts[-1], hinted.get(way, first))
    left_out = [model.new_bool_var("") for _ in problem.runs]
    for run, out in enumerate(left_out):
        model.add_exactly_one(
            [out, *(on for way, on in zip(ways, taken, strict=True) if way.run == run)]
        )
    most = []  # of each capacity that is ever taken
    for capacity in problem.capacities:
        here = [number for number, way in enumerate(ways) if way.pool in capacity.taken]
        most.append(model.new_int_var(0, capacity.most, ""))
        model.add_cumulative(
            [spans[way] for way in here],
            [ways[way].instances * capacity.taken[ways[way].pool] for way in here],
            most[-1],
        )
    by_the_hour = [round(way.usd * CENTS) * on for way, on in zip(ways, taken, strict=True)]
    bought = [
        round(pool.usd * CENTS) * count for pool, count in zip(problem.pools, most, strict=False)
    ]
    dearest = sum(
        max((way.usd for way in ways if way.run == run), default=0) for run in range(len(left_out))
    )
    dearest += sum(pool.usd * pool.instances for pool in problem.pools)
    penalties = [round(weight * CENTS) for weight in weights(problem, dearest)]
    if sum(penalties) > LARGEST_SUM:
        return hint, float("nan")
    model.minimize(
        sum(
            [
                *by_the_hour,
                *bought,
                *(penalty * out for penalty, out in zip(penalties, left_out, strict=True)),
            ]
        )
    )
    solver = cp_model.CpSolver()
    solver.parameters.max_deterministic_time = SEARCH_SECONDS
    solver.parameters.max_time_in_seconds = LONGEST_SECONDS
    solver.parameters.num_workers = WORKERS
    solver.parameters.interleave_search = True
    solver.parameters.random_seed = 1
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return hint, float("nan")
    placed = [
        Placed(way, solver.value(start))
        for way, start, on in zip(ways, starts, taken, strict=True)
        if solver.boolean_value(on)
    ]
    late = sum(
        penalty * solver.value(out) for penalty, out in zip(penalties, left_out, strict=True)
    )
    return placed, max(
        0.0, min((solver.best_objective_bound - late) / CENTS, total_usd(placed, problem))
    )
