"""The wide search against the plain way: estimate every row, keep what holds within the limits,
take the least.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from examples import catalogs as held_catalogs
from examples import recorded
from plain_answers import offered, sold

from calc import estimate
from calc.cost.job import billed_hours, job_of_rows
from calc.scenarios.inputs import DEFAULTS
from calc.search import ranking, wide
from calc.search.job_row import JobError
from calc.search.options import options
from calc.search.wide import best, named, wide_search
from calc.search.widened import (
    SERVED_FORMATS,
    possible,
    settled_sets,
    usual_limits,
    usual_sets,
    widened,
)

TRAIN = {
    "work": "training",
    "method": "full",
    "model": "llama-3.2-1b",
    "sequence_tokens": 2048,
    "train_tokens": 2e8,
    "confidence": "50",
}
SERVE = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "implementation": "vllm",
    "sequence_tokens": 3072,
    "prompt_tokens": 2048,
    "users": 8,
}
SERVE["confidence"] = TRAIN["confidence"]
INSTANCES = [
    "g6.12xlarge",
    "g6e.xlarge",
    "p4d.24xlarge",
    "p5.48xlarge",
    "g6f.large",
    "p5e.48xlarge",
]
FAMILIES = ["g6", "g6e", "p4d", "p5"]
TRAINING_SETS = recorded("cases/search.json")["training_sets"]
SERVING_SETS = recorded("cases/search.json")["serving_sets"]


def every_row(job, sets, catalogs):
    """Each combination of the sets on each instance type, estimated, with its money on every
    market.
    """
    names = [name for name in sets if name not in ("market", "region")]
    scenario = DEFAULTS | {name: value for name, value in job.items() if name in DEFAULTS}
    combined = product(*(sets[name] for name in names), INSTANCES)
    rows = pd.DataFrame(
        [scenario | dict(zip([*names, "instance"], values, strict=True)) for values in combined]
    )
    return sold(rows, sets["region"], sets["market"], catalogs)


def holding(rows, job, limits):
    """The rows that a search with these limits admits."""
    runs = ("yes", "emulated", "unknown") if limits.get("unverified") else ("yes",)
    fits = ("yes",) if limits.get("surely") else ("yes", "tight")
    sound = offered(rows, held_catalogs(), fits, runs) & rows["seconds"].notna()
    hours = rows["slow_hours" if limits.get("slow_end") else "hours"]
    sound &= (rows["usd"] <= limits.get("usd", np.inf)) & (
        rows["usd_per_hour"] <= limits.get("usd_per_hour", np.inf)
    )
    sound &= (rows["instances"] <= limits.get("instances", 16)) & (
        (hours <= limits.get("hours", np.inf)) | (rows["work"] != "training")
    )
    if job["work"] == "training":
        return rows[
            sound
            & rows["step_tokens"].between(
                limits.get("step_tokens", 0), limits.get("highest_step_tokens", np.inf)
            )
        ]
    return rows[sound & (rows["batch"] * rows["gpus"] / rows["tensor_parallel"] >= limits["users"])]


def searched(catalogs, job, sets, limits):
    """The wide search of a job on the instances of this file."""
    row = widened(job, sets, limits, catalogs)
    return wide_search(type(row).of(row.columns | {"instance": INSTANCES}), catalogs)


CASES = recorded("cases/search.json")["cases"]


@pytest.fixture(scope="module", params=CASES)
def case(request, catalogs):
    """A search, and every combination that it allows, estimated."""
    job, limits = CASES[request.param]
    sets = (
        TRAINING_SETS
        if job["work"] == "training"
        else SERVING_SETS | {"gpus": [1, 2, 3, 4, 6, 8, 16]}
    )
    row = widened(job, sets, limits, catalogs).columns | {
        "instance": INSTANCES,
        "gpus": sets["gpus"],
    }
    search = wide_search(type(widened(job, sets, limits, catalogs)).of(row), catalogs)
    rows = holding(every_row(job, sets, catalogs), job, limits)
    brief = (rows["work"] == "training") & (
        rows["hours"] < 2 * rows["start_hours"]
    )  # works for less time than it takes to start
    return search, rows[~brief] if (~brief).any() else rows, len(rows)


def test_a_search_finds_what_estimating_every_row_finds_and_its_frontier(case):
    search, rows, many = case
    figures, qualifying = search.ranked.candidates, search.ranked.qualifying
    assert search.possible == many > 0
    for name in ("usd", "usd_per_hour", "seconds"):
        assert figures[name][qualifying].min() == pytest.approx(rows[name].min())
    least = rows.groupby(["instance", "market"], observed=True)["usd"].min()
    names = [search.ranked.grid.places[place].instance for place in figures["place"][qualifying]]
    markets = [search.ranked.job["markets"][market] for market in figures["market"][qualifying]]
    mine = pd.Series(figures["usd"][qualifying]).groupby([names, markets]).min()
    assert mine.index.tolist() == least.index.tolist()
    assert mine.to_numpy() == pytest.approx(least.to_numpy())
    search, rows, _ = case
    edge = ranking.frontier(search.ranked.candidates, search.ranked.qualifying)
    mine = np.column_stack([search.ranked.candidates[name][edge] for name in ("usd", "seconds")])
    for point in rows[["usd", "seconds"]].to_numpy():
        assert (mine <= point * (1 + 1e-9)).all(axis=1).any()
    assert (np.diff(mine[:, 0]) >= 0).all()
    assert (np.diff(mine[:, 1]) < 0).all()


def test_the_rows_shown_are_estimates_with_their_money_and_keep_the_limits_on_latency(catalogs):
    search = searched(catalogs, TRAIN, TRAINING_SETS, {})
    rows = best(search, catalogs)
    assert (rows["problem"] == "").all()
    again = job_of_rows(estimate(rows, catalogs), rows["market"], 0, catalogs)
    for name in ("usd", "seconds", "hours", "instances", "usd_per_hour"):
        assert rows[name].to_numpy() == pytest.approx(getattr(again, name), rel=1e-12)
    assert set(named(search).values()) <= set(rows["candidate"])
    assert set(rows.loc[rows["frontier"], "candidate"]) == set(
        ranking.frontier(search.ranked.candidates, search.ranked.qualifying)
    )
    limits = {"users": 8, "output_token_seconds": 0.012, "first_token_seconds": 1}
    rows = best(searched(catalogs, SERVE, SERVING_SETS, limits), catalogs)
    assert (rows["time_per_output_token_seconds"] <= 0.012).all()
    assert (rows["time_to_first_token_seconds"] <= 1).all()
    slow = best(searched(catalogs, SERVE, SERVING_SETS, limits | {"slow_end": 1}), catalogs)
    assert (slow["time_per_output_token_high_seconds"] <= 0.012).all()


def test_a_search_in_stretches_finds_what_it_finds_at_once(catalogs, monkeypatch):
    at_once = searched(
        catalogs,
        TRAIN,
        TRAINING_SETS | {"region": [], "optimizer": ["adamw", "adamw-8bit", "adafactor"]},
        {},
    )
    monkeypatch.setattr(wide, "PAIRS_OF_A_GRID", 150)
    monkeypatch.setattr("calc.search.combinations.PAIRS_AT_ONCE", 40)
    parts = searched(
        catalogs,
        TRAIN,
        TRAINING_SETS | {"region": [], "optimizer": ["adamw", "adamw-8bit", "adafactor"]},
        {},
    )
    counted = [
        (search.tried, search.possible, *search.counts[ranking.YIELDS + 1 :])
        for search in (parts, at_once)
    ]
    assert counted[0] == counted[1]
    one, other = (best(search, catalogs).drop(columns="candidate") for search in (at_once, parts))
    pd.testing.assert_frame_equal(one, other)


def test_a_search_reports_its_progress_and_can_be_stopped(catalogs):
    class StoppedError(Exception):
        pass

    shares = []
    row = widened(TRAIN, usual_sets(settled_job(catalogs, TRAIN), catalogs), {}, catalogs)
    search = wide_search(row, catalogs, shares.append)
    assert search.tried > 500_000
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)

    def stop(_share):
        raise StoppedError

    with pytest.raises(StoppedError):
        wide_search(row, catalogs, stop)


def settled_job(catalogs, job):
    """A job with every column, as a page holds it."""
    return options(job, catalogs).job


LAWS = recorded("cases/search.json")["laws"]


@pytest.mark.parametrize("name", LAWS)
def test_the_least_money_is_never_above_that_of_the_answer(catalogs, name):
    answer = options(LAWS[name], catalogs)
    job = answer.job
    search = wide_search(
        widened(job, usual_sets(job, catalogs), usual_limits(job), catalogs), catalogs
    )
    assert answer.possible
    cheapest = search.ranked.candidates["usd"][named(search)["cheapest"]]
    assert cheapest <= answer.answers["usd"].iloc[0] * (1 + 1e-9)
    assert search.tried >= answer.tried


def test_a_job_widened_by_nothing_is_the_job(catalogs):
    """Sets and limits that say what the job says give its own least money."""
    job = settled_job(
        catalogs, TRAIN | {"instance": "p4d.24xlarge", "gpus": 8, "batch": 2, "optimizer": "adamw"}
    )
    sets = {name: [job[name]] for name in ("gpus", "batch", "optimizer")} | {
        "family": ["p4d"],
        "region": ["us-east-1"],
    }
    search = wide_search(
        widened(job, sets | {"market": ["on-demand"]}, usual_limits(job), catalogs), catalogs
    )
    least = search.ranked.candidates["usd"][named(search)["cheapest"]]
    assert least == pytest.approx(options(job, catalogs).answers["usd"].iloc[0], rel=1e-9)


@pytest.mark.parametrize("model", ["p5.48xlarge", "g6.12xlarge"])
def test_an_engine_takes_its_defaults_for_the_card(catalogs, model):
    """vLLM's start-up profile is larger on a large card: neither card may take the other's
    memory.
    """
    sets = SERVING_SETS | {
        "implementation": ["transformers", "vllm"],
        "family": [model.partition(".")[0]],
        "gpus": [1, 2, 3, 4, 6, 8],
    }
    row = widened(SERVE, sets, {"users": 8}, catalogs).columns | {
        "instance": [model, "g6f.large"],
        "gpus": sets["gpus"],
    }
    search = wide_search(type(widened(SERVE, sets, {}, catalogs)).of(row), catalogs)
    rows = every_row(
        SERVE, {name: values for name, values in sets.items() if name != "family"}, catalogs
    )
    assert search.possible == len(
        holding(rows[rows["instance"].isin([model, "g6f.large"])], SERVE, {"users": 8})
    )


def test_a_search_that_is_too_large_or_has_no_answer_says_so_and_sets_of_another_work_yield(
    catalogs,
):
    with pytest.raises(JobError, match="take fewer of batch"):
        wide_search(
            widened(TRAIN, TRAINING_SETS | {"batch": list(range(1, 300_000))}, {}, catalogs),
            catalogs,
        )
    search = searched(catalogs, TRAIN, TRAINING_SETS, {"usd": 0.01})
    assert (search.possible, best(search, catalogs).empty) == (0, True)
    assert search.problem.startswith("Nothing keeps every limit: the nearest plan, ")
    job = settled_job(catalogs, SERVE)
    sets = settled_sets(
        {"precision": ["bf16-mixed"], "optimizer": ["adamw"], "family": [], "market": ["spot"]},
        job,
        catalogs,
    )
    assert set(sets["precision"]) >= set(SERVED_FORMATS)
    assert (sets["market"], sets["family"], "optimizer" in sets) == (["spot"], [], False)
    assert set(sets["precision"]) <= {*possible("precision", "inference", catalogs), "mxfp4"}


def test_capacity_blocks_are_paid_in_whole_days_and_weeks():
    trains = np.ones(4)
    hours = np.array([0.5, 22.2, 23.6, 15 * 24])
    slow = hours * np.array([1, 1.05, 1, 1.3])
    assert billed_hours("capacity-block", trains, hours, slow).tolist() == [
        24,
        24,
        48,
        21 * 24,
    ]  # the slow end, half an hour early
    assert billed_hours("capacity-block", trains, hours, 1.1 * slow).tolist() == [
        24,
        48,
        48,
        28 * 24,
    ]
    days = billed_hours("capacity-block", np.ones(2), np.zeros(2), np.array([182, 181.9]) * 24)
    assert np.isnan(days[0])  # no block is as long
    assert days[1] == 182 * 24
    assert np.isnan(
        billed_hours("capacity-block", np.zeros(1), np.array([200.0]), np.array([200.0]))
    ).all()  # a service does not end
    assert billed_hours("on-demand", trains, hours, slow).tolist() == hours.tolist()
    assert billed_hours(
        "commit-1y", np.zeros(1), np.array([100.0]), np.array([100.0])
    ).tolist() == [730]
