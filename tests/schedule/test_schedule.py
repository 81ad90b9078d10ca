"""A team's plan: the placement against every other one, worked figures, laws, and what is
refused.
"""

from datetime import date
from itertools import product
from math import ceil

import pages
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calc.answers.full_answer import full_answer as options
from calc.schedule import solver
from calc.schedule.plans_apart import plans_apart
from calc.schedule.problem import (
    Capacity,
    Placement,
    Problem,
    cheapest_first,
    peak,
    pushed_forward,
    total_usd,
    weights,
)
from calc.schedule.schedule import HEURISTIC, how_good, next_to_buy, schedule
from calc.schedule.team_tables import Occurrence, Pool, job_with_dates, pool_of, with_pools_of
from calc.schedule.ways import Way

DAY = pd.Timestamp("2026-12-01")
proves = pytest.mark.skipif(not solver.is_installed(), reason="needs requirements/schedule.txt")
JOB = {
    "model": "llama-3.1-8b",
    "goal": "tune",
    "method": "lora",
    "starts": "2026-12-01",
    "deadline": "2026-12-03",
}
RENTED = {"pool": "rented", "instance": "p4d.24xlarge", "instances": "2", "market": "on-demand"}
OWNED = {"pool": "ours", "instance": "p5.48xlarge", "instances": "1", "market": "owned"}


@pytest.fixture(autouse=True, scope="module")
def patient():
    """A busy machine gets the time that it needs for the same search."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "LONGEST_SECONDS", 120.0)
        yield


def table(*rows):
    return pd.DataFrame(rows, dtype=object).fillna("")


def problem(ways, pools, windows, priorities=None):
    """A placement problem in minutes: ways of (run, pool, instances, minutes, usd), pools of
    (instances, usd).
    """
    runs = [
        Occurrence(f"run {run}", {"model": ""}, DAY, DAY, (priorities or {}).get(run, 1))
        for run in range(1 + max(way[0] for way in ways))
    ]
    those = [
        Pool(f"pool {n}", "", "", count, "owned", None, None, usd, None, None)
        for n, (count, usd) in enumerate(pools)
    ]
    capacities = [Capacity(pool.instances, {place: 1}) for place, pool in enumerate(those)]
    return Problem(runs, those, [Way(*way) for way in ways], windows, capacities, DAY)


def every_placement(drawn):
    """All placements that keep windows and capacities, in whole minutes."""
    choices = [
        [
            None,
            *(
                Placement(way, start)
                for way, (first, last) in zip(drawn.ways, drawn.windows, strict=True)
                if way.run == run
                for start in range(first, last - way.minutes + 1)
            ),
        ]
        for run in range(len(drawn.runs))
    ]
    for chosen in product(*choices):
        placed = [one for one in chosen if one is not None]
        if all(peak(placed, capacity) <= capacity.most for capacity in drawn.capacities):
            yield placed


def worth(placed, drawn):
    """The solver's objective: runs left out by their weight, then dollars."""
    of_run = weights(drawn, 1000)
    return sum(
        of_run[run] for run in range(len(drawn.runs)) if run not in {one.way.run for one in placed}
    ) + total_usd(placed, drawn)


@st.composite
def problems(draw):
    """Three runs of one or two ways each on two pools, in windows of a few minutes."""
    pools = [(draw(st.integers(1, 2)), draw(st.sampled_from([0.0, 3.0]))) for _ in range(2)]
    ways, windows = [], []
    for run in range(3):
        for place in draw(st.sampled_from([(0,), (1,), (0, 1)])):
            minutes, first = draw(st.integers(1, 3)), draw(st.integers(0, 2))
            ways.append(
                (
                    run,
                    place,
                    draw(st.integers(1, pools[place][0])),
                    minutes,
                    float(draw(st.integers(0, 9))),
                )
            )
            windows.append((first, first + minutes + draw(st.integers(0, 2))))
    return problem(ways, pools, windows, {run: draw(st.integers(1, 2)) for run in range(3)})


@proves
@given(problems())
@settings(max_examples=15, deadline=None)
def test_no_other_placement_is_better(drawn):
    placed, least = solver.solve_placement(drawn, cheapest_first(drawn))
    best = min(worth(other, drawn) for other in every_placement(drawn))
    assert worth(placed, drawn) == pytest.approx(best, abs=0.02)
    assert least == pytest.approx(total_usd(placed, drawn), abs=0.02)
    early = pushed_forward(placed, drawn)
    assert all(peak(early, capacity) <= capacity.most for capacity in drawn.capacities)
    assert total_usd(early, drawn) <= total_usd(placed, drawn) + 1e-9
    assert sum(one.start for one in early) <= sum(one.start for one in placed)


@proves
@given(problems())
@settings(max_examples=10, deadline=None)
def test_cheaper_pools_and_later_deadlines_never_cost_more(drawn):
    before = worth(solver.solve_placement(drawn, [])[0], drawn)
    later = drawn._replace(windows=[(first, last + 1) for first, last in drawn.windows])
    cheaper = drawn._replace(pools=[pool._replace(usd=pool.usd / 2) for pool in drawn.pools])
    for looser in (later, cheaper):
        assert worth(solver.solve_placement(looser, [])[0], looser) <= before + 0.02


def test_runs_wait_for_machines_that_are_paid_and_rent_where_time_is_short(catalogs):
    jobs = table(
        JOB
        | {
            "job": "first",
            "examples": "50000",
            "example_tokens": "1000",
            "epochs": "3",
            "priority": "1",
        },
        JOB
        | {
            "job": "second",
            "examples": "50000",
            "example_tokens": "1000",
            "epochs": "3",
            "priority": "1",
        },
        JOB
        | {
            "job": "urgent",
            "examples": "2000000",
            "example_tokens": "1000",
            "epochs": "3",
            "deadline": "2026-12-02",
            "priority": "2",
        },
    )
    plan = schedule(jobs, table(OWNED, RENTED), catalogs, prove=False)
    assert plan.how.startswith(HEURISTIC)
    runs = plan.runs.set_index("run")
    assert list(runs.loc[["first", "second"], "pool"]) == ["ours", "ours"]
    assert runs.loc["second", "begins"] == runs.loc["first", "ends"]
    assert plan.usd == pytest.approx(runs["usd"].sum())
    pools = plan.pools.set_index("pool")
    assert pools.loc["ours", "idle_hours"] == pytest.approx(48 - pools.loc["ours", "used_hours"])
    assert pools.loc["rented", "idle_hours"] == 0


@proves
def test_one_more_machine_says_what_it_changes(catalogs):
    jobs = table(
        *(JOB | {"job": f"chat {n}", "goal": "serve", "method": "", "people": "20"} for n in (1, 2))
    )
    bought = next_to_buy(jobs, table(OWNED), catalogs)
    assert list(bought["placed_runs"]) == [1]


def test_what_is_left_out_is_never_proven(catalogs):
    """One run fits on no pool of the table, the other does."""
    large = JOB | {"job": "large", "model": "llama-3.1-405b", "method": "full"}
    job = JOB | {"examples": "50000", "example_tokens": "1000", "epochs": "3"}
    for prove in (True, False):
        plan = schedule(table(job, large), table(OWNED), catalogs, prove)
        assert plan.left_out == 1
        assert "proven" not in plan.how
        assert plan.how.endswith("1 run is left out, so the bill is not that of all jobs")
        assert pd.isna(plan.least_usd)


@pytest.mark.parametrize(
    ("usd", "least_usd", "says"),
    [
        (100.0, 100.0, "proven: on the machines listed, no plan costs less"),
        (110.0, 100.0, "at most 10.0 % above the least possible"),
        (110.0, 0.0, "at most $110 above the least possible"),
        (110.0, float("nan"), "no bound was found in time"),
    ],
)
def test_a_search_that_ends_early_states_its_gap(usd, least_usd, says):
    assert how_good(usd, least_usd, 0).startswith(says)


@proves
def test_a_search_without_time_or_with_too_many_priorities_says_that_nothing_is_proven(
    monkeypatch,
):
    drawn = problem([(run, 0, 1, 5, 3.0) for run in range(3)], [(1, 0.0)], [(0, 60)] * 3)
    hint = cheapest_first(drawn)
    monkeypatch.setattr(solver, "SEARCH_SECONDS", 0.0)
    placed, least = solver.solve_placement(drawn, hint)
    assert (placed, pd.isna(least)) == (hint, True)
    monkeypatch.setattr(solver, "SEARCH_SECONDS", 4.0)
    many = problem(
        [(run, 0, 1, 5, 3.0) for run in range(400)],
        [(1, 0.0)],
        [(0, 600)] * 400,
        {run: run % 9 + 1 for run in range(400)},
    )
    placed, least = solver.solve_placement(many, hint)
    assert (placed, pd.isna(least)) == (hint, True)


def test_plans_that_cost_less_apart_bring_machines_on_which_the_schedule_costs_as_little(catalogs):
    jobs = table(JOB | {"examples": "50000", "example_tokens": "1000", "epochs": "3"})
    pools = table(RENTED | {"region": "us-east-1"})
    before = schedule(jobs, pools, catalogs)
    apart = plans_apart(jobs, catalogs)
    assert apart.saves(before.usd)
    after = schedule(jobs, with_pools_of(pools, apart.rows), catalogs)
    assert after.usd <= apart.usd * 1.001
    assert not apart.saves(after.usd)


def test_a_run_without_a_place_says_why(catalogs):
    plan = schedule(
        table(JOB | {"model": "llama-3.1-405b", "method": "full"}), table(RENTED), catalogs
    )
    assert plan.runs["pool"].isna().all()
    assert "rented" in plan.runs["problem"][0]


def test_the_job_of_plan_is_placed_on_its_page():
    app = pages.opened("team")
    app.button(key="team_add").click()
    assert pages.run(app).title[0].value.startswith("1 run finds a place, for")


def test_the_answers_of_the_bill_come_with_their_jobs_and_machines():
    served = "served~market~on-demand~work~inference~model~qwen2.5-7b~instance~g6e.xlarge"
    tuned = "tuned~market~on-demand~model~llama-3.1-8b~instance~p5.48xlarge~gpus~8~sharding~zero3"
    app = pages.opened("team", kept=[tuned, served])
    app.button(key="team_add_kept").click()
    title = pages.run(app).title[0].value
    assert title.startswith("2 runs find a place, for")
    jobs, pools = (app.session_state[name] for name in ("team_jobs", "team_pools"))
    assert [name.split()[0] for name in jobs["job"]] == ["Fine-tune", "Serve"]
    assert {*pools["instance"]} >= {"p5.48xlarge", "g6e.xlarge"}
    app.button(key="team_add").click()
    assert pages.run(app).title[0].value.startswith("3 runs find a place, for")


def test_a_job_has_the_days_that_it_takes_and_its_machines_are_there_once():
    row = {"instance": "p5.48xlarge", "region": "us-east-1", "instances_needed": 3.0}
    one = job_with_dates({}, "long", date(2026, 12, 1), row | {"run_high_hours": 200.0})
    assert (one["starts"], one["deadline"]) == ("2026-12-01", "2026-12-10")
    pools = with_pools_of(table(pool_of(row, "Rented")), [row, row, row | {"market": "spot"}])
    assert pools[["pool", "instances"]].to_numpy().tolist() == [
        ["Rented", "6"],
        ["p5.48xlarge spot", "3"],
    ]


@proves
def test_ten_jobs_worked_by_hand():
    """58 instance-hours, 48 of them on two machines that are paid: ten hours are rented, at $10
    each; the one-hour job comes first.
    """
    hours = [8, 8, 8, 8, 8, 8, 4, 3, 2, 1]
    ways = [
        (run, place, 1, 60 * length, 10.0 * length * place)
        for run, length in enumerate(hours)
        for place in (0, 1)
    ]
    windows = [(0, 60 if run == 9 else 24 * 60) for run, *_ in ways]
    placed, least = solver.solve_placement(problem(ways, [(2, 0.0), (4, 0.0)], windows), [])
    assert len(placed) == 10
    assert (least, sum(one.way.usd for one in placed)) == pytest.approx((100, 100))
    assert sum(one.way.minutes for one in placed if one.way.pool == 0) == 48 * 60
    assert next(one.end for one in placed if one.way.run == 9) == 60


TUNED = JOB | {
    "confidence": "50",
    "example_tokens": "1000",
    "epochs": "3",
    "deadline": "2026-12-02",
}
TEN = {
    **{
        f"urgent {thousands}": TUNED
        | {"examples": f"{thousands}000", "deadline": "2026-12-01 01:30"}
        for thousands in (45, 50, 55)
    },
    "long": TUNED | {"examples": "450000"},
    "second": TUNED | {"examples": "400000"},
    "large": TUNED | {"model": "qwen3-32b", "examples": "100000"},
    "third": TUNED | {"model": "qwen2.5-7b", "examples": "300000"},
    "small": TUNED | {"model": "llama-3.2-1b", "examples": "900000"},
    "fourth": TUNED | {"model": "qwen2.5-7b", "examples": "220000"},
    "chat": TUNED | {"goal": "serve", "method": "", "people": "20"},
}
WHOLE = {
    "pool": "block",
    "instance": "p4d.24xlarge",
    "instances": "1",
    "market": "capacity-block",
    "usd": "450",
}


@proves
@pytest.mark.long
def test_ten_jobs_of_the_catalog_worked_by_hand(catalogs):
    """A day on one p5.48xlarge that is paid, a p4d.24xlarge for $450 in a block, and three at $20
    an hour.

    The chat takes a machine for the whole day: $450 in the block, $480 by the hour; on the p5 it
    would drive all others out. Of the three urgent runs of 33 to 40 minutes two end on the p5
    within 90 minutes; the third rents two p4d, for one is too slow: the shortest, at $41. The day
    then lacks about an hour and a half, and each of the other six leaves more: that of the least
    rent goes, at $115. Together $606.
    """

    def hours(name, place, hours_most):
        row = options(TEN[name] | place | {"hours_most": hours_most}, catalogs).rows[0]
        return row["run_hours"], int(row["instances_needed"])

    runs = [name for name in TEN if name != "chat"]
    most = {name: 1.5 if name.startswith("urgent") else 24 for name in runs}
    ours = {
        name: ceil(60 * hours(name, {"have": "1 x p5.48xlarge"}, most[name])[0]) for name in runs
    }
    rented = {
        name: hours(
            name,
            {"instance": "p4d.24xlarge", "markets": "on-demand", "instances_most": 3},
            most[name],
        )
        for name in runs
    }
    rent = {name: 20 * taken * count for name, (taken, count) in rented.items()}
    urgent, others = runs[:3], runs[3:]
    assert all(rented[name][1] == 2 for name in urgent)
    assert ours["urgent 50"] + ours["urgent 55"] < 90 < sum(ours[name] for name in urgent)
    lacking = sum(ours.values()) - ours["urgent 45"] - 24 * 60
    assert 0 < lacking < min(ours[name] for name in others)
    assert (min(urgent, key=rent.get), min(others, key=rent.get)) == ("urgent 45", "small")

    pools = table(OWNED, WHOLE, RENTED | {"instances": "3", "usd_per_hour": "20"})
    plan = schedule(table(*(job | {"job": name} for name, job in TEN.items())), pools, catalogs)
    assert plan.runs.set_index("run")["pool"].to_dict() == {
        **dict.fromkeys(runs, "ours"),
        "chat": "block",
        "urgent 45": "rented",
        "small": "rented",
    }
    assert plan.usd == pytest.approx(450 + rent["urgent 45"] + rent["small"], abs=0.05)
    assert plan.how == "proven: on the machines listed, no plan costs less"
    assert 60 * plan.pools.set_index("pool")["idle_hours"]["ours"] == pytest.approx(
        ours["small"] - lacking
    )
