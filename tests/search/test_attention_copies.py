"""Services whose copies of attention share one copy of the experts."""

import numpy as np
import pytest

from calc.engine.pipeline import estimate
from calc.job.resolve import resolve
from calc.say.setting import arrangement
from calc.scenarios.inputs import BY_NAME
from calc.search.attention_copies import attention_copies
from calc.search.options import options
from calc.search.places import places_of
from calc.speed.arrivals import felt_prompt_seconds
from calc.speed.prefill_exchange import apart_prompts_ratio
from calc.speed.serving import others_prompt_seconds
from calc.table import is_missing

SERVED = {"goal": "serve", "model": "deepseek-v3", "users": 100}
SERVED |= {"prompt_tokens": 4000, "context_tokens": 8192}


def tried(catalogs, **change):
    """Tensor and expert parallel of the layouts that a job tries."""
    job = resolve(SERVED | change, catalogs)
    layouts = attention_copies(job, places_of(job, catalogs), catalogs)
    return [(one.fixed["tensor_parallel"], one.fixed["expert_parallel"]) for one, _ in layouts]


def test_copies_are_tried_where_tensor_parallel_copies_the_cache_and_experts_can_be_shared(
    catalogs,
):
    """Two GPUs of one machine, four, or eight."""
    assert tried(catalogs) == [([1], [2]), ([1, 2], [4]), ([1, 2, 4], [8])]
    assert tried(catalogs, instance="p5en.48xlarge") == [([1, 2, 4], [8])]
    # Four heads of keys and values, which two or four GPUs divide.
    assert tried(catalogs, model="qwen3-235b-a22b") == [([1, 2, 4], [8])]
    assert tried(catalogs, model="gpt-oss-120b") == []  # eight heads
    assert tried(catalogs, model="llama-3.1-70b") == []  # no experts
    assert tried(catalogs, tensor_parallel=4) == [([4], [8])]
    for column in ("expert_parallel", "pipeline_parallel", "batch"):
        assert tried(catalogs, **{column: 2}) == []


def test_a_latent_cache_that_nobody_copies_needs_one_machine_instead_of_several(catalogs):
    """vLLM's documentation serves DeepSeek V3 so on eight H200: attention on each.

    Tensor parallel over eight holds 100 requests of 8,192 tokens on no single one of them.
    """
    answer = options(SERVED, catalogs).answers.iloc[0]
    assert (answer["expert_parallel"], answer["instances"]) == (8, 1)
    assert answer["tensor_parallel"] < 8
    assert "attention data parallel" in arrangement(answer.to_dict(), catalogs)
    row = {name: answer[name] for name in BY_NAME if not is_missing(answer[name])}
    again = estimate(row, catalogs, solve=False)
    for name in ("needed_bytes", "time_per_output_token_seconds", "kv_pool_tokens"):
        assert again[name] == pytest.approx(answer[name], rel=1e-6), name
    whole = options(SERVED | {"expert_parallel": 1}, catalogs).answers.iloc[0]
    assert whole["usd"] > 1.3 * answer["usd"]
    for users in (7, 50, 333):  # whole groups of copies
        answer = options(SERVED | {"users": users}, catalogs).answers.iloc[0]
        assert answer["gpus"] % max(answer["expert_parallel"], answer["tensor_parallel"]) == 0


def test_prompts_of_other_copies_take_no_more_than_one_by_one_and_no_less_than_all_at_once():
    """A prompt takes only its own time where attention has a single copy."""
    assert others_prompt_seconds(2.0, 0.5, 1.0, 4, 4) == 2.0
    for passes in (0.001, 0.1, 0.9, 1, 3):
        ratio = apart_prompts_ratio(passes, 1, 1, 8, 1)
        assert 1 / 8 - 1e-9 <= ratio <= 1
        of_each = others_prompt_seconds(2.0, 0.5, ratio, 8, 1)
        assert 2.0 / 8 - 1e-9 <= of_each <= 1.5 + 0.5 / 8
    assert apart_prompts_ratio(0.001, 1, 1, 8, 1) == pytest.approx(1, rel=0.01)
    assert apart_prompts_ratio(1.0, 1, 1, 8, 1) == pytest.approx(1 / 8)
    assert np.isclose(apart_prompts_ratio(0.3, 1, 1, 4, 4), 1)


def test_a_copy_of_attention_feels_the_prompts_of_all_of_them():
    """Rare prompts one by one, those of busy copies all at once; of one copy its own alone."""
    assert felt_prompt_seconds(0.2, 2.0, 0.5, 8, 8) == 2.0
    rare, often = (felt_prompt_seconds(rate, 2.0, 0.5, 8, 1) for rate in (1e-6, 0.49))
    assert rare == pytest.approx(8 * 1.5 + 0.5, rel=1e-3)
    assert 2.0 <= often < 1.05 * 2.0
