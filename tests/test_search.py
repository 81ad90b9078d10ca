"""The search against the plain way: estimate every row, keep what holds within the limits, take the least."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from calc import estimate
from calc.cost.job import billed_hours, job_of_rows
from calc.cost.markets import MARKETS
from calc.scenarios.inputs import DEFAULTS
from calc.search.frontier import best, frontier, named
from calc.search.limits import OPEN, Limits, limits_of, step_limits, usual_limits
from calc.search.questions import lora_within_a_week, serving_users
from calc.search.search import SearchError, search
from calc.search.space import Space, instances_of, usual

TRAIN = DEFAULTS | {"model": "llama-3.2-1b", "precision": "bf16-mixed", "sequence_tokens": 2048, "train_tokens": 2e8}
SERVE = DEFAULTS | {"work": "inference", "model": "llama-3.1-8b", "precision": "bf16", "implementation": "vllm"}
SERVE |= {"sequence_tokens": 3072, "prompt_tokens": 2048}
INSTANCES = ["g6.12xlarge", "g6e.xlarge", "p4d.24xlarge", "p5.48xlarge", "g6f.large", "p5e.48xlarge"]
TRAINING_SETS = {
    "optimizer": ["adamw", "adamw-8bit"],
    "recompute": ["none", "full"],
    "sharding": ["none", "zero3"],
    "batch": [1, 4],
    "gpus": [1, 8, 16],
    "tensor_parallel": [1, 2],
    "instance": INSTANCES,
    "region": ["us-east-1", "eu-north-1"],
    "market": ["on-demand", "spot"],
}
SERVING_SETS = {
    "precision": ["bf16", "fp8", "nf4"],
    "batch": [1, 8, 64],
    "gpus": [1, 2, 8],
    "tensor_parallel": [1, 2, 4],
    "instance": INSTANCES,
    "region": ["us-east-1", "eu-north-1"],
    "market": ["on-demand", "spot"],
}
MARKET_COLUMNS = {"on-demand": "on_demand", "spot": "spot"}


def brute(workload, allowed, catalogs, users=0):
    """Every combination as a row of estimate, with USD, hours and seconds read from the contract's columns."""
    names = [name for name in allowed if name != "market"]
    rows = [dict(zip(names, values, strict=True)) for values in product(*(allowed[name] for name in names))]
    result = estimate(pd.DataFrame([{**workload, **row} for row in rows]), catalogs, solve=False)
    parts = []
    for market in allowed["market"]:
        column = MARKET_COLUMNS[market]
        each = result.assign(market=market, per_hour=result[f"usd_per_hour_{column}"])
        if workload["work"] == "training":
            each = each.assign(usd=each[f"run_usd_{column}"], instances=each["instances_needed"])
            each["hours"] = each["run_hours"] if market == "on-demand" else each["spot_run_hours"]
            each["seconds"] = each["hours"] * 3600
        else:
            replicas = each["gpus"] / (each["tensor_parallel"] * each["pipeline_parallel"])
            each["copies"] = np.maximum(np.ceil(users / (each["batch"] * replicas)), 1)
            spare = each["spare_instances"] * (market == "spot")  # once, however many copies there are
            each["instances"] = each["instances_needed"] * each["copies"] + spare
            each["per_hour"] *= each["instances"] / (each["instances_needed"] + spare)
            each = each.assign(usd=each["per_hour"] * each["hours_per_month"], hours=each["hours_per_month"])
            each["seconds"] = each["time_per_output_token_seconds"]
        parts.append(each)
    return pd.concat(parts, ignore_index=True)


def holding(rows, limits):
    runs = ("yes", "emulated", "unknown") if limits.unverified else ("yes",)
    sound = rows["fits"].isin(("yes", "tight")) & (rows["problem"] == "") & rows["usd"].notna() & rows["runs"].isin(runs)
    sound &= rows["seconds"].notna()
    slow = (rows["tokens_per_second"] / rows["low_tokens_per_second"]).where(rows["work"] == "training", 1.0) if limits.slow_end else 1.0
    cheap = (rows["usd"] <= limits.usd) & (rows["per_hour"] <= limits.usd_per_hour) & (rows["hours"] * slow <= limits.hours)
    return rows[sound & cheap & (rows["instances"] <= limits.instances)]


@pytest.mark.parametrize(
    ("workload", "allowed", "limits"),
    [
        (TRAIN, TRAINING_SETS, OPEN),
        (TRAIN, TRAINING_SETS, Limits(usd_per_hour=10)),
        (TRAIN, TRAINING_SETS, Limits(instances=1, hours=1.5)),
        (TRAIN, TRAINING_SETS, Limits(instances=1, hours=1.5, slow_end=1)),
        (TRAIN, TRAINING_SETS, Limits(usd=12)),
        (SERVE, SERVING_SETS, OPEN),
        (SERVE, SERVING_SETS, Limits(users=200, usd_per_hour=60)),
        (TRAIN | {"model": "gemma-2-2b"}, TRAINING_SETS, OPEN),
        (TRAIN | {"model": "gemma-2-2b"}, TRAINING_SETS, Limits(unverified=1)),
    ],
    ids=["run", "per hour", "deadline", "deadline at the slow end", "in all", "serve", "200 users", "wide heads", "emulated too"],
)
def test_search_finds_what_estimating_every_row_finds(catalogs, workload, allowed, limits):
    found = search(workload, allowed, limits, catalogs)
    rows = brute(workload, allowed, catalogs, limits.users)
    held = holding(rows, limits)
    assert found.evaluated == len(rows) == sum(found.counts.values())
    assert found.counts["held"] == len(held) > 0
    assert found.counts["too large"] == ((rows["fits"] == "no") & (rows["problem"] == "")).sum()
    assert found.candidates["usd"].min() == pytest.approx(held["usd"].min())
    assert found.candidates["usd_per_hour"].min() == pytest.approx(held["per_hour"].min())
    assert found.candidates["seconds"].min() == pytest.approx(held["seconds"].min())
    mine = found.candidates.groupby(["instance", "market"])["usd"].min()
    assert mine.to_numpy() == pytest.approx(held.groupby(["instance", "market"])["usd"].min().to_numpy())


def test_the_frontier_is_that_of_every_row(catalogs):
    found = search(TRAIN, TRAINING_SETS, OPEN, catalogs)
    held = holding(brute(TRAIN, TRAINING_SETS, catalogs), OPEN)
    edge = frontier(found.candidates)
    mine, all_rows = edge[["usd", "seconds"]].to_numpy(), held[["usd", "seconds"]].to_numpy()
    for usd, seconds in all_rows:  # none is better than the whole frontier
        assert ((mine[:, 0] <= usd * (1 + 1e-9)) & (mine[:, 1] <= seconds * (1 + 1e-9))).any()
    for usd, seconds in mine:  # and none of the frontier is beaten
        no_worse = (all_rows[:, 0] <= usd * (1 + 1e-9)) & (all_rows[:, 1] <= seconds * (1 + 1e-9))
        assert no_worse.any()
        assert not (no_worse & ((all_rows[:, 0] < usd * (1 - 1e-9)) | (all_rows[:, 1] < seconds * (1 - 1e-9)))).any()
    assert len(mine) > 1
    assert (np.diff(mine[:, 0]) > 0).all()
    assert (np.diff(mine[:, 1]) < 0).all()


def test_the_rows_shown_are_estimates_and_their_jobs(catalogs):
    found = search(TRAIN, TRAINING_SETS, OPEN, catalogs)
    rows = best(found, catalogs)
    assert (rows["problem"] == "").all()
    assert rows["fits"].isin(("yes", "tight")).all()
    again = job_of_rows(rows, rows["found_market"], 0, catalogs)
    assert rows["found_usd"].to_numpy() == pytest.approx(again.usd)
    assert rows["found_seconds"].to_numpy() == pytest.approx(again.seconds)
    firsts = named(found.candidates)
    assert set(firsts.values()) <= set(rows["candidate"])
    spot = rows[rows["found_market"] == "spot"]
    assert spot["found_usd"].to_numpy() == pytest.approx(spot["run_usd_spot"].to_numpy())
    assert (spot["found_hours"] > spot["run_hours"]).all()


def test_limits_on_the_step_and_on_latency_are_kept(catalogs):
    found = search(TRAIN, TRAINING_SETS, Limits(step_tokens=16384, highest_step_tokens=32768), catalogs)
    rows = best(found, catalogs)
    tokens = rows["batch"] * rows["sequence_tokens"] * rows["gpus"] / rows["tensor_parallel"]
    assert tokens.between(16384, 32768).all()
    served = best(search(SERVE, SERVING_SETS, Limits(output_token_seconds=0.012, first_token_seconds=1), catalogs), catalogs)
    assert len(served)
    assert (served["time_per_output_token_seconds"] <= 0.012).all()
    assert (served["time_to_first_token_seconds"] <= 1).all()
    sure = best(search(TRAIN, TRAINING_SETS, Limits(surely=1), catalogs), catalogs)
    assert set(sure["fits"]) == {"yes"}


def test_the_slow_end_of_the_range_keeps_the_limits_on_time_where_it_is_asked_to(catalogs):
    """A run of an 8B model that the middle of the range ends in a week and its slow end does not."""
    workload = TRAIN | {"model": "llama-3.1-8b", "train_tokens": 1e9, "gpus": 8, "sharding": "zero3", "recompute": "full"}
    sets = {"instance": ["p4d.24xlarge"], "region": ["us-east-1"], "market": ["on-demand"]}
    central = search(workload, sets, OPEN, catalogs).candidates.iloc[0]
    deadline = (central["hours"] + central["slow_hours"]) / 2
    assert central["hours"] < deadline < central["slow_hours"]
    assert len(search(workload, sets, Limits(hours=deadline), catalogs).candidates) == 1
    assert search(workload, sets, Limits(hours=deadline, slow_end=1), catalogs).candidates.empty
    served = estimate(SERVE | {"instance": "p5.48xlarge", "region": "us-east-1"}, catalogs, solve=False)
    one = {"instance": ["p5.48xlarge"], "region": ["us-east-1"], "market": ["on-demand"]}
    for limit, column in (("first_token_seconds", "time_to_first_token"), ("output_token_seconds", "time_per_output_token")):
        pace = (served[f"{column}_seconds"] + served[f"{column}_high_seconds"]) / 2
        assert len(search(SERVE, one, Limits(**{limit: pace}), catalogs).candidates) == 1
        assert search(SERVE, one, Limits(**{limit: pace}, slow_end=1), catalogs).candidates.empty


def test_the_usual_search_keeps_the_tokens_of_a_step(catalogs):
    """An 8B at 16,384 tokens a step is not beaten by one that takes an eighth of the steps."""
    workload = TRAIN | {"model": "llama-3.1-8b", "train_tokens": 1e9, "gpus": 8, "sharding": "zero3"}
    sets = usual(workload) | {"instance": ["p4d.24xlarge", "p5.48xlarge"], "precision": ["bf16-mixed"], "market": ["on-demand"]}
    limits = usual_limits(workload, catalogs)
    assert (limits["step_tokens"], limits["highest_step_tokens"]) == (8192, 32768)
    kept = best(search(workload, sets, limits_of(limits), catalogs), catalogs)
    assert kept["step_tokens"].between(8192, 32768).all()
    assert kept["optimizer_steps"].to_numpy() == pytest.approx(1e9 / kept["step_tokens"].to_numpy())
    free = best(search(workload, sets, Limits(surely=1), catalogs), catalogs)
    assert free.sort_values("found_usd")["step_tokens"].iloc[0] > 32768
    refused = {"instance": "g4dn.xlarge", "gpus": 1, "sharding": "none"}  # bf16 on a T4: no times, and a step all the same
    assert step_limits(workload | refused, catalogs) == {"step_tokens": 1024, "highest_step_tokens": 4096}
    assert step_limits(workload | {"gpus": 7, "tensor_parallel": 2}, catalogs) == {}  # no such layout, no step


@pytest.mark.parametrize("instance", ["p5.48xlarge", "g6.12xlarge"])
@pytest.mark.parametrize("software", [["vllm"], ["transformers", "vllm"]], ids=len)
def test_an_engine_takes_its_defaults_for_the_card(catalogs, instance, software):
    """vLLM's start-up profile is larger on a large card: neither card may take the other's memory, whatever stands beside it."""
    sets = SERVING_SETS | {"instance": [instance], "implementation": software}
    found = search(SERVE, sets, OPEN, catalogs)
    assert found.counts["held"] == len(holding(brute(SERVE, sets, catalogs), OPEN))


def test_an_empty_region_is_anywhere_and_an_empty_family_all(catalogs):
    sets = TRAINING_SETS | {"instance": ["p5.48xlarge"], "gpus": [8], "region": []}
    found = search(TRAIN, sets, OPEN, catalogs)
    assert found.candidates["region"].nunique() > 5
    all_of_them = instances_of({"family": []}, catalogs)
    assert "p5.48xlarge" in all_of_them
    assert not set(all_of_them) & set(catalogs.instances.index[~catalogs.instances["current"]])
    assert set(instances_of({"family": ["g6e"]}, catalogs)) <= {name for name in all_of_them if name.startswith("g6e.")}


def test_capacity_blocks_are_paid_in_whole_days_and_weeks(catalogs):
    trains = np.ones(4)
    hours = np.array([0.5, 24, 25, 15 * 24])
    assert billed_hours("capacity-block", trains, hours).tolist() == [24, 24, 48, 21 * 24]
    assert billed_hours("capacity-block", np.zeros(2), np.array([200.0, 730.0])).tolist() == [9 * 24, 31 * 24]
    assert billed_hours("on-demand", trains, hours).tolist() == hours.tolist()
    assert billed_hours("commit-1y", np.zeros(1), np.array([100.0])).tolist() == [730]
    sets = TRAINING_SETS | {"instance": ["p5.48xlarge"], "market": ["capacity-block"], "gpus": [8]}
    found = search(TRAIN, sets, OPEN, catalogs)
    assert found.candidates["usd"].min() == pytest.approx(24 * 37.76)


def test_nothing_within_the_limits_is_no_error(catalogs):
    found = search(TRAIN, TRAINING_SETS, Limits(usd=0.01), catalogs)
    assert found.counts["held"] == 0
    assert best(found, catalogs).empty


def test_too_many_ways_are_refused_with_what_multiplies_most(catalogs):
    sets = TRAINING_SETS | {"batch": list(range(1, 3000)), "region": [], "instance": []}
    with pytest.raises(SearchError, match="batch multiplies most"):
        search(TRAIN, sets, OPEN, catalogs)


def test_the_usual_sets_are_about_a_million_ways_and_hold_the_plan_itself(catalogs):
    for workload in (TRAIN, SERVE):
        sets = usual(workload)
        assert all(workload[name] in sets[name] for name in sets if name in DEFAULTS)
        ways = Space(workload, sets).size * len(instances_of(sets, catalogs)) * len(sets["market"])
        assert 500_000 < ways < 5_000_000
        assert limits_of(usual_limits(workload, catalogs)).instances == 16


def test_the_presets_ask_for_what_they_say(catalogs):
    asked, sets, limits = lora_within_a_week(TRAIN, catalogs)
    assert (asked["tuning"], sets["tuning"], limits["hours"]) == ("lora", ["lora"], 168)
    assert catalogs.precisions.loc[sets["precision"], "adapts"].all()
    asked, sets, limits = serving_users(TRAIN, catalogs, 20)
    assert (asked["work"], limits["users"]) == ("inference", 20)
    assert 20 in sets["batch"]
    assert catalogs.precisions.loc[sets["precision"], "serves"].all()


def test_a_million_ways_report_their_progress(catalogs):
    shares = []
    found = search(TRAIN, usual(TRAIN), OPEN, catalogs, shares.append)
    assert found.evaluated > 1_000_000
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert set(MARKETS) >= set(found.candidates["market"])


def test_fifty_users_are_served_by_one_card_with_the_first_token_in_time(catalogs):
    """The limit is that of one arriving prompt, not of fifty at one moment: three cards would be paid for nothing."""
    workload = SERVE | {"precision": "fp8", "batch": 50, "sequence_tokens": 2048, "prompt_tokens": 1024}
    allowed = {"instance": ["g6e.xlarge"], "region": ["us-east-1"], "market": ["on-demand"]}
    limits = Limits(users=50, first_token_seconds=1.5, surely=1)
    row = best(search(workload, allowed, limits, catalogs), catalogs).iloc[0]
    assert (row["found_instances"], row["fits"]) == (1, "yes")
    assert row["time_to_first_token_seconds"] < 1.5 < row["burst_first_token_seconds"]
