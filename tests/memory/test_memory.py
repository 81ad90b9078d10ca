"""What each component weighs: published sums, and laws that hold whatever the scenario."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from examples import catalogs, choices, entries, one, recorded, table
from hypothesis import assume, given
from hypothesis import strategies as st

from calc import add_models, estimate, phases_table
from calc.memory.adapters import stack_copied_elements, stack_held_inputs, stack_shared_elements
from calc.scenarios.stack_numbers import ADAPTED
from validation.compare import with_fewer_layers

LLAMA_8B = {
    "parameters": 8_030_261_248,
    "layers": 32,
    "h": 4096,
    "q": 4096,
    "k": 1024,
    "f": 14336,
    "a": 32,
}
PLAIN = (
    "llama-3.1-8b",
    "llama-3.2-1b",
    "llama-3.1-70b",
    "qwen2.5-0.5b",
    "gpt2",
    "pythia-1.4b",
    "deepseek-v2-lite",
)
QWEN_7B = 7_615_616_512


def at_step(**scenario):
    """Components in bytes when the optimizer runs."""
    phases = phases_table(scenario, catalogs())
    return phases[phases["phase"] == "step"].set_index("component")["bytes"]


@cache
def cut(model, fewer, more):
    """The catalogs with the model at two depths, and its ids there."""
    shallow, first = with_fewer_layers(catalogs(), model, fewer)
    both, second = with_fewer_layers(shallow, model, more)
    return both, [first, second]


def per_block(quantity, model, fewer=2, more=4, **scenario):
    """What one more block adds to a quantity."""
    both, ids = cut(model, fewer, more)
    results = estimate(
        pd.DataFrame([{"model": name, **scenario} for name in ids]), both, solve=False
    )
    assert (results["problem"] == "").all(), results["problem"].tolist()
    return np.diff(results[quantity]).item() / (more - fewer)


# Rajbhandari et al. 2019 (arXiv 1910.02054), table 1: model states of 7.5 B parameters on 64 GPUs,
# GB of 10^9 bytes.
@pytest.mark.parametrize(
    ("sharding", "gigabytes"), [("none", 120), ("zero1", 31.4), ("zero2", 16.6), ("zero3", 1.88)]
)
def test_model_states_of_rajbhandari_2019(sharding, gigabytes):
    states = at_step(
        model="qwen2.5-7b",
        precision="bf16-master",
        implementation="deepspeed",
        gpus=64,
        sharding=sharding,
    )
    total = states[["weights_bytes", "gradients_bytes", "optimizer_bytes"]].sum()
    assert total / QWEN_7B * 7.5 == pytest.approx(gigabytes, rel=0.005)


# DeepSpeed 0.19.6: runtime/zero/stage3.py makes grad_partitions_flat_buffer before the first step,
# on the device of the optimizer; stage_1_and_2.py makes no gradients before they are computed.
@pytest.mark.parametrize(
    ("sharding", "offload", "bytes_each"),
    [("zero3", "none", 2), ("zero3", "optimizer", 0), ("zero2", "none", 0)],
)
def test_the_gradients_of_zero_3_stand_from_the_start(sharding, offload, bytes_each):
    row = one(
        model="llama-3.1-8b",
        precision="bf16-master",
        implementation="deepspeed",
        gpus=8,
        sharding=sharding,
        offload=offload,
    )
    assert row["peak_phase"] == "backward"
    each = row["gradients_bytes"] * 8 / LLAMA_8B["parameters"]
    assert each == pytest.approx(bytes_each, rel=0.001)


@pytest.mark.parametrize(
    ("change", "is_told"),
    [
        ({}, True),
        ({"accumulation_steps": 1}, False),  # as it is asked
        ({"implementation": "torchtune"}, False),  # reduces each micro-batch's gradients
        ({"model": "llama-3.2-1b"}, False),  # whose whole gradients fit
    ],
)
def test_a_micro_batch_that_nobody_named_says_that_several_would_not_fit(change, is_told):
    row = one(
        **{"model": "qwen2.5-14b", "implementation": "transformers", "precision": "bf16-mixed"}
        | {"gpus": 8, "sharding": "zero3", "gpu": "l40s", "recompute": "full"}
        | change
    )
    assert row["fits"] == "yes"
    assert ("One micro-batch a step is counted" in row["note"]) is is_told


# Bytes per parameter of weights, gradients and optimizer state: DeepSpeed (Rajbhandari 2019,
# section 3.1: 2 + 2 + 12), Megatron (fp32 gradients: 2 + 4 + 12) and PyTorch (all in the weight's
# own format).
@pytest.mark.parametrize(
    ("scenario", "expected"), recorded("cases/memory.json")["bytes_per_parameter"]
)
def test_bytes_per_parameter(scenario, expected):
    states = at_step(model="llama-3.1-8b", **scenario)
    per_parameter = (
        states[["weights_bytes", "gradients_bytes", "optimizer_bytes"]] / LLAMA_8B["parameters"]
    )
    assert per_parameter.tolist() == pytest.approx(expected, abs=1e-3)


def test_a_recompute_keeps_one_part_of_a_block():
    assert (
        catalogs()
        .recomputes[["keeps_all", "drops_attention", "keeps_products", "keeps_input"]]
        .sum(axis=1)
        == 1
    ).all()


# peft 0.21, print_trainable_parameters of Llama 3.1 8B.
@pytest.mark.parametrize(
    ("targets", "rank", "parameters"), recorded("cases/memory.json")["adapters"]
)
def test_adapters_count_as_peft_counts_them(targets, rank, parameters):
    row = one(
        model="llama-3.1-8b", tuning="lora", lora_targets=targets, lora_rank=rank, precision="bf16"
    )
    assert row["trained_parameters"] == parameters
    states = at_step(
        model="llama-3.1-8b", tuning="lora", lora_targets=targets, lora_rank=rank, precision="bf16"
    )
    assert states["gradients_bytes"] == 4 * parameters
    assert states["optimizer_bytes"] == 8 * parameters


def test_row_parallel_adapters_read_a_divided_input():
    """Megatron-Bridge: one input of queries, keys, values, one of gate and up, both gathered whole;
    the down projection's lies divided.
    """
    widths = {"q": 4096, "k": 4096, "v": 4096, "o": 4096, "gate": 4096, "up": 4096, "down": 14_336}
    inputs = np.array([float(widths.get(matrix, 0)) for matrix in ADAPTED])[:, None, None]
    held = stack_held_inputs(inputs, 2.0)
    assert stack_shared_elements(held).item() == 2 * 4096 + 14_336 / 2
    assert stack_copied_elements(held).item() == 5 * 4096 + 4096 / 2 + 14_336 / 2


# Bytes of one block, NF4 base with double quantization and fp32 adapters of rank 16 on all linear
# layers, as bitsandbytes 0.50.2 and peft 0.21 store it (validation/data/parallel/qlora.csv).
@pytest.mark.parametrize(
    ("model", "bytes_each"), [("llama-3.2-1b", 34_200_064), ("llama-3.1-8b", 117_772_288)]
)
def test_a_block_in_nf4_weighs_what_bitsandbytes_stores(model, bytes_each):
    assert per_block("weights_bytes", model, tuning="lora", precision="nf4-dq") == pytest.approx(
        bytes_each, rel=1e-3
    )


@pytest.mark.parametrize(("precision", "bits"), recorded("cases/memory.json")["bits_per_weight"])
def test_bits_per_weight_of_a_matrix_count_its_scales(precision, bits):
    """Dettmers 2023 (4.127 with double quantization), OCP MX 1.0, llama.cpp's blocks, GPTQ and AWQ
    in groups of 128.
    """
    matrices = 218_103_808  # of a block of Llama 3.1 8B; its norms are 8192 more
    block_bytes = per_block("weights_bytes", "llama-3.1-8b", work="inference", precision=precision)
    assert 8 * block_bytes / matrices == pytest.approx(bits, abs=0.002)


# Bytes per cached token in 16 bits: 2 x layers x KV heads x head size x 2; DeepSeek's latent;
# Falcon 40B's 128 copied heads.
@pytest.mark.parametrize(
    ("model", "bytes_per_token"), recorded("cases/memory.json")["cache_of_a_token"]
)
def test_the_cache_of_a_token(model, bytes_per_token):
    row = one(model=model, work="inference", sequence_tokens=1000, batch=3)
    assert row["kv_cache_bytes"] == 3 * 1000 * bytes_per_token


@given(choices("inference", implementation="transformers"), st.sampled_from([2, 3, 8]))
def test_more_tokens_are_so_much_more_cache(row, times):
    rows = [row, {**row, "sequence_tokens": row["sequence_tokens"] * times}]
    results = estimate(pd.DataFrame(rows), catalogs(), solve=False)
    assume(
        (results["problem"] == "").all()
        and row["model"] in PLAIN
        and (results["peak_phase"] != "load").all()
    )
    assert results["kv_cache_bytes"][1] == pytest.approx(
        times * results["kv_cache_bytes"][0], rel=1e-9
    )


@given(choices("training"), st.sampled_from(["zero1", "zero2", "zero3"]))
def test_more_shards_are_never_more_weights_or_optimizer(row, sharding):
    row |= {
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "context_parallel": 1,
        "sharding": sharding,
    }
    results = estimate(
        pd.DataFrame([{**row, "gpus": gpus} for gpus in (1, 2, 4, 16, 128)]),
        catalogs(),
        solve=False,
    )
    assume((results["problem"] == "").all())
    for name in ("weights_bytes", "optimizer_bytes"):
        assert (np.diff(results[name]) <= 0).all()


@given(choices("training", offload="none", layout=(1, 1, 1, 1), compile="no"))
def test_recompute_never_keeps_more(row):
    rows = [
        {**row, "recompute": recompute}
        for recompute in ("full", "selective-ops", "selective", "none")
    ]
    results = estimate(pd.DataFrame(rows), catalogs(), solve=False)
    saved = results.loc[results["problem"] == "", "saved_activations_bytes"]
    assert (np.diff(saved) >= 0).all()


def test_a_model_of_ones_own_is_estimated_like_its_twin():
    """An entry copied under another id gives the same numbers, and twice the layers twice the
    blocks.
    """
    entry = entries("models")["gpt2"]
    added = add_models(
        catalogs(), {"mine": entry, "deep": {**entry, "layers": 2 * entry["layers"]}}
    )
    ways = [
        {},
        {"tuning": "lora", "recompute": "full"},
        {"work": "inference"},
        {"gpus": 4, "sharding": "zero3", "train_tokens": 1e9},
    ]
    plain = table(ways, solve=True, model="gpt2", instance="p5.48xlarge").drop(columns="model")
    first, mine, deep = (
        estimate(
            pd.DataFrame([{"model": name, "instance": "p5.48xlarge", **way} for way in ways]), added
        ).drop(columns="model")
        for name in ("gpt2", "mine", "deep")
    )
    assert (first["problem"] == "").all()
    pd.testing.assert_frame_equal(first, mine)
    pd.testing.assert_frame_equal(first, plain)
    block = added.stacks.set_index("model").loc["mine", "block_parameters"]
    assert (deep["parameters"] - mine["parameters"] == entry["layers"] * block).all()
    assert deep["kv_cache_bytes"][2] == 2 * mine["kv_cache_bytes"][2] > 0


def test_gradients_of_megatron_are_as_narrow_as_set():
    """`--grad-reduce-in-bf16` halves a kept gradient; unset they are in fp32."""
    asked = {"implementation": "megatron", "model": "llama-3-8b", "precision": "bf16-master"}
    kept = {
        width: one(**asked, gradient_precision=width)["gradients_bytes"]
        for width in ("", "fp32", "bf16")
    }
    assert kept[""] == kept["fp32"] == 2 * kept["bf16"] > 0


def test_autocast_widens_no_norm_that_is_the_software_s_own_kernel():
    """A GPT block of Transformer Engine in 8 bits saves 27 h, 4 bytes a head and 8 a token: both
    norms' inputs and 8-bit outputs, queries, keys, values, attention's output twice, in 8 bits too,
    the first product's output and the activation's in 8 bits.
    """
    sets = {"precision": "fp8-mixed", "implementation": "megatron", "sequence_tokens": 1024}
    saved = per_block("saved_activations_bytes", "pythia-6.9b", batch=2, **sets) / 2048
    assert saved == pytest.approx(27 * 4096 + 4 * 32 + 8)


def test_each_gpu_of_a_server_holds_the_projections_into_the_latent_whole():
    """vLLM's q_a_proj and kv_a_proj_with_mqa are ReplicatedLinear: 61 · 7,168 · (1,536 + 576)
    elements of DeepSeek R1 stand on every GPU; 21.21 GiB of its AWQ weights were printed on each of
    sixteen (vllm-project/vllm pull request 14447).
    """
    served = {"work": "inference", "model": "deepseek-r1", "implementation": "vllm"}
    rows = [{**served, "precision": "fp8", "gpus": n, "tensor_parallel": n} for n in (1, 8)]
    rows.append({**served, "precision": "awq-4bit", "gpus": 16, "tensor_parallel": 16})
    whole, eighth, sixteenth = estimate(pd.DataFrame(rows), catalogs())["weights_bytes"]
    assert eighth - whole / 8 == pytest.approx(61 * 7168 * 2112 * 7 / 8, rel=1e-4)
    assert sixteenth / 2**30 == pytest.approx(21.21, rel=0.02)


@pytest.mark.parametrize("precision", ["bf16", "nf4-dq"])
@pytest.mark.parametrize("expert_parallel", [2, 8])
def test_frozen_experts_are_divided_once_whatever_the_ranks_that_hold_them(
    precision, expert_parallel
):
    """Ranks of expert parallel hold different experts, so that fewer GPUs share each one."""
    sets = {"model": "qwen3-30b-a3b", "tuning": "lora", "precision": precision}
    sets |= {"gpus": 8, "sharding": "zero3"}
    whole, divided = (one(**sets, expert_parallel=degree) for degree in (1, expert_parallel))
    assert divided["weights_bytes"] == pytest.approx(whole["weights_bytes"], rel=1e-9)
