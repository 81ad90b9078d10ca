"""The load of a service: spare machines, machines that rest below the peak, and what both cost."""

import numpy as np
import pytest
from examples import bill_row, least_usd, one, recorded

from calc import estimate
from calc.answers.full_answer import full_answer as options
from calc.cost.markets import BY_USE, MARKETS, sold_for
from calc.plan.bill import lines, on_markets
from calc.say.numbers import count, usd

SERVED = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "implementation": "vllm",
    "instance": "g6e.xlarge",
    "gpus": 7,
    "batch": 8,
}
HOURLY = {"scales": "hourly", "peak_to_mean": 3}
JOBS = recorded("cases/load.json")["jobs"]


@pytest.mark.parametrize(
    "job", [JOBS[0], *(pytest.param(job, marks=pytest.mark.long) for job in JOBS[1:])], ids=str
)
@pytest.mark.long
def test_more_spare_machines_never_cost_less_and_a_wider_swing_of_the_load_never_more(
    job, catalogs
):
    usual = least_usd(job, catalogs)
    spared = [least_usd(job | {"spare": spare}, catalogs) for spare in (0, 1, 2)]
    assert spared == sorted(spared)
    assert spared[0] == usual < spared[2]  # on spot one is there for interruptions
    assert least_usd(job | {"peak_to_mean": 4}, catalogs) == usual  # it does not scale
    scaled = [
        least_usd(job | {"scales": "hourly", "peak_to_mean": ratio}, catalogs)
        for ratio in (1, 1.5, 4, 1000)
    ]
    assert scaled[0] == usual
    assert scaled == sorted(scaled, reverse=True)


@pytest.mark.parametrize(
    ("gpus", "instance", "tensor", "peak_to_mean", "running"),
    [
        (7, "g6e.xlarge", 1, 3, 3),  # 2.33 of 7 instances, each with a replica
        (7, "g6e.xlarge", 1, 100, 1),
        (6, "g6e.xlarge", 1, 3, 2),
        (64, "p5.48xlarge", 8, 4, 2),
        (64, "p5.48xlarge", 16, 3, 4),  # a replica takes two instances
        (4, "p5.48xlarge", 1, 4, 1),
    ],
)
def test_at_the_mean_load_whole_machines_and_whole_replicas_run(
    gpus, instance, tensor, peak_to_mean, running
):
    pipeline = max(tensor // 8, 1)
    layout = {
        "gpus": gpus,
        "instance": instance,
        "tensor_parallel": min(tensor, 8),
        "pipeline_parallel": pipeline,
    }
    row = one(**SERVED | layout, scales="hourly", peak_to_mean=peak_to_mean, spare=1)
    assert row["resting_instances"] == row["instances_needed"] - running
    price = row["instance_usd_per_hour_on_demand"]
    assert row["usd_per_hour_on_demand"] == pytest.approx((row["instances_needed"] + 1) * price)
    assert row["usd_per_month_on_demand"] == pytest.approx((running + 1) * price * 730)


@pytest.mark.parametrize("market", ["on-demand", "spot", "reserved-1y-no-upfront"])
@pytest.mark.parametrize(
    "more",
    [
        {"spare": 2},
        HOURLY,
        {"spare": 2, **HOURLY},
        {"served_tokens_per_second": 50_000, "spare": 2, **HOURLY},
    ],
)
def test_the_lines_of_a_bill_sum_to_it_and_a_commitment_never_rests(market, more, catalogs):
    plain, row = (bill_row(catalogs, market, **SERVED | changes) for changes in ({}, more))
    parts = lines(row).set_index("line")
    assert parts["usd"].sum() == pytest.approx(row["usd"])
    spare = max(more.get("spare", 0), MARKETS[market].interrupted)
    hourly = row["usd_per_hour"] / row["instances"]
    assert parts["usd"].get("spare", 0) == pytest.approx(spare * hourly * row["billed_hours"])
    load = row["load_instances"] if more.get("served_tokens_per_second") else 7
    assert row["instances"] == load + spare
    rests = "scales" in more and market != "reserved-1y-no-upfront"
    assert row["resting_instances"] == (load - np.ceil(load / 3) if rests else 0)
    assert plain["usd_per_hour"] == pytest.approx(hourly * (7 + MARKETS[market].interrupted))


def test_every_market_of_a_scaled_service_has_one_end_and_a_run_neither_rests_nor_has_a_spare(
    catalogs,
):
    row = bill_row(catalogs, **SERVED, **HOURLY, spare=1)
    markets = on_markets(row, catalogs).set_index("market")
    assert markets["usd"]["on-demand"] == row["usd"] == row["usd_per_month_on_demand"]
    priced = markets.dropna(subset="usd")
    assert priced["low_usd"].tolist() == priced["high_usd"].tolist() == priced["usd"].tolist()
    assert (
        {"on-demand", "spot"}
        <= set(priced.index)
        <= {name for name in MARKETS if sold_for(name, "inference")} | set(BY_USE)
    )
    run = {
        "model": "llama-3.1-8b",
        "instance": "p5.48xlarge",
        "gpus": 8,
        "sharding": "zero3",
        "train_tokens": 1e9,
    }
    assert (
        estimate(run | {"spare": 3, **HOURLY}, catalogs)["run_usd_on_demand"]
        == estimate(run, catalogs)["run_usd_on_demand"]
    )


@pytest.mark.long
def test_an_answer_says_what_its_spare_machines_cost_and_how_many_run(catalogs):
    row = options(JOBS[0] | {"spare": 1, **HOURLY}, catalogs).answers.iloc[0]
    running = row["instances_needed"] - row["resting_instances"]
    month = row["instance_usd_per_hour_on_demand"] * 730
    assert row["usd"] == pytest.approx((running + 1) * month)
    assert f"{row['instances_needed']:.0f} × {row['instance']} + 1 spare" in row["why"]
    assert f"1 spare machine for {usd(month)} a month" in row["why"]
    assert f"run {count((running + 1) * 730)} of " in row["why"]
