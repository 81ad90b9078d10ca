"""Liger's kernels in the blocks: a norm and a gate are one kernel each."""

import pandas as pd
import pytest

from calc import estimate, load_catalogs

RUN = {
    "work": "training",
    "implementation": "deepspeed",
    "precision": "bf16-master",
    "sharding": "zero3",
    "offload": "optimizer",
    "recompute": "full",
    "gpus": 8,
    "batch": 1,
    "gpu": "h200-sxm",
}


def peak_bytes(*rows):
    """Allocated peak of each row. [B]"""
    table = estimate(pd.DataFrame([RUN | row for row in rows]), load_catalogs(), solve=False)
    return table["allocated_peak_bytes"].astype(float).to_numpy()


def test_the_memory_of_a_token_is_what_deepspeed_measured_with_liger():
    """461,700 B of a token, reserved (stas00/ml-engineering, insights/when-to-upgrade-gpus)."""
    run = {"model": "llama-3.1-8b", "loss": "fused", "block_kernels": "liger"}
    short, long = peak_bytes(run | {"sequence_tokens": 131_072}, run | {"sequence_tokens": 262_144})
    assert (long - short) / 131_072 == pytest.approx(461_700, rel=0.08)


@pytest.mark.parametrize("recompute", ["none", "full"])
@pytest.mark.parametrize("model", ["llama-3.1-8b", "qwen3-8b", "gemma-3-4b", "mixtral-8x7b"])
def test_liger_never_takes_more_than_a_fused_loss_alone(model, recompute):
    """By lora too, whose frozen blocks save less to begin with."""
    run = {"model": model, "recompute": recompute, "sequence_tokens": 4096, "loss": "fused"}
    lora = {"tuning": "lora", "precision": "bf16", "lora_rank": 16}
    kernels = ("liger", "own")
    rows = [run | how | {"block_kernels": name} for how in ({}, lora) for name in kernels]
    full_liger, full_fused, lora_liger, lora_fused = peak_bytes(*rows)
    assert full_liger <= full_fused
    assert lora_liger <= lora_fused
