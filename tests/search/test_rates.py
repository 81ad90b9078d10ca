"""Services for a rate of requests, of models that answer token by token or not at all."""

import re

import pytest

from calc import answer, estimate
from calc.job.columns import CONFIDENCE_REACH
from calc.search.first_rows import first_row

CHAT = {"work": "inference", "model": "llama-3.1-8b", "prompt_tokens": 300, "answer_tokens": 200}
TEXTS = {"work": "inference", "model": "bge-m3", "prompt_tokens": 512}
LARGE_BATCH = 4096


@pytest.mark.parametrize("confidence", CONFIDENCE_REACH)
def test_cards_in_full_batches_carry_the_rate_at_the_jobs_confidence(catalogs, confidence):
    job = TEXTS | {"requests_per_second": 500, "confidence": confidence}
    row = first_row(job, catalogs)
    full = estimate({**row, "batch": LARGE_BATCH}, catalogs)
    carried = full["gpus"] * LARGE_BATCH / full["burst_first_token_seconds"]
    slow = row["burst_first_token_high_seconds"] / row["burst_first_token_seconds"]
    assert carried >= 0.98 * 500 * slow ** CONFIDENCE_REACH[confidence]


@pytest.mark.parametrize("confidence", CONFIDENCE_REACH)
def test_machines_answer_random_arrivals_at_the_jobs_confidence(catalogs, confidence):
    """The batch of the row is a whole number, so that its load is a little more than the job's."""
    job = CHAT | {"requests_per_second": 15, "instance": "g6.xlarge", "confidence": confidence}
    row = first_row(job, catalogs)
    slow = row["time_per_output_token_high_seconds"] / row["time_per_output_token_seconds"]
    assert row["arrivals_load_ratio"] * slow ** CONFIDENCE_REACH[confidence] <= 1.01


def test_machines_that_no_batch_lets_keep_up_are_not_called_too_small(catalogs):
    job = CHAT | {"requests_per_second": 40, "instance": "g6.xlarge", "gpus": 1}
    row = answer(job, catalogs).iloc[0]
    assert row["problem"].startswith("No allowed layout keeps up with 40 requests a second; allow")
    assert "the layout of the answer" in row["limits_cost"]


def test_what_cannot_keep_up_says_what_it_carries_and_the_instances_that_do(catalogs):
    job = TEXTS | {"requests_per_second": 500, "instance": "g6.xlarge", "instances_most": 2}
    row = answer(job, catalogs).iloc[0]
    assert "requests a second at 75 % confidence (500 asked for)" in row["problem"]
    several = int(re.search(r"(\d+) instances \$", row["limits_cost"])[1])
    assert answer(job | {"instances_most": several}, catalogs)["problem"].iloc[0] == ""
    assert answer(job | {"instances_most": several - 1}, catalogs)["problem"].iloc[0] != ""


def test_no_machine_of_unknown_speed_is_called_cheaper_for_a_rate(catalogs):
    """How many machines a rate takes follows from their speed."""
    assert "speed not known" in answer(TEXTS | {"users": 20}, catalogs)["why"].iloc[0]
    rate = TEXTS | {"model": "qwen3-embedding-8b", "requests_per_second": 5000}
    assert "speed not known" not in answer(rate, catalogs)["why"].iloc[0]
