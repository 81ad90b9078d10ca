"""Services of models that answer no token, for a rate of requests."""

import re

import pytest

from calc import answer, estimate
from calc.job.columns import CONFIDENCE_REACH
from calc.search.first_rows import first_row

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
