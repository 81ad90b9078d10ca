"""A serving engine: its start-up profile, its pages, and how many sequences the rest of its share
of the card holds.
"""

import numpy as np
import pytest
from examples import catalogs, one, table

from calc import phases_table
from calc.evaluate import evaluate
from calc.memory.serving_engine import engine_forward_bytes, engine_sequences, sampler_bytes
from calc.memory.serving_traits import engine_batched_tokens, on_huge_card, on_large_card

VLLM = {f"serving_{name}": value for name, value in catalogs().serving_engines.loc["vllm"].items()}
ASKED = ("max_sequences", "max_batched_tokens")
SERVED = {
    "work": "inference",
    "implementation": "vllm",
    "model": "llama-3-8b",
    "gpu": "h100-80gb-sxm",
}


# vllm-project/vllm pull request 10511, December 2024: `vllm serve meta-llama/Meta-Llama-3-8B`, H100
# (79.22 GiB, 0.9) has 53.29 GiB left for the cache; with -tp 2 on each 71.29 - 7.48 - 3.58 (not
# torch's) - 1.26 (activations).
@pytest.mark.parametrize(("gpus", "weights_gib", "pool_gib"), [(1, 14.96, 53.29), (2, 7.48, 58.97)])
def test_the_cache_that_vllm_reported(gpus, weights_gib, pool_gib):
    settings = {
        "max_sequences": 256,
        "max_batched_tokens": 8192,
        "memory_utilization": 0.9,
        "sequence_tokens": 4096,
    }
    row = one(solve=True, **SERVED, **settings, gpus=gpus, tensor_parallel=gpus)
    assert row["weights_bytes"] / 2**30 == pytest.approx(weights_gib, abs=0.005)
    assert row["max_batch"] * 4096 * 131_072 / gpus / 2**30 == pytest.approx(pool_gib, rel=0.04)


def test_the_defaults_go_by_the_card_and_a100s_get_the_small_ones():
    """vLLM's server: 1024 sequences and 8192 tokens from 70 GiB on, A100s apart; 256 and 2048 on
    others.
    """
    cards = catalogs().gpus.loc[["h100-80gb-sxm", "a100-80gb-sxm", "l4", "h200-sxm", "b200"]]
    card = {
        "gpu_memory_bytes": cards["memory_bytes"],
        "gpu_takes_small_engine_defaults": cards["takes_small_engine_defaults"],
    }
    columns = VLLM | {name: values.to_numpy(dtype=float) for name, values in card.items()}
    large = evaluate(on_large_card, columns | {"is_engine": np.ones(1)})
    assert not evaluate(on_large_card, columns | {"is_engine": np.zeros(1)}).any()
    size = {
        "on_large_card": large,
        "on_huge_card": evaluate(on_huge_card, columns | {"on_large_card": large}),
    }
    unset, set_by_hand = (
        VLLM | size | dict.fromkeys(ASKED, np.full(5, value)) for value in (np.nan, 7.0)
    )
    assert evaluate(engine_sequences, unset).tolist() == [1024, 256, 256, 1024, 1024]
    assert evaluate(engine_batched_tokens, unset).tolist() == [8192, 2048, 2048, 8192, 16384]
    assert (
        evaluate(engine_sequences, set_by_hand).tolist()
        == evaluate(engine_batched_tokens, set_by_hand).tolist()
        == [7] * 5
    )


def test_the_sampler_outweighs_the_forward_pass_where_the_vocabulary_is_large():
    """Sequences x vocabulary x (2 + 12) bytes; Llama 3.1 8B with the defaults of an H100: 1.9 GB
    against 0.9.
    """
    sizes = {
        "engine_sequences": 1024.0,
        "profile_batched_tokens": 8192.0,
        "outputs": 128_256.0,
        "hidden": 4096.0,
    }
    none = dict.fromkeys(("profile_tower_bytes", "profile_image_tokens"), 0.0)
    sampler = evaluate(sampler_bytes, VLLM | sizes | {"sorted_logit_bytes_each": 0.0})
    assert sampler == 1024 * 128_256 * 14 + 4 * 4096 * 8192
    widths = {"profile_inner_width": 3 * 14_336.0, "tensor_parallel": 1.0, "expert_split": 1.0}
    assert sampler > 2 * evaluate(engine_forward_bytes, sizes | none | widths)


def test_the_cache_comes_in_pages_of_16_tokens():
    tokens, sequences = (1, 16, 17, 1000), 3
    caches = table([{"sequence_tokens": count, "batch": sequences} for count in tokens], **SERVED)[
        "kv_cache_bytes"
    ]
    pages = np.ceil(np.array(tokens) / 16) * 16
    assert (caches / 131_072 / sequences).tolist() == pages.tolist()


def test_the_pool_is_what_the_share_of_the_card_leaves():
    """92 % of the card less weights, profile, CUDA graphs and the engine's own memory."""
    row = one(solve=True, **SERVED, sequence_tokens=8192)
    full = one(**SERVED, sequence_tokens=8192, batch=row["max_batch"])
    assert (
        full["memory_bytes"]
        <= 0.92 * row["gpu_memory_bytes"]
        < full["memory_bytes"] + 8192 * 131_072
    )
    assert full["overhead_bytes"] > full["context_bytes"]
    assert (
        full["fits"],
        one(**SERVED, sequence_tokens=8192, batch=row["max_batch"] + 1)["fits"],
    ) == ("yes", "no")


def test_fewer_sequences_in_the_profile_leave_more_cache_and_an_fp8_cache_holds_twice_the_tokens():
    served = SERVED | {"sequence_tokens": 256}
    answers = table(
        [{"max_sequences": count} for count in (16, 256, 1024, 4096)], solve=True, **served
    )["max_batch"]
    assert (np.diff(answers) <= 0).all()
    assert answers.iloc[0] > answers.iloc[-1]
    wide, narrow = table([{}, {"kv_precision": "fp8"}], solve=True, **served)["max_batch"]
    assert narrow == pytest.approx(2 * wide, rel=2e-3)
    profiles = table([{}, {"logits": "all"}, {"sequence_tokens": 8192}], **SERVED)[
        ["activations_bytes", "logits_bytes"]
    ]
    # Which grow neither with the prompt nor with its logits.
    assert len(profiles.drop_duplicates()) == 1


def test_one_card_of_a_tensor_parallel_pair_samples_the_whole_vocabulary():
    phases = [
        phases_table(
            {**SERVED, "gpus": gpus, "tensor_parallel": gpus, "max_sequences": 1024}, catalogs()
        )
        .set_index(["phase", "component"])
        .loc[("prefill", "logits_bytes"), "bytes"]
        for gpus in (1, 2)
    ]
    assert phases[0] == phases[1] > 1.8e9
