"""The engine against the plain way: estimate every row, keep what holds within the limits, take the
least.
"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from examples import catalogs as held_catalogs
from examples import recorded
from plain_answers import offered, sold

from calc.answers.full_answer import full_answer as options
from calc.cost.job import billed_hours
from calc.job.cells import JobRow
from calc.job.resolve import usable_choices
from calc.scenarios.inputs import DEFAULTS
from calc.search import ranking
from calc.search.first_rows import first_row, first_rows
from calc.search.rankings import _recent_results, ranking_of

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


NO_LIMIT = 1e15
LIMITS = {  # a limit of a case -> the column of the job
    "usd": "usd_most",
    "usd_per_hour": "usd_per_hour_most",
    "hours": "hours_most",
    "first_token_seconds": "first_token_seconds",
    "output_token_seconds": "token_seconds",
}


def ranked_of(job, sets, limits, catalogs):
    """The ranking of a job whose settings are freed to sets, under these limits and no others."""
    row = job | {name: values for name, values in sets.items() if name not in ("region", "market")}
    row |= {column: limits.get(name, NO_LIMIT) for name, column in LIMITS.items()}
    row |= {"instances_most": limits.get("instances", 16), "instance": INSTANCES}
    row |= {"regions": "+".join(sets["region"]), "markets": "+".join(sets["market"])}
    admitted = {"tight": not limits.get("surely"), "unverified": limits.get("unverified")}
    row["admits"] = "+".join(name for name, is_admitted in admitted.items() if is_admitted)
    row["confidence"] = "95" if limits.get("slow_end") else "50"
    if job["work"] == "inference":
        row["users"] = limits["users"]
    else:
        low = limits.get("step_tokens", 1)
        high = limits.get("highest_step_tokens", job["train_tokens"])
        middle = max(round((low * max(high, low)) ** 0.5), 1)
        row |= {"step_tokens": middle, "step_factor": max(high / middle, middle / low, 1.0)}
        row.pop("method")
    return ranking_of(JobRow.of(row), catalogs)


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
    ranked = ranked_of(job, sets, limits, catalogs)
    rows = holding(every_row(job, sets, catalogs), job, limits)
    return ranked, rows, len(rows)


@pytest.mark.sample(3)
def test_a_search_finds_what_estimating_every_row_finds_and_its_frontier(case):
    ranked, rows, many = case
    figures, qualifying = ranked.candidates, ranked.qualifying
    assert (ranked.classes <= ranking.NEEDS_AGREEMENT).sum() == many > 0
    for name in ("usd", "usd_per_hour", "seconds"):
        assert getattr(figures, name)[qualifying].min() == pytest.approx(rows[name].min())
    least = rows.groupby(["instance", "market"], observed=True)["usd"].min()
    names = [ranked.grid.places[place].instance for place in figures.place_number[qualifying]]
    markets = [ranked.job.markets[market] for market in figures.market_number[qualifying]]
    mine = pd.Series(figures.usd[qualifying]).groupby([names, markets]).min()
    assert mine.index.tolist() == least.index.tolist()
    assert mine.to_numpy() == pytest.approx(least.to_numpy())
    edge = ranking.frontier(ranked.candidates, ranked.qualifying)
    mine = np.column_stack([getattr(ranked.candidates, name)[edge] for name in ("usd", "seconds")])
    for point in rows[["usd", "seconds"]].to_numpy():
        assert (mine <= point * (1 + 1e-9)).all(axis=1).any()
    assert (np.diff(mine[:, 0]) >= 0).all()
    assert (np.diff(mine[:, 1]) < 0).all()


def test_limits_on_latency_are_kept_at_both_ends_of_the_range(catalogs):
    limits = {"users": 8, "output_token_seconds": 0.012, "first_token_seconds": 1}
    usual = ranked_of(SERVE, SERVING_SETS, limits, catalogs)
    figures, best = usual.candidates, usual.qualifying
    assert (figures.token_seconds[best] <= 0.012).all()
    assert (figures.first_token_seconds[best] <= 1).all()
    slow = ranked_of(SERVE, SERVING_SETS, limits | {"slow_end": 1}, catalogs)
    figures, best = slow.candidates, slow.qualifying
    assert (figures.token_seconds * figures.slow_token_ratio)[best].max() <= 0.012


def test_candidates_in_parts_are_those_at_once(catalogs, monkeypatch):
    sets = TRAINING_SETS | {"optimizer": ["adamw", "adamw-8bit", "adafactor"]}
    at_once = ranked_of(TRAIN, sets, {}, catalogs)
    _recent_results(catalogs).cache_clear()
    monkeypatch.setattr("calc.search.search_results.PAIRS_AT_ONCE", 40)
    parts = ranked_of(TRAIN, sets, {}, catalogs)
    assert len(parts.classes) == len(at_once.classes) > 0
    for name in ("usd", "seconds", "hours"):
        one, other = (np.sort(getattr(each.candidates, name)) for each in (at_once, parts))
        assert one == pytest.approx(other, rel=1e-9)
    _recent_results(catalogs).cache_clear()


@pytest.mark.parametrize("model", ["p5.48xlarge", "g6.12xlarge"])
def test_an_engine_takes_its_defaults_for_the_card(catalogs, model):
    """vLLM's start-up profile is larger on a large card: neither card may take the other's
    memory.
    """
    sets = SERVING_SETS | {
        "implementation": ["transformers", "vllm"],
        "gpus": [1, 2, 3, 4, 6, 8],
    }
    ranked = ranked_of(SERVE, sets, {"users": 8}, catalogs)
    names = np.array([place.instance for place in ranked.grid.places])
    qualifying = names[ranked.candidates.place_number[ranked.classes <= ranking.NEEDS_AGREEMENT]]
    rows = every_row(SERVE, sets, catalogs)
    assert np.count_nonzero(qualifying == model) == len(
        holding(rows[rows["instance"] == model], SERVE, {"users": 8})
    )


def test_settings_that_multiply_too_far_are_refused_with_the_longest_list(catalogs):
    job = TRAIN | {"batch": list(range(1, 6000)), "optimizer": ["adamw", "adafactor"]}
    assert "batch" in options(job, catalogs).problem
    assert set(usable_choices("precision", "inference", catalogs)) >= {"bf16", "fp8", "awq-4bit"}


def test_capacity_blocks_are_paid_in_whole_days_and_weeks():
    trains = np.ones(4)
    hours = np.array([0.5, 22.2, 23.6, 15 * 24])
    slow = hours * np.array([1, 1.05, 1, 1.3])
    # The slow end, half an hour early.
    assert billed_hours("capacity-block", trains, hours, slow).tolist() == [
        24,
        24,
        48,
        21 * 24,
    ]
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


@pytest.mark.long
@pytest.mark.parametrize(
    "job",
    [
        {"work": "training", "model": "llama-3.2-1b", "train_tokens": 1e8},
        {"work": "inference", "model": "llama-3.1-70b", "requests_per_second": 2},
        {"work": "inference", "model": "deepseek-v3", "users": 20},
    ],
)
def test_jobs_that_are_searched_together_have_the_answers_of_each_alone(catalogs, job):
    changes = [
        {},
        {"markets": "spot"},
        {"regions": "anywhere"},
        {"instances_most": 2},
        {"precision": "bf16"},
        {"precision": "fp8"},
        {"gpu": "a100-80gb"},
        {"model": "no-such-model"},
        {"sequence_tokens": 512},
    ]
    jobs = [{**job, **change} for change in changes]
    together = first_rows(jobs, catalogs)
    assert together[changes.index({"model": "no-such-model"})] is None
    for row, alone in zip(together, [first_row(one, catalogs) for one in jobs], strict=True):
        assert (row is None) == (alone is None)
        if row:
            assert {name: row[name] for name in row} == pytest.approx(alone, nan_ok=True)
