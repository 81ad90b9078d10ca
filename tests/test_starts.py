"""A run has a beginning and an end: the phases of a start by hand, what it adds to hours and money, and that it can be set."""

import pytest
from examples import table

LORA = {"model": "llama-3.1-8b", "tuning": "lora", "train_tokens": 1e8, "implementation": "transformers"}
SERVE = {"work": "inference", "implementation": "vllm", "batch": 8}
PUBLISHED = 16.060522496  # seconds in which 8.03 billion parameters of two bytes are read at 1 GB/s

# scenario -> launch, image and software, the weights and the last save left out [s]
STARTED = [
    (LORA | {"instance": "g6.xlarge"}, 180 + 300),
    (LORA | {"instance": "g6.xlarge", "compile": "yes"}, 180 + 300 + 300),
    (LORA | {"instance": "g6.48xlarge", "gpus": 8, "sharding": "zero3"}, 180 + 300 + 30),
    (LORA | {"instance": "p5.4xlarge"}, 180 + 300),
    (LORA | {"instance": "p5.48xlarge", "gpus": 8, "sharding": "zero3"}, 450 + 300 + 30),
    (LORA | {"instance": "p5.48xlarge", "gpus": 16, "sharding": "zero3"}, 600 + 300 + 30),
    (SERVE | {"model": "llama-3.1-8b", "instance": "g6e.xlarge"}, 180 + 300 + 101),
    (SERVE | {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "tensor_parallel": 8}, 450 + 300 + 245),
    (SERVE | {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 16}, 450 + 300 + 101),  # replicas of one GPU, on their own
    (SERVE | {"model": "qwen3-30b-a3b", "instance": "p5.4xlarge"}, 180 + 300 + 292),
    (SERVE | {"model": "qwen3-30b-a3b", "instance": "p5.48xlarge", "gpus": 8, "tensor_parallel": 4}, 450 + 300 + 480),
    (LORA | {"gpu": "l4"}, 0),  # not rented
]


def test_a_start_is_the_sum_of_its_phases():
    rows = table([scenario for scenario, _ in STARTED])
    assert set(rows["problem"]) == {""}
    for (scenario, seconds), row in zip(STARTED, rows.to_dict("records"), strict=True):
        saved = row["checkpoint_seconds"] if row["work"] == "training" else 0
        read = 2 * row["parameters"] / 1e9
        assert row["start_hours"] * 3600 == pytest.approx(seconds and seconds + read + saved), scenario
    assert 2 * rows["parameters"][0] / 1e9 == pytest.approx(PUBLISHED)


def test_hours_and_money_of_a_run_have_its_start_on_every_market():
    set_, usual, none = (LORA | {"instance": "g6.xlarge", "start_seconds": seconds} for seconds in (1800, "", 0))
    rows = table([set_, usual, none])
    start, work = rows["start_hours"], rows["run_hours"][2]
    assert (start[2], rows["run_low_hours"][2], rows["run_high_hours"][2]) == (
        0,
        pytest.approx(work * rows["tokens_per_second"][2] / rows["high_tokens_per_second"][2]),
        pytest.approx(work * rows["tokens_per_second"][2] / rows["low_tokens_per_second"][2]),
    )
    assert (start[0] - start[1]) * 3600 == pytest.approx(1800 - 480)
    assert rows["run_hours"].tolist() == pytest.approx((work + start).tolist())
    assert rows["run_usd_on_demand"].tolist() == pytest.approx((rows["usd_per_hour_on_demand"] * (work + start)).tolist())
    assert rows["run_usd_spot"].tolist() == pytest.approx((rows["usd_per_hour_spot"] * rows["spot_run_hours"]).tolist())
    assert rows["run_high_hours"][0] - start[0] == pytest.approx(rows["run_high_hours"][2])  # set, it has no range
    wider = rows["run_high_hours"][1] - rows["run_high_hours"][2], rows["run_low_hours"][1] - rows["run_low_hours"][2]
    assert [3600 * (end - start[1]) for end in wider] == pytest.approx([240 + 360 - 480, 120 + 240 - 480])


def test_a_restart_is_another_start_unless_it_is_set():
    """e^(R / M) of a run: R is 1800 s however it is set, 600 s where no start is counted."""
    spot = LORA | {"instance": "g6.xlarge", "interruption_month_ratio": 0.9}
    by_start, by_restart, before = table([spot | {"start_seconds": 1800}, spot | {"restart_seconds": 1800}, spot | {"start_seconds": 0}])[
        "spot_overhead_ratio"
    ]
    assert by_start == pytest.approx(by_restart)
    assert before < by_start


def test_the_start_of_a_service_is_billed_by_nobody():
    rows = table([SERVE | {"model": "llama-3.1-8b", "instance": "g6e.xlarge", "start_seconds": seconds} for seconds in ("", 0, 7200)])
    assert rows["start_hours"].nunique() == 3
    assert rows["usd_per_month_on_demand"].nunique() == 1
