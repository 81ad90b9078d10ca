"""Spot: the papers' worked intervals, a simulation of interruptions, laws, and assumptions that can
be set.
"""

import numpy as np
import pandas as pd
import pytest
from examples import catalogs
from hypothesis import given
from hypothesis import strategies as st

from calc import estimate
from calc.answers.full_answer import full_answer as options
from calc.cost.interruptions import (
    checkpoint_interval_seconds,
    interruption_ratio,
    mean_uninterrupted_seconds,
    spot_overhead_ratio,
    young_interval_seconds,
)
from calc.cost.spot import spot_saving_ratio
from calc.cost.starts import checkpoint_bytes
from calc.memory.states import state_width_bytes_each
from calc.plan.bill import bill_rows, lines

HOUR = 3600
RUN = {
    "model": "llama-3.1-8b",
    "sharding": "zero3",
    "gpus": 8,
    "instance": "p4d.24xlarge",
    "train_tokens": 1e10,
}


def spotted(*scenarios):
    return estimate(pd.DataFrame(list(scenarios)), catalogs(), solve=False)


def test_intervals_are_youngs_as_daly_corrects_them_and_at_most_the_run():
    """Young 1974: √(2 δ M); δ of 5 minutes and M of 24 hours give two hours."""
    assert young_interval_seconds(300, 24 * HOUR) == pytest.approx(2 * HOUR)
    # Daly 2006, equation 37: near Young less δ for small δ, and M itself from δ = 2 M on.
    ratio = 300 / (2 * 24 * HOUR)
    expected = 2 * HOUR * (1 + np.sqrt(ratio) / 3 + ratio / 9) - 300
    assert checkpoint_interval_seconds(300, 24 * HOUR, np.inf) == pytest.approx(expected)
    assert checkpoint_interval_seconds(10 * HOUR, 4 * HOUR, np.inf) == 4 * HOUR
    # 8B on p4d, 14.3 h: the best interval would be longer than the run; a length that is not known
    # does not cap it.
    row = spotted({**RUN, "instance": "p4d.24xlarge", "train_tokens": 1e8})
    assert row["checkpoint_interval_seconds"].iloc[0] == pytest.approx(
        (row["run_hours"] - row["start_hours"]).iloc[0] * HOUR
    )
    assert checkpoint_interval_seconds(300, 24 * HOUR, np.nan) == checkpoint_interval_seconds(
        300, 24 * HOUR, np.inf
    )


def test_a_simulated_run_takes_as_long():
    """A thousand hours of work under a steady rate of interruptions, drawn at random, against
    Daly's closed form.
    """
    checkpoint, restart, mean, work = 120.0, 600.0, 5.0 * HOUR, 1000.0 * HOUR
    interval = float(checkpoint_interval_seconds(checkpoint, mean, np.inf))
    draw, spent, done = np.random.default_rng(7), 0.0, 0.0
    next_stop = draw.exponential(mean)
    while done < work:
        if spent + interval + checkpoint <= next_stop:
            spent, done = spent + interval + checkpoint, done + interval
            continue
        spent = next_stop
        next_stop = spent + draw.exponential(mean)
        while spent + restart + checkpoint > next_stop:  # interrupted while it restarts
            spent, next_stop = next_stop, next_stop + draw.exponential(mean)
        spent += restart + checkpoint
    expected = spot_overhead_ratio(1, interval, checkpoint, mean, restart + checkpoint)
    assert spent / work - 1 == pytest.approx(expected, rel=0.15)


def test_every_band_of_aws_and_of_the_prices_has_its_middle():
    """The middle of a band; the assumption where AWS names none; one's own share before either."""
    named = (
        catalogs()
        .interruption_bands["band_interruption_ratio"]
        .reindex(["<5%", "5-10%", ">20%", ""])
        .to_numpy()
    )
    assert interruption_ratio(named, np.zeros(4), np.full(4, 0.3)) == pytest.approx(
        [0.025, 0.075, 0.25, 0.3]
    )
    assert interruption_ratio(named, np.full(4, 0.5), np.full(4, 0.3)) == pytest.approx([0.5] * 4)
    # What the prices say as words reaches the estimate as the middle of that band.
    prices, middles = catalogs().prices, catalogs().interruption_bands["band_interruption_ratio"]
    of_band = prices[prices["interruption_band"] != ""].drop_duplicates("interruption_band")
    assert len(of_band) > 2
    rows = [
        {**RUN, "gpus": 1, "instance": row.instance, "region": row.region}
        for row in of_band.itertuples()
    ]
    assert (
        spotted(*rows)["interruption_ratio"].tolist()
        == middles[of_band["interruption_band"]].tolist()
    )


def test_a_month_of_one_instance_is_its_band_more_are_interrupted_more_often_and_together_once():
    mean = mean_uninterrupted_seconds(0.25, 1, 0.92)
    assert 1 - np.exp(-730 * HOUR / mean) == pytest.approx(0.25)
    assert mean_uninterrupted_seconds(0.25, 8, 0) == pytest.approx(mean / 8)  # each at its own time
    assert mean_uninterrupted_seconds(0.25, 8, 1) == mean  # all at once
    assert mean_uninterrupted_seconds(0.25, 8, 0.92) == pytest.approx(mean / 1.56)  # 1 + 7 x 0.08
    table = spotted(RUN, {**RUN, "gpus": 64})
    assert table["mean_uninterrupted_seconds"][1] == pytest.approx(
        table["mean_uninterrupted_seconds"][0] / 1.56
    )
    # Interruptions of eight instances drawn at random, nine tenths of each one's at a time of all:
    # the mean time between stops.
    draw, together, rate, months = np.random.default_rng(3), 0.9, -np.log1p(-0.25), 20_000
    stops = draw.poisson(rate * together * months) + draw.poisson(
        8 * rate * (1 - together) * months
    )
    assert mean_uninterrupted_seconds(0.25, 8, together) == pytest.approx(
        730 * HOUR * months / stops, rel=0.02
    )


def test_a_checkpoint_holds_weights_and_state():
    """8 billion parameters: fp32 weights and two moments are 12 bytes each; 16-bit ones with a
    master 14.
    """
    wide, adapters = state_width_bytes_each(0, 4, 4, 0), state_width_bytes_each(1, 4, 2, 0)
    assert checkpoint_bytes(8e9, 0, 4, 4, 0, 2, wide) == 96e9
    assert checkpoint_bytes(8e9, 0, 4, 2, 4, 2, wide) == 112e9
    # LoRA keeps its adapters only.
    assert checkpoint_bytes(40e6, 1, 4, 0.5, 0, 2, adapters) == 480e6


@given(st.floats(0.001, 0.9), st.integers(1, 128), st.floats(0.1, 1e4), st.floats(1, 1e4))
def test_laws(ratio, instances, checkpoint, restart):
    mean = mean_uninterrupted_seconds(ratio, instances, 0.5)
    interval = checkpoint_interval_seconds(checkpoint, mean, np.inf)
    overhead = spot_overhead_ratio(1, interval, checkpoint, mean, restart)
    assert interval > 0
    assert overhead > 0
    assert spot_overhead_ratio(1, interval, checkpoint, mean, 2 * restart) > overhead
    assert spot_overhead_ratio(0, interval, checkpoint, mean, restart) == 0
    assert spot_saving_ratio(10, 4, overhead) < spot_saving_ratio(10, 4, 0) == pytest.approx(0.6)


def test_assumptions_can_be_set():
    changes = (
        {},
        {"checkpoint_bytes_per_second": 1e8},
        {"interruption_month_ratio": 0.9, "restart_seconds": 7200},
    )
    table = spotted(*(RUN | change for change in changes))
    assert table["checkpoint_seconds"][1] == pytest.approx(10 * table["checkpoint_seconds"][0])
    assert (table["spot_overhead_ratio"][1:] > table["spot_overhead_ratio"][0]).all()
    assert (table["run_usd_spot"][1:] > table["run_usd_spot"][0]).all()
    paid = table["spot_run_hours"] * table["usd_per_hour_spot"]
    assert table["run_usd_spot"].to_numpy() == pytest.approx(paid.to_numpy())
    assert (
        table["spot_saving_ratio"]
        < 1 - table["usd_per_hour_spot"] / table["usd_per_hour_on_demand"]
    ).all()


def test_the_sober_case_is_an_interruption_a_day():
    row = spotted(RUN).iloc[0]
    start, checkpoint = row["start_hours"], row["checkpoint_seconds"]
    work = row["run_hours"] - start
    interval = checkpoint_interval_seconds(checkpoint, 24 * HOUR, work)
    overhead = spot_overhead_ratio(1, interval, checkpoint, 24 * HOUR, 450 + 300 + 30 + checkpoint)
    assert row["sober_overhead_ratio"] == pytest.approx(overhead)
    assert row["sober_run_usd"] == pytest.approx(
        (start + work * (1 + overhead)) * row["usd_per_hour_spot"]
    )
    assert row["sober_run_hours"] == pytest.approx(
        start + work * (1 + overhead) * (1 + 2700 / 86400)
    )
    assert row["sober_run_usd"] > row["run_usd_spot"]
    assert row["fallback_run_usd"] == pytest.approx(
        (row["run_usd_spot"] + row["run_usd_on_demand"]) / 2
    )
    late = spotted({**RUN, "fallback_ratio": 0.8}).iloc[0]
    assert late["fallback_run_usd"] == pytest.approx(
        0.8 * row["run_usd_spot"] + 0.2 * row["run_usd_on_demand"]
    )


SERVED = {
    "model": "llama-3.1-70b",
    "work": "inference",
    "implementation": "vllm",
    "instance": "p4d.24xlarge",
}
SERVED |= {"gpus": 16, "tensor_parallel": 8}


def test_a_service_on_spot_pays_a_spare_replica():
    """Two replicas of eight GPUs on two instances: a third instance, and none in training, on
    demand, or where none is asked for.
    """
    row, none, wide = spotted(
        SERVED, {**SERVED, "spot_spare_replicas": 0}, {**SERVED, "pipeline_parallel": 2}
    ).to_dict("records")
    assert (row["instances_needed"], row["spare_instances"], wide["spare_instances"]) == (2, 1, 2)
    assert row["usd_per_hour_spot"] == pytest.approx(1.5 * none["usd_per_hour_spot"])
    assert row["usd_per_month_spot"] == pytest.approx(730 * row["usd_per_hour_spot"])
    assert row["usd_per_hour_on_demand"] == none["usd_per_hour_on_demand"]
    assert spotted(RUN)["spare_instances"].tolist() == [0]


def test_spares_count_wherever_a_service_on_spot_is_offered():
    """The answers and the bill pay the same for the same row."""
    job = {"work": "inference", "model": "llama-3.1-8b", "users": 8, "markets": "spot"}
    row = options(job, catalogs()).answers.iloc[0].to_dict()
    assert row["usd_per_hour"] == pytest.approx(row["usd_per_hour_spot"])
    bill = bill_rows(pd.DataFrame([row]), catalogs()).iloc[0].to_dict()
    assert bill["instances"] == row["instances_needed"] + row["spare_instances"]
    assert lines(bill)["line"].tolist() == ["work", "spare"]
    assert lines(bill)["usd"].sum() == pytest.approx(row["usd"])


def test_what_lies_in_storage_is_a_line_of_its_own():
    """8.03 billion parameters: three checkpoints of 12 bytes each, or weights of 2; by hand at
    $0.023 a GiB, and in no bill.
    """
    run, service = spotted(
        {**RUN, "kept_checkpoints": 3}, {**SERVED, "model": "llama-3.1-8b"}
    ).to_dict("records")
    assert run["stored_bytes"] == pytest.approx(3 * 12 * 8_030_261_248)
    assert run["storage_usd_per_month"] == pytest.approx(3 * 12 * 8_030_261_248 / 2**30 * 0.023)
    assert service["stored_bytes"] == pytest.approx(2 * 8_030_261_248)
    assert spotted({**RUN, "kept_checkpoints": 0})["run_usd_spot"][0] == run["run_usd_spot"]
