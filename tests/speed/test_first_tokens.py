"""Prompts of others: who waits for whom, where prompts are cut, and which steps are replayed."""

import numpy as np
import pytest
from examples import timed

from calc.speed.first_token import straddled_seconds
from calc.speed.prompt_passes import replays_prompts
from calc.speed.serving import others_prefill_seconds

QUEUED = {
    "work": "inference",
    "implementation": "vllm",
    "inference_engine": "sglang",
    "model": "qwen3-8b",
    "gpu": "h100-80gb-sxm",
    "load_pattern": "in-step",
    "prompt_tokens": 1000,
    "sequence_tokens": 2000,
    "max_sequences": 64,
}


def test_a_round_of_requests_waits_for_its_own_prompts_not_for_those_without_room(catalogs):
    """The engine runs 64 of 256 requests at a time: each round waits for a burst of 64."""
    few, many = (timed(catalogs, {**QUEUED, "batch": batch}) for batch in (64, 256))
    waited = many["room_wait_seconds"]
    assert waited > 5 * few["time_to_first_token_seconds"]
    own = many["time_to_first_token_seconds"] - waited
    assert own == pytest.approx(few["time_to_first_token_seconds"], rel=0.2)


@pytest.mark.parametrize(
    ("tokens", "passes", "later"),
    [(4096, 4, 0.5 * 0.75), (8192, 4, 0.75), (16384, 4, 0.5 * 0.75), (4096, 1, 0)],
)
def test_a_prompt_that_begins_late_in_a_pass_ends_in_the_next(tokens, passes, later):
    """Prompts of half a budget are cut at every second pass, those of a whole budget at each."""
    assert straddled_seconds(passes, 1.0, tokens, 8192) == pytest.approx(later)


def test_cut_prompts_span_what_a_count_of_their_passes_gives():
    """Equal prompts in a row, cut at the ends of the budget: 1 + L / B passes in the mean."""
    budget, prompts = 8192, 64
    for tokens in (1000, 3000, 5000, 8191):
        first = np.arange(prompts) * tokens // budget
        last = (np.arange(1, prompts + 1) * tokens - 1) // budget
        passes = last[-1] + 1
        spanned = np.mean(last - first)
        assert straddled_seconds(passes, 1.0, tokens, budget) == pytest.approx(spanned, abs=0.05)


def test_a_step_whose_prompt_is_replayed_is_not_launched():
    """Nine others bring a prompt of 2 ms each while one request makes 100 tokens."""
    assert replays_prompts(174, 1, 120, 512)
    assert not replays_prompts(400, 1, 120, 512)
    assert not replays_prompts(174, 3, 120, 512)
    launched, replayed = (
        others_prefill_seconds(10, 100, 1, 0.002, 0.001, 0.02, replays, 0.005, 1, 1)
        for replays in (0, 1)
    )
    assert launched == pytest.approx(9 * 0.015 / 100)
    assert replayed == pytest.approx(9 * 0.001 / 100)
