"""Serving as it is run: a shared prompt, drafts, adapters on one server, and a cache in CPU
memory.
"""

import numpy as np
import pandas as pd
import pytest
from examples import catalogs

from calc import answer, estimate
from calc.files.launch.kit import kits
from calc.scenarios.inputs import BY_NAME
from calc.units import GIB

SERVED = {
    "work": "inference",
    "model": "llama-3.1-8b",
    "implementation": "vllm",
    "instance": "p5.48xlarge",
    "precision": "bf16",
}
SERVED |= {"prompt_tokens": 4096, "sequence_tokens": 4608, "batch": 16}
MODELS = (
    "llama-3.1-8b",
    "mistral-7b",
    "mixtral-8x7b",
    "gemma-3-4b",
    "deepseek-v2-lite",
    "gpt-oss-20b",
)
AS_RUN = (
    {"shared_prompt_tokens": 3000},
    {"speculation": "eagle"},
    {"adapters": 4},
    {"kv_offload_bytes": 1e10},
)
LAYER_TOKEN_BYTES = 2 * 8 * 128 * 2  # keys and values of eight heads of Llama 3.1 8B, in 16 bits


def table(*rows):
    results = estimate(pd.DataFrame([SERVED | row for row in rows]).astype(object), catalogs())
    assert (results["problem"] == "").all(), results["problem"].tolist()
    return results


@pytest.mark.sample(3)
@pytest.mark.parametrize("batch", [1, 16, 200])
@pytest.mark.parametrize("model", [model for model in MODELS if model in catalogs().models.index])
def test_more_shared_prompt_never_takes_longer_or_more_memory(model, batch):
    shared = [None, 1, 16, 700, 2048, 4000, 4095, 4096]
    results = table(
        *(
            {
                "model": model,
                "batch": batch,
                "gpus": 8,
                "tensor_parallel": 4,
                "shared_prompt_tokens": tokens,
            }
            for tokens in shared
        )
    )
    for name in (
        "kv_cache_bytes",
        "memory_high_bytes",
        "time_to_first_token_seconds",
        "time_to_first_token_high_seconds",
    ):
        assert (results[name].diff().dropna() <= 1e-9 * results[name].iloc[0]).all(), name
    for name in ("tokens_per_second", "prefill_tokens_per_second", "max_batch"):
        assert (results[name].diff().dropna() >= -1e-9 * results[name].iloc[0]).all(), name
    assert (
        results["time_to_first_token_seconds"].iloc[-1]
        < results["time_to_first_token_seconds"].iloc[0]
    )


def test_a_shared_prompt_stands_once_in_the_cache_and_its_last_token_is_computed():
    alone, part, all_of_it = table(
        {}, {"shared_prompt_tokens": 3000}, {"shared_prompt_tokens": 4096}
    )["kv_cache_bytes"]
    assert alone == 32 * LAYER_TOKEN_BYTES * 16 * 4608
    assert alone - part == 32 * LAYER_TOKEN_BYTES * 15 * 2992  # whole pages of 16 tokens
    assert alone - all_of_it == 32 * LAYER_TOKEN_BYTES * 15 * 4080


def test_a_sliding_layer_shares_what_its_window_still_reaches():
    """Gemma 3's windows of 1,024 tokens lie behind a prompt of 4,096 at its end: only its full
    layers share.
    """
    model = "gemma-3-4b"
    plain, shared = table({"model": model}, {"model": model, "shared_prompt_tokens": 2048})[
        "kv_cache_bytes"
    ]
    stacks = catalogs().stacks[catalogs().stacks["model"] == model]
    full = stacks[~np.isfinite(stacks["window_tokens"])]
    per_token = 2 * (full["layers"] * full["cached_elements_per_token"]).sum()
    assert plain - shared == pytest.approx(per_token * 15 * 2048)


def test_a_draft_gives_its_ratio_to_decoding_and_takes_memory():
    gains = {1: 1.5, 4: 1.5, 8: 1.3, 16: 1.3, 32: 1.3, 64: 1.1, 128: 1.05, 256: 1.0, 1000: 1.0}
    rows = [{"batch": batch, "sequence_tokens": 512, "prompt_tokens": 256} for batch in gains]
    plain, drafted = table(*rows), table(*(row | {"speculation": "mtp"} for row in rows))
    assert drafted["decode_gain_ratio"].to_numpy() == pytest.approx([*gains.values()])
    assert (plain["decode_gain_ratio"] == 1).all()
    faster = drafted["decode_tokens_per_second"] / plain["decode_tokens_per_second"]
    assert faster.to_numpy() == pytest.approx([*gains.values()])
    assert (drafted["tokens_per_second"] >= plain["tokens_per_second"] * (1 - 1e-9)).all()
    assert (drafted["weights_bytes"] > plain["weights_bytes"]).all()
    assert (drafted["kv_cache_bytes"] > plain["kv_cache_bytes"]).all()
    assert drafted["note"].str.contains("1.3 tokens a step").sum() == 3
    assert drafted["note"].str.contains("No published run of mtp with llama-3.1-8b is known").all()
    assert not table({"speculation": "eagle"})["note"].str.contains("No published run").any()


def test_a_stated_gain_counts_and_no_card_computes_more_than_it_can():
    plain, stated, much = table(
        {"batch": 32},
        {"batch": 32, "speculation": "draft", "speculation_gain_ratio": 2},
        {"batch": 32, "speculation": "draft", "speculation_gain_ratio": 20},
    )["decode_tokens_per_second"]
    assert stated == pytest.approx(2 * plain)
    assert 2 * plain < much < 20 * plain


def test_adapters_take_a_slot_each_as_peft_counts_their_parameters():
    none, one, ten, wide = table(
        {}, {"adapters": 1}, {"adapters": 10}, {"adapters": 10, "lora_rank": 64}
    )["weights_bytes"]
    # Of Llama 3.1 8B at rank 16 (tests/memory/test_memory.py), in 16 bits.
    assert one - none == 2 * 41_943_040
    assert (ten - none, wide - none) == (10 * (one - none), 40 * (one - none))
    times = table(
        {}, {"adapters": 1}, {"adapters": 64}, {"adapters": 64, "adapter_step_seconds": 0.01}
    )["time_per_output_token_seconds"]
    assert times.is_monotonic_increasing
    split = table(
        {"gpus": 2, "tensor_parallel": 2}, {"gpus": 2, "tensor_parallel": 2, "adapters": 10}
    )["weights_bytes"]
    assert split[1] - split[0] == pytest.approx((ten - none) / 2)


def test_a_cache_in_cpu_memory_keeps_tokens_and_decodes_no_more_at_once():
    plain, kept = (row for _, row in table({}, {"kv_offload_bytes": 1e11}).iterrows())
    assert kept["kv_offload_tokens"] == pytest.approx(1e11 / (32 * LAYER_TOKEN_BYTES))
    assert kept["offloaded_bytes"] == 1e11
    same = (
        "kv_cache_bytes",
        "memory_bytes",
        "max_batch",
        "tokens_per_second",
        "time_to_first_token_seconds",
    )
    assert [kept[name] for name in same] == [plain[name] for name in same]
    assert "no more concurrent sequences" in kept["note"]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        *(
            (
                AS_RUN[place] | {"implementation": "transformers"},
                "are estimated for implementation vllm",
            )
            for place in range(4)
        ),
        ({"shared_prompt_tokens": 5000}, "shared_prompt_tokens 5000 exceeds prompt_tokens 4096"),
        (
            {"kv_offload_bytes": 1e13, "gpus": 8, "tensor_parallel": 8},
            "Offloading takes 9313 GiB of CPU memory",
        ),
        ({"adapters": 4, "lora_targets": "everything"}, "lora_targets 'everything' is not known"),
        (
            {"speculation": "magic"},
            "speculation 'magic' is not known; use none or mtp or eagle or draft.",
        ),
    ],
)
def test_what_is_not_run_so_is_refused(row, says):
    assert says in estimate(SERVED | row, catalogs())["problem"]


def test_models_with_a_published_draft_stand_in_the_catalog():
    named = {model for models in catalogs().speculations["known_of"] for model in models}
    assert len(named) > 10
    assert named <= set(catalogs().models.index)


def test_training_reads_none_of_it():
    work = {"model": "llama-3.2-1b", "instance": "p5.48xlarge", "train_tokens": 1e9}
    plain, filled = (
        estimate(work | row, catalogs())
        for row in ({}, {name: value for part in AS_RUN for name, value in part.items()})
    )
    read = [
        name for name, value in plain.items() if isinstance(value, float) and name not in BY_NAME
    ]
    assert [
        name for name in read if not (plain[name] == filled[name] or plain[name] != plain[name])
    ] == []


@pytest.mark.sample(2)
@pytest.mark.parametrize("columns", AS_RUN, ids=lambda columns: next(iter(columns)))
def test_an_answer_fixes_it_and_is_the_estimate_of_its_row(columns):
    rows = answer(
        {"work": "inference", "model": "llama-3.1-8b", "users": 12, "prompt_tokens": 4096}
        | columns,
        catalogs(),
    )
    assert (rows["problem"] == "").all()
    assert all((rows[name] == value).all() for name, value in columns.items())
    again = estimate(rows[[name for name in rows if name in BY_NAME]], catalogs())
    for name in ("memory_bytes", "time_per_output_token_seconds", "tokens_per_second"):
        assert again[name].to_numpy() == pytest.approx(rows[name].to_numpy()), name


def test_a_kit_says_it_to_vllm_and_reads_it_back():
    columns = {
        "shared_prompt_tokens": 3000,
        "speculation": "mtp",
        "adapters": 8,
        "lora_rank": 32,
        "kv_offload_bytes": 100 * GIB,
    }
    kit = next(
        kit for kit in kits(estimate(SERVED | columns, catalogs()), catalogs()) if kit.id == "vllm"
    )
    assert {difference.column for difference in kit.differences} == {
        "batch",
        "prompt_tokens",
        "shared_prompt_tokens",
    }
    assert (
        "max_loras: 8\nmax_lora_rank: 32\nspeculative_config:\n  method: mtp"
        in kit.files["vllm.yaml"]
    )
    drafted = next(
        kit
        for kit in kits(estimate(SERVED | {"speculation": "eagle"}, catalogs()), catalogs())
        if kit.id == "vllm"
    )
    # The repository of its draft is not known.
    assert "speculation" in {difference.column for difference in drafted.differences}
