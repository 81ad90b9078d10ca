"""The tables of jobs and pools: repeated runs, bad cells, and how many are planned."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_schedule import JOB, OWNED, RENTED, table

from calc.scenarios.problems import TableError
from calc.schedule.schedule import HEURISTIC, next_to_buy, schedule
from calc.schedule.team_tables import runs_of


def test_a_job_is_repeated_until_a_day():
    runs = runs_of(table(JOB | {"every": "week", "until": "2026-12-15", "job": "weekly"}))
    assert [(run.name, run.starts.day, run.deadline.day) for run in runs] == [
        ("weekly #1", 1, 3),
        ("weekly #2", 8, 10),
        ("weekly #3", 15, 17),
    ]


@pytest.mark.parametrize(
    ("job", "pool", "says"),
    [
        ({"deadline": "2026-11-01"}, {}, "jobs, line 2: a job needs a start and a later deadline"),
        ({"starts": "soon"}, {}, "jobs, line 2: starts 'soon' is not a date"),
        ({"every": "year"}, {}, "every 'year' is not known; use once, day, week, month"),
        ({"every": "day"}, {}, "needs 'until'"),
        ({}, {"instance": "p4d.24xlarg"}, "instance 'p4d.24xlarg' is not known; use p4d.24xlarge"),
        ({}, {"market": "auction"}, "market 'auction' is not known"),
        ({}, {"instances": "-1"}, "instances '-1' is not a whole number from 0 up"),
        ({"priority": "1.5"}, {}, "priority '1.5' is not a whole number from 0 to 9"),
        ({"every": "week", "until": "2026-11-01"}, {}, "jobs, line 2: until is before the start"),
        (
            {},
            {"starts": "2026-12-05", "ends": "2026-12-01"},
            "pools, line 2: a pool ends after it starts",
        ),
        ({}, {"region": "mars"}, "region 'mars' is not known"),
        ({}, {"instances": "513"}, "pools, line 2: a pool has at most 512 instances.* not 513"),
        ({}, {"usd": "1e12"}, "pools, line 2: usd '1e12' is not a number from 0 to 100,000,000"),
        ({}, {"quota_vcpus": "1e300"}, "pools, line 2: quota_vcpus '1e300' is not a number"),
        ({"priority": "10"}, {}, "jobs, line 2: priority '10' is not a whole number from 0 to 9"),
    ],
)
def test_a_bad_cell_is_one_sentence(job, pool, says, catalogs):
    with pytest.raises(TableError, match=says):
        schedule(table(JOB | job), table(RENTED | pool), catalogs)


@pytest.mark.parametrize(
    ("every", "until", "runs"),
    [
        ("day", "2028-12-01", 732),
        ("day", "2028-11-30 23:59", 731),
        ("week", "2036-11-30", 522),
        ("month", "2066-12-01", 481),
        ("day", "2200-01-01", 63_219),
    ],
)
def test_more_runs_than_are_planned_are_counted_and_refused(every, until, runs):
    jobs = table(JOB, JOB | {"every": every, "until": until})
    count = rf"make {runs + 1:,} runs \(jobs, line 3: {runs:,} of them\); give 1 to 400"
    with pytest.raises(TableError, match=count):
        runs_of(jobs)


@given(
    first=st.datetimes(pd.Timestamp("2026-01-01"), pd.Timestamp("2028-12-31")),
    days=st.integers(0, 399),
    every=st.sampled_from(["day", "week", "month"]),
)
def test_every_run_until_the_last_day_is_there_and_none_later(first, days, every):
    starts = pd.Timestamp(first).floor("min")
    until = (starts + pd.Timedelta(days=days)).date()
    dates = {"starts": f"{starts}", "deadline": f"{starts + pd.Timedelta(days=1)}"}
    runs = runs_of(table(JOB | dates | {"every": every, "until": f"{until}"}))
    step = pd.DateOffset(**{f"{every}s": 1})
    assert [run.starts for run in runs] == [starts + n * step for n in range(len(runs))]
    assert runs[-1].starts.date() <= until < (starts + len(runs) * step).date()


def test_four_hundred_runs_are_all_placed(catalogs):
    daily = JOB | {"deadline": "2026-12-02", "every": "day", "until": "2028-01-04", "epochs": "3"}
    tuned = daily | {"examples": "50000", "example_tokens": "1000"}
    plan = schedule(table(tuned), table(OWNED), catalogs, prove=False)
    assert (len(plan.runs), plan.left_out) == (400, 0)
    assert plan.how == HEURISTIC


def test_a_pool_of_the_largest_size_takes_a_run_and_is_offered_no_more(catalogs):
    pools = table(RENTED | {"instances": "512"})
    job = JOB | {"examples": "50000", "example_tokens": "1000", "epochs": "3"}
    assert schedule(table(job), pools, catalogs, prove=False).left_out == 0
    assert next_to_buy(table(job), pools, catalogs).empty
