"""A run has a beginning and an end: the phases of a start by hand, what it adds to hours and money,
and that it can be set.
"""

import pytest
from examples import recorded, table

from calc.answers.full_answer import full_answer as options
from calc.plan import bill
from calc.plan.bill import bill_rows
from calc.say.numbers import usd

LORA = {
    "model": "llama-3.1-8b",
    "tuning": "lora",
    "train_tokens": 1e8,
    "implementation": "transformers",
}
SERVE = {"work": "inference", "implementation": "vllm", "batch": 8}
PUBLISHED = 16.060522496  # seconds in which 8.03 billion parameters of two bytes are read at 1 GB/s

# scenario -> launch, image and software, the weights and the last save left out [s]
STARTED = recorded("cases/starts.json")["started"]


def test_a_start_is_the_sum_of_its_phases_and_that_of_a_service_is_billed_by_nobody():
    rows = table([scenario for scenario, _ in STARTED])
    assert set(rows["problem"]) == {""}
    for (scenario, seconds), row in zip(STARTED, rows.to_dict("records"), strict=True):
        saved = row["checkpoint_seconds"] if row["work"] == "training" else 0
        read = 2 * row["parameters"] / 1e9
        assert row["start_hours"] * 3600 == pytest.approx(seconds and seconds + read + saved), (
            scenario
        )
    assert 2 * rows["parameters"][0] / 1e9 == pytest.approx(PUBLISHED)
    rows = table(
        [
            SERVE | {"model": "llama-3.1-8b", "instance": "g6e.xlarge", "start_seconds": seconds}
            for seconds in ("", 0, 7200)
        ]
    )
    assert rows["start_hours"].nunique() == 3
    assert rows["usd_per_month_on_demand"].nunique() == 1


def test_hours_and_money_of_a_run_have_its_start_on_every_market():
    set_, usual, none = (
        LORA | {"instance": "g6.xlarge", "start_seconds": seconds} for seconds in (1800, "", 0)
    )
    rows = table([set_, usual, none])
    start, work = rows["start_hours"], rows["run_hours"][2]
    assert start[2] == 0
    for end, pace in (("low", "high"), ("high", "low")):
        hours = work * rows["tokens_per_second"][2] / rows[f"{pace}_tokens_per_second"][2]
        assert rows[f"run_{end}_hours"][2] == pytest.approx(hours)
    assert (start[0] - start[1]) * 3600 == pytest.approx(1800 - 480)
    assert rows["run_hours"].tolist() == pytest.approx((work + start).tolist())
    assert rows["run_usd_on_demand"].tolist() == pytest.approx(
        (rows["usd_per_hour_on_demand"] * (work + start)).tolist()
    )
    assert rows["run_usd_spot"].tolist() == pytest.approx(
        (rows["usd_per_hour_spot"] * rows["spot_run_hours"]).tolist()
    )
    # Set, it has no range.
    assert rows["run_high_hours"][0] - start[0] == pytest.approx(rows["run_high_hours"][2])
    wider = (
        rows["run_high_hours"][1] - rows["run_high_hours"][2],
        rows["run_low_hours"][1] - rows["run_low_hours"][2],
    )
    assert [3600 * (end - start[1]) for end in wider] == pytest.approx(
        [240 + 360 - 480, 120 + 240 - 480]
    )


def test_a_restart_is_another_start_unless_it_is_set():
    """e^(R / M) of a run: R is 1800 s however it is set, 600 s where no start is counted."""
    spot = LORA | {"instance": "g6.xlarge", "interruption_month_ratio": 0.9}
    rows = table(
        [
            spot | {"start_seconds": 1800},
            spot | {"restart_seconds": 1800},
            spot | {"start_seconds": 0},
        ]
    )
    by_start, by_restart, before = rows["spot_overhead_ratio"]
    assert by_start == pytest.approx(by_restart)
    assert before < by_start


JOBS = recorded("cases/starts.json")["jobs"]


@pytest.mark.sample(2)
@pytest.mark.long
@pytest.mark.parametrize("job", JOBS, ids=lambda job: f"{job['model']}, {job['train_tokens']:.0e}")
def test_a_start_is_billed_and_a_longer_run_never_costs_less(job, catalogs):
    """Within the tie in money, inside which the easier or faster option is named."""
    more = options(job | {"train_tokens": 1.1 * job["train_tokens"]}, catalogs)
    row, longer = options(job, catalogs).rows[0], more.rows[0]
    assert "start-up" in row["why_codes"] or row["start_hours"] < 0.02 * row["hours"]
    if "nearest" not in (row["answer"], longer["answer"]):
        assert longer["usd"] >= row["usd"] / 1.01


def test_blocks_of_p_families_are_tried_beside_on_demand_and_the_answer_says_which_was_taken(
    catalogs,
):
    job = {
        "model": "llama-3.1-70b",
        "instance": "p5.48xlarge",
        "train_tokens": 5e9,
        "hours_most": 2000,
    }
    result = options(job, catalogs)
    assert set(result.board["market"]) == {"on-demand", "capacity-block"}
    row = result.rows[0]
    other = result.board[result.board["market"] != row["market"]].iloc[0]
    assert f"this type costs at least {usd(other['usd'])}" in row["why"]
    for block in result.board[result.board["market"] == "capacity-block"].to_dict("records"):
        booked = block["usd"] / block["usd_per_hour"]
        assert booked % 24 == pytest.approx(0)
        assert booked >= block["run_high_hours"] + 0.5
    assert set(options(job | {"markets": "on-demand"}, catalogs).board["market"]) == {"on-demand"}
    assert set(options(job | {"work": "inference"}, catalogs).board["market"]) == {"on-demand"}
    small = options(
        job | {"model": "llama-3.2-1b", "instance": "g6e.48xlarge", "train_tokens": 1e8}, catalogs
    )
    assert set(small.board["market"]) == {"on-demand"}


def test_a_run_longer_than_the_longest_block_is_sold_on_none_and_many_instances_take_several(
    catalogs,
):
    job = {
        "model": "llama-3.1-8b",
        "instance": "p5.48xlarge",
        "markets": "capacity-block",
        "hours_most": 1e5,
    }
    assert options(job | {"train_tokens": 1e15, "instances_most": 1}, catalogs).problem
    many = options(
        job | {"train_tokens": 1e13, "gpus": 65 * 8, "instances_most": 65, "step_tokens": 8e6},
        catalogs,
    )
    assert "2 capacity blocks of at most 64 instances are booked for" in many.rows[0]["why"]


@pytest.mark.parametrize("market", ["on-demand", "spot", "capacity-block"])
def test_every_attempt_at_a_run_is_paid_as_the_one_that_ends_up_in_use(catalogs, market):
    run = {
        "model": "llama-3.1-70b",
        "instance": "p5.48xlarge",
        "gpus": 64,
        "sharding": "zero3",
        "recompute": "full",
        "train_tokens": 1e9,
    }
    once, thrice = bill_rows(
        table([run, run | {"attempts": 3}]).assign(market=market), catalogs
    ).to_dict("records")
    runs = [
        name
        for name in once
        if name.startswith(
            ("run_usd_", "run_hours", "run_low_hours", "run_high_hours", "sober_run_")
        )
    ]
    for name in (*runs, "start_hours", "spot_run_hours", "lost_work_hours", "hours", "usd"):
        assert thrice[name] == pytest.approx(3 * once[name], nan_ok=True), name
    assert thrice["spot_overhead_ratio"] == once["spot_overhead_ratio"]
    assert bill.attempt_usd(once) == pytest.approx(once["usd"])
    assert bill.attempt_usd(thrice) == pytest.approx(bill.attempt_usd(once))
    lines = bill.lines(thrice).set_index("line")
    assert lines["usd"].sum() == pytest.approx(thrice["usd"])
    assert lines["hours"]["work"] == pytest.approx(
        bill.lines(once).set_index("line")["hours"]["work"]
    )
    assert lines["hours"]["attempts"] == pytest.approx(2 * once["hours"])


def test_a_job_of_several_attempts_pays_for_them_within_its_deadline_and_a_service_for_none(
    catalogs,
):
    job = {"model": "llama-3.1-8b", "method": "lora", "hours_most": 75, "instance": "g6e.xlarge"}
    once, thrice, often = (
        options(job | {"attempts": attempts}, catalogs).rows[0] for attempts in (1, 3, 4)
    )
    assert (once["answer"] == "nearest", thrice["answer"] == "nearest", often["answer"]) == (
        False,
        False,
        "nearest",
    )
    assert (thrice["hours"], thrice["usd"]) == pytest.approx((3 * once["hours"], 3 * once["usd"]))
    assert often["hours"] == pytest.approx(4 * once["hours"])
    rows = table(
        [
            SERVE | {"model": "llama-3.1-8b", "instance": "g6e.xlarge", "attempts": attempts}
            for attempts in (1, 5)
        ]
    )
    assert rows.drop(columns="attempts").iloc[0].equals(rows.drop(columns="attempts").iloc[1])
