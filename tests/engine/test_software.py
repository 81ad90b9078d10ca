"""What software does that decides memory: blocks and losses of its own
(catalogs/read_off/software_blocks.yaml), masters, buckets.

Bytes are sums counted by hand in the software's source: litgpt 0.5.13, torchtune 0.6.1, torchtitan
0.3, llm-foundry 0.22 and Megatron-Core 0.14; h, q, k, f, a: hidden, query, key and inner width,
heads.
"""

import numpy as np
import pytest
from examples import catalogs, entries, one, recorded

from calc import add_models, estimate, phases_table
from calc.engine.one_scenario import one_scenario
from calc.engine.pipeline import parts
from calc.engine.stages import at_places
from calc.memory.backward.waiting_gradients import (
    microbatches_in_flight,
    round_microbatches,
    waiting_microbatches,
)
from calc.memory.weights import _segment_waste_bytes
from calc.models.huggingface.config import read_config
from calc.scenarios.read import as_frame
from calc.scenarios.releases import newest_known
from tests.memory.test_memory import per_block

TOKENS = {"batch": 2, "sequence_tokens": 1024}
SIZES = recorded("cases/software.json")["sizes"]
# Bytes per token, element and h, q, k, f, a. Megatron's pythia: Korthikanti et al. 2022 (arXiv
# 2205.05198), table 2: 34 h a block, less two dropout masks of h each.
SAVED = recorded("cases/software.json")["saved"]


CASES = recorded("cases/counted.json")


def bytes_of(case, scenario):
    """The bytes that a case counts, in a scenario: a column, of a phase or at its largest, less
    another column. [B]
    """
    if "phase" in case:
        return phases_table(scenario, catalogs()).set_index(["phase", "component"])["bytes"][
            case["phase"], case["column"]
        ]
    table = one_scenario(scenario, catalogs())
    return np.max(table[case["column"]]) - (np.max(table[case["minus"]]) if "minus" in case else 0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['column']}: {case['source']}")
def test_bytes_are_those_counted_by_hand_in_the_source(case):
    """Those of a scenario, or what they are more than where some of its columns are others
    (less).
    """
    total = bytes_of(case, case["of"])
    got = total - (bytes_of(case, case["of"] | case["less"]) if "less" in case else 0)
    assert got == pytest.approx(
        case["is"], abs=case.get("rel", 1e-6) * max(abs(total), abs(case["is"]))
    )


@pytest.mark.sample(2)
@pytest.mark.parametrize(("software", "model", "counted"), SAVED)
def test_a_block_saves_what_was_counted_in_its_source(software, model, counted):
    saved = (
        per_block(
            "saved_activations_bytes", model, precision="bf16", implementation=software, **TOKENS
        )
        / 2048
    )
    assert saved == pytest.approx(
        sum(count * size for count, size in zip(counted, SIZES[model], strict=True)) + 8, abs=1e-6
    )


def test_adapters_and_compiled_blocks_keep_what_their_source_says():
    """One for q, k and v together, and the padded update where not all three are adapted
    (litgpt/lora.py).
    """
    scenario = {
        "precision": "bf16",
        "implementation": "litgpt",
        "tuning": "lora",
        "lora_rank": 8,
        **TOKENS,
    }
    h, q, k, f, a = SIZES["llama-3.1-8b"]
    frozen = 8 * h + 8 * q + 6 * f + 4 * a + 8
    two = (
        per_block("saved_activations_bytes", "llama-3.1-8b", **scenario, lora_targets="q+v") / 2048
    )
    assert two == pytest.approx(frozen + 3 * h + 2 * 2 * 8 + 2 * (q + k))
    every = (
        per_block("saved_activations_bytes", "llama-3.1-8b", **scenario, lora_targets="all-linear")
        / 2048
    )
    assert every == pytest.approx(frozen + 3 * (h + q + h + h + f) + 7 * 2 * 8)
    h, q, k, f, a = SIZES["llama-3.1-8b"]
    saved = per_block(
        "saved_activations_bytes",
        "llama-3.1-8b",
        precision="bf16",
        implementation="torchtitan",
        compile="yes",
        **TOKENS,
    )
    assert saved / 2048 == pytest.approx(8 * h + 4 * q + 4 * k + 6 * f + 4 * a)


MPT = {
    "model_type": "mpt",
    "d_model": 1536,
    "n_heads": 12,
    "n_layers": 24,
    "max_seq_len": 2048,
    "vocab_size": 50368,
}


def test_norms_of_one_vector_may_be_layer_norms():
    """MPT's have no bias and no fp32 copy (transformers, modeling_mpt.py; llm-foundry,
    models/layers/norm.py).
    """
    with_mpt = add_models(catalogs(), {"mine": read_config(MPT, "mine", catalogs())})
    scenario = {"model": "mine", "implementation": "llm-foundry", "precision": "bf16", **TOKENS}
    assert (
        estimate(scenario, with_mpt)["parameters"]
        == 50368 * 1536 + 24 * (12 * 1536**2 + 2 * 1536) + 1536
    )
    # Two norms, queries, keys and values, attention's output, the network's two.
    counted = (8 + 6 + 2 + 16) * 1536 + 4 * 12 + 8
    assert (
        float(one_scenario(scenario, with_mpt)["stack_saved_bytes_per_token"].ravel()[0]) == counted
    )


GPT2 = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257}


def saved_of_gpt2(function, **scenario):
    entry = read_config(GPT2 | {"activation_function": function}, "mine", catalogs())
    result = estimate(
        {"model": "mine", **TOKENS, **scenario}, add_models(catalogs(), {"mine": entry})
    )
    assert result["problem"] == ""
    return result["saved_activations_bytes"] / 12 / 2048 / 3072


@pytest.mark.parametrize(("precision", "less"), [("bf16", 6), ("fp32", 12), ("bf16-mixed", 12)])
def test_an_activation_function_that_is_one_kernel_keeps_its_input_alone(precision, less):
    """Cerebras-GPT's configs name gelu, GPT-2's gelu_new (transformers, activations.py)."""
    difference = saved_of_gpt2("gelu_new", precision=precision) - saved_of_gpt2(
        "gelu", precision=precision
    )
    assert difference == pytest.approx(less, abs=0.01)


def test_functions_of_no_block_stand_for_the_next_and_every_block_belongs_to_a_software():
    same = {"gelu_pytorch_tanh": "gelu", "silu": "gelu", "gelu_python": "gelu_new"}
    for named, like in same.items():
        assert saved_of_gpt2(named) == saved_of_gpt2(like)
    assert (
        saved_of_gpt2("relu")
        < saved_of_gpt2("gelu")
        < saved_of_gpt2("gelu_new")
        <= saved_of_gpt2("gelu_fast")
    )
    assert saved_of_gpt2("gelu_new", implementation="litgpt") == saved_of_gpt2(
        "gelu", implementation="litgpt"
    )
    blocks = {block["id"] for block in entries("software_blocks")}
    assert blocks == set(catalogs().implementations["block"]) - {""}
    # Softmax's output, dropout's mask and output: 5 a s per head and pair (arXiv 2205.05198,
    # equation 1).
    form = next(
        form
        for form in catalogs().blocks["megatron"]["forms"]
        if (form["format"], form["attention"]) == ("bf16", "eager")
    )
    assert form["saved"]["scores"] + form["saved"]["scores_dropout"] == 5


TITAN = {
    "work": "training",
    "implementation": "torchtitan",
    "precision": "bf16-mixed",
    "sharding": "zero3",
    "reduce_precision": "fp32",
}
STAGED = TITAN | {
    "model": "llama-3.1-8b",
    "gpus": 16,
    "pipeline_parallel": 4,
    "pipeline_chunks": 2,
    "recompute": "full",
}


@pytest.mark.parametrize(
    ("microbatches", "stages", "taken"), [(4, 4, 4), (6, 4, 6), (8, 4, 4), (10, 4, 5), (3, 4, 3)]
)
def test_chunks_take_turns_after_a_round(microbatches, stages, taken):
    """number_of_rounds = max(1, n_microbatches // pp_group_size); microbatches_per_round =
    n_microbatches // number_of_rounds.
    """
    assert round_microbatches(microbatches, stages) == taken


def test_a_step_of_one_round_is_all_forward_first_on_the_first_stage():
    """Two chunks, four stages: 4 + 2 x 3 forward passes of a chunk before the first backward one,
    of 8 in all.
    """
    waits = microbatches_in_flight(4, 0, 2, 4, 4)
    assert waits == 4
    assert list(waiting_microbatches(waits, 2, 4, 4)) == [4, 3.5, 1.5]
    assert microbatches_in_flight(4, 3, 2, 4, 4) == 2.5


def test_a_chunk_that_is_done_is_divided_before_the_next_has_gradients():
    """torch/distributed/pipelining/schedules.py: perform_reduce_grad follows a stage's last
    backward pass.
    """
    one_round, several = (
        one_scenario(STAGED | {"accumulation_steps": steps}, catalogs()) for steps in (4, 16)
    )
    assert one_round["earlier_gradients_bytes"][0] < 0.75 * several["earlier_gradients_bytes"][0]
    assert several["earlier_gradients_bytes"][0] == 4 * several["trained_parameters_here"][0]


def test_each_stage_of_a_pipeline_holds_its_own_blocks():
    """DeepSeek-V3: 3 dense blocks, then 58 routed ones; Llama 4 Maverick: they take turns. Only the
    last stage has the head.
    """
    scenario = {
        "implementation": "megatron",
        "precision": "bf16-master",
        "gpus": 64,
        "pipeline_parallel": 16,
        "accumulation_steps": 32,
    }
    stages = [
        place
        for place, _ in at_places(
            next(parts(as_frame({**scenario, "model": "deepseek-v3"}), catalogs())).table
        )
    ]
    assert [list(stage["stack_layers_here"][:, 0]) for stage in stages] == [[3, 1], [0, 4], [0, 3]]
    assert [float(stage["stages_before"][0]) for stage in stages] == [0, 1, 15]
    assert [float(stage["microbatches_in_flight"][0]) for stage in stages] == [16, 15, 1]
    assert [float(stage["stage_head_here"][0]) > 0 for stage in stages] == [False, False, True]
    first, last = (
        place
        for place, _ in at_places(
            next(
                parts(as_frame({**scenario, "model": "llama-4-maverick-17b-128e"}), catalogs())
            ).table
        )
    )
    assert list(first["stack_layers_here"][:, 0]) == list(last["stack_layers_here"][:, 0])
    assert (first["stack_layers_here"] > 0).all()


def test_a_pipeline_under_fsdp_keeps_its_stage_whole_and_large_tensors_their_segment():
    """torchtitan, reshard_after_forward_policy; 5120 x 13824 in 16 bits is 135 MiB, its segment
    136; beyond 1 MiB is split off.
    """
    base = {
        "model": "llama-3.1-8b",
        "implementation": "torchtitan",
        "sharding": "zero3",
        "reduce_precision": "fp32",
        "recompute": "full",
    }
    staged = one_scenario(
        {**base, "gpus": 16, "pipeline_parallel": 2, "accumulation_steps": 4}, catalogs()
    )
    blocks = 16 * 218_112_000
    assert (
        staged["place_whole_bytes"].min()
        >= 2 * blocks
        > one_scenario({**base, "gpus": 8}, catalogs())["place_whole_bytes"].max()
    )
    mib = 2**20
    assert list(_segment_waste_bytes(np.array([135, 129.5, 24.5, 112, 9]) * mib)) == [
        mib,
        0.5 * mib,
        0,
        0,
        0,
    ]


@pytest.mark.parametrize(("release", "warned"), recorded("cases/software.json")["releases"])
def test_a_release_newer_than_those_known_is_a_warning(release, warned):
    served = {
        "model": "llama-3.1-8b",
        "work": "inference",
        "implementation": "vllm",
        "gpu": "h100-80gb-sxm",
    }
    assert newest_known("0.21 to 0.25") == (0, 25)
    assert newest_known("5.23, with PyTorch 2.13") == (5, 23)
    note = estimate({**served, "software_release": release}, catalogs(), solve=False)["note"]
    assert ("newer than the releases that were read" in note) == warned


@pytest.mark.parametrize(
    ("model", "implementation"),
    [
        ("bert-base-uncased", "transformers"),
        ("bert-base-uncased", "deepspeed"),
        *(
            ("llama-3.2-1b", name)
            for name in ("transformers", "torchtitan", "torchtune", "litgpt", "deepspeed")
        ),
    ],
)
@pytest.mark.parametrize("sharding", ["none", "zero2", "zero3"])
def test_a_fused_loss_never_takes_more_than_the_whole_logits(implementation, sharding, model):
    scenario = {
        "model": model,
        "implementation": implementation,
        "sharding": sharding,
        "gpus": 8,
        "batch": 64,
        "recompute": "full",
    }
    fused, full = (
        one(**scenario, sequence_tokens=512, loss=loss)["allocated_peak_bytes"]
        for loss in ("fused", "full")
    )
    assert fused <= full


def test_plans_of_transformers_divide_matrices_and_repeat_logits_on_every_gpu():
    divided = {"gpus": 4, "tensor_parallel": 4, "sequence_tokens": 2048, "loss": "full"}
    alone, whole = (
        one(model="llama-3.1-8b", **layout)["logits_bytes"]
        for layout in ({"sequence_tokens": 2048, "loss": "full"}, divided)
    )
    split = one(model="llama-3.1-8b", implementation="torchtitan", **divided)["logits_bytes"]
    assert split < 0.5 * whole <= 0.5 * alone


@pytest.mark.parametrize(
    ("model", "implementation", "refused"),
    [
        ("whisper-small", "automodel", True),
        ("whisper-small", "transformers", False),
        ("bge-m3", "torchtitan", True),
        ("llama-3.2-1b", "torchtitan", False),
    ],
)
def test_software_of_decoders_trains_nothing_else(model, implementation, refused):
    row = estimate({"model": model, "implementation": implementation}, catalogs(), solve=False)
    assert ("trains decoders of text alone" in row["problem"]) == refused


@pytest.mark.parametrize(
    ("sets", "runs"),
    [
        ({"model": "vit-large-patch16"}, "no"),
        ({"model": "bert-base-uncased"}, "yes"),
        ({"model": "llama-3.2-1b", "compile": "yes"}, "no"),
        ({"model": "llama-3.2-1b"}, "yes"),
    ],
)
def test_megatron_has_classes_of_its_own_and_compiles_no_block(sets, runs):
    scenario = {"implementation": "megatron", "gpu": "h100-80gb-sxm", **sets}
    assert estimate(scenario, catalogs(), solve=False)["runs"] == runs
