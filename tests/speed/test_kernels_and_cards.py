"""Which attention kernel runs, what an encoder moves and launches, and what cards at half of their
chip's rate reach.
"""

import numpy as np
import pytest

from calc import estimate
from calc.speed.attention import attention_kernel, named_attention_ratio
from calc.speed.rates import launched_block_seconds, score_passes
from calc.speed.traffic import element_bytes, score_bytes

TRAINING = {
    "model": "llama-3.1-8b",
    "precision": "bf16-master",
    "optimizer": "adamw",
    "gpus": 8,
    "sharding": "zero3",
    "recompute": "full",
    "offload": "optimizer",
    "loss": "fused",
    "batch": 1,
}


def rate(catalogs, row):
    """Tokens per second and GPU."""
    return estimate(row, catalogs)["tokens_per_second_per_gpu"]


def test_a_named_kernel_runs_and_transformer_engine_takes_cudnns_where_the_card_has_one():
    none = dict.fromkeys(("flash_2", "flash_3", "flash_4", "cudnn", "sdpa"), 0)
    card = {"flash_2": 0.14, "flash_3": 0.14, "flash_4": 0.57, "cudnn": 0.42, "attention": 0.22}

    def share(named=(), package=0, engine=0, **of_card):
        names = none | dict.fromkeys(named, 1)
        kernel = attention_kernel(
            **{f"names_{name}": value for name, value in names.items()},
            engine_takes_flash_package=package,
            engine_takes_cudnn=engine,
        )
        ratios = {f"card_{name}_ratio": value for name, value in (card | of_card).items()}
        return named_attention_ratio(kernel, **ratios)

    assert share(named=["flash_4"]) == share(named=["flash_4"], engine=1) == 0.57
    assert share(named=["cudnn"]) == share(engine=1) == 0.42
    assert share(named=["sdpa"], engine=1, package=1) == 0.22
    assert share(package=1) == 0.14
    assert np.isnan([share(), share(engine=1, cudnn=0.14)]).all()


def test_flash_attention_4_is_for_blackwell_and_weighs_at_long_sequences(catalogs):
    """Measured on eight B200 at 128k tokens: 2.0 times eight H200 with FlashAttention 3."""
    run = TRAINING | {"implementation": "deepspeed", "sequence_tokens": 128 * 1024}
    hopper = rate(catalogs, run | {"gpu": "h200-sxm", "attention": "flash-3"})
    assert hopper == rate(catalogs, run | {"gpu": "h200-sxm", "attention": "flash-4"})
    newer = rate(catalogs, run | {"gpu": "b200", "attention": "flash-4"})
    older = rate(catalogs, run | {"gpu": "b200", "attention": "flash-3"})
    assert newer / hopper == pytest.approx(2.0, rel=0.15)
    assert newer > 2 * older


def test_an_eager_encoder_moves_its_scores_eight_times_and_32_bits_are_twice_16():
    assert score_passes(0, 0, 1.2, 3, 8) == 8
    assert score_passes(0, 1, 4, 3, 8) == score_passes(1, 0, 4, 3, 8) == 12
    layers, tokens = np.array([[12.0]]), np.array([[384.0]])
    width, heads = np.array([[10 * 768.0]]), np.array([[12.0]])
    for moved in (
        lambda each: element_bytes(16, layers, tokens, width, each),
        lambda each: score_bytes(16, layers, heads, tokens, 1, each),
    ):
        assert moved(4) == 2 * moved(2)
        assert moved(1) == moved(2)


def test_a_served_encoder_launches_less_than_a_decoder():
    assert launched_block_seconds(1e-3, 1, 0, 0, 0, 0.5, 0.8) == pytest.approx(0.8e-3)
    assert launched_block_seconds(1e-3, 1, 1, 0, 0, 0.5, 0.8) == pytest.approx(0.4e-3)
    assert launched_block_seconds(1e-3, 1, 0, 0, 1, 0.5, 0.8) == pytest.approx(1e-3)


def test_an_a10g_reaches_nearly_its_rate_since_that_is_half_of_its_chips(catalogs):
    """A prompt of 550 tokens of an 8B model takes 135 to 139 ms by three engines."""
    row = {"work": "inference", "model": "llama-3.1-8b", "precision": "fp16", "gpu": "a10g"}
    row |= {"batch": 1, "prompt_tokens": 550, "sequence_tokens": 700, "implementation": "vllm"}
    first = estimate(row, catalogs)["closed_loop_first_token_seconds"]
    assert first == pytest.approx(0.137, rel=0.25)
