"""Software with one model for all families has one block for them (catalogs/read_off/software_blocks.yaml), and a loss of its own.

Bytes are sums counted by hand in the software's source: litgpt 0.5.13, torchtune 0.6.1, torchtitan 0.3, llm-foundry 0.22 and
Megatron-Core 0.14; h, q, k, f, a: hidden, query, key and inner width, heads.
"""

import pytest
from examples import catalogs, entries, one, recorded
from test_memory import per_block

from calc import add_models, estimate, phases_table
from calc.engine.one_scenario import one_scenario
from calc.memory.backward.schedule import microbatches_in_flight, round_microbatches, waiting_microbatches
from calc.models.huggingface.config import read_config

TOKENS = {"batch": 2, "sequence_tokens": 1024}
SIZES = recorded("cases/software_blocks.json")["sizes"]
# Bytes per token, element and h, q, k, f, a. Megatron's pythia: Korthikanti et al. 2022 (arXiv 2205.05198), table 2: 34 h a
# block, less two dropout masks of h each.
SAVED = recorded("cases/software_blocks.json")["saved"]


@pytest.mark.parametrize(("software", "model", "counted"), SAVED)
def test_a_block_saves_what_was_counted_in_its_source(software, model, counted):
    saved = per_block("saved_activations_bytes", model, precision="bf16", implementation=software, **TOKENS) / 2048
    assert saved == pytest.approx(sum(count * size for count, size in zip(counted, SIZES[model], strict=True)) + 8, abs=1e-6)


def test_adapters_and_compiled_blocks_keep_what_their_source_says():
    """One for q, k and v together, and the padded update where not all three are adapted (litgpt/lora.py)."""
    scenario = {"precision": "bf16", "implementation": "litgpt", "tuning": "lora", "lora_rank": 8, **TOKENS}
    h, q, k, f, a = SIZES["llama-3.1-8b"]
    frozen = 8 * h + 8 * q + 6 * f + 4 * a + 8
    two = per_block("saved_activations_bytes", "llama-3.1-8b", **scenario, lora_targets="q+v") / 2048
    assert two == pytest.approx(frozen + 3 * h + 2 * 2 * 8 + 2 * (q + k))
    every = per_block("saved_activations_bytes", "llama-3.1-8b", **scenario, lora_targets="all-linear") / 2048
    assert every == pytest.approx(frozen + 3 * (h + q + h + h + f) + 7 * 2 * 8)
    h, q, k, f, a = SIZES["llama-3.1-8b"]
    saved = per_block("saved_activations_bytes", "llama-3.1-8b", precision="bf16", implementation="torchtitan", compile="yes", **TOKENS)
    assert saved / 2048 == pytest.approx(8 * h + 4 * q + 4 * k + 6 * f + 4 * a)


def logits_of(**scenario):
    """Bytes per logit at the forward peak and when the backward pass begins."""
    table = one_scenario({"model": "llama-3.1-8b", "precision": "bf16", **TOKENS, **scenario}, catalogs())
    return tuple(table[name][0] / 2048 / 128_256 for name in ("forward_logits_bytes", "backward_logits_bytes"))


@pytest.mark.parametrize(("scenario", "expected"), recorded("cases/software_blocks.json")["logits"])
def test_each_software_holds_its_own_logits(scenario, expected):
    assert logits_of(**scenario) == pytest.approx(expected, abs=1e-6)


def test_loss_gradients_and_head_are_those_of_the_software():
    for software, more in (("torchtune", {}), ("torchtitan", {"compile": "yes"}), ("litgpt", {})):
        row = one(model="llama-3.1-8b", implementation=software, precision="bf16", **more)
        again = one(model="llama-3.1-8b", implementation=software, precision="bf16", loss=row["loss"], **more)
        assert again["memory_bytes"] == row["memory_bytes"]
    forward = phases_table({"model": "tinyllama-1.1b", "precision": "bf16", "implementation": "litgpt"}, catalogs())
    gradients = forward[(forward["phase"] == "forward") & (forward["component"] == "gradients_bytes")]["bytes"].item()
    assert gradients == 2 * 1_100_048_384
    # LitGPT's resource tables of 2023: Llama 2 7B in nf4 takes 4.57 GB, 0.26 GB more than a 16-bit head leaves.
    scenario = {"model": "llama-2-7b", "work": "inference", "precision": "nf4", "sequence_tokens": 128}
    head = 32_000 * 4096
    assert one(**scenario, implementation="litgpt")["weights_bytes"] - one(**scenario)["weights_bytes"] == 2 * head


MPT = {"model_type": "mpt", "d_model": 1536, "n_heads": 12, "n_layers": 24, "max_seq_len": 2048, "vocab_size": 50368}


def test_norms_of_one_vector_may_be_layer_norms():
    """MPT's have no bias and no fp32 copy (transformers, modeling_mpt.py; llm-foundry, models/layers/norm.py)."""
    with_mpt = add_models(catalogs(), {"mine": read_config(MPT, "mine", catalogs())})
    scenario = {"model": "mine", "implementation": "llm-foundry", "precision": "bf16", **TOKENS}
    assert estimate(scenario, with_mpt)["parameters"] == 50368 * 1536 + 24 * (12 * 1536**2 + 2 * 1536) + 1536
    counted = (8 + 6 + 2 + 16) * 1536 + 4 * 12 + 8  # two norms, queries, keys and values, attention's output, the network's two
    assert float(one_scenario(scenario, with_mpt)["stack_saved_bytes_per_token"].ravel()[0]) == counted


GPT2 = {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257}


def saved_of_gpt2(function, **scenario):
    entry = read_config(GPT2 | {"activation_function": function}, "mine", catalogs())
    result = estimate({"model": "mine", **TOKENS, **scenario}, add_models(catalogs(), {"mine": entry}))
    assert result["problem"] == ""
    return result["saved_activations_bytes"] / 12 / 2048 / 3072


@pytest.mark.parametrize(("precision", "less"), [("bf16", 6), ("fp32", 12), ("bf16-mixed", 12)])
def test_an_activation_function_that_is_one_kernel_keeps_its_input_alone(precision, less):
    """Cerebras-GPT's configs name gelu, GPT-2's gelu_new (transformers, activations.py)."""
    difference = saved_of_gpt2("gelu_new", precision=precision) - saved_of_gpt2("gelu", precision=precision)
    assert difference == pytest.approx(less, abs=0.01)


def test_functions_of_no_block_stand_for_the_next_and_every_block_belongs_to_a_software():
    same = {"gelu_pytorch_tanh": "gelu", "silu": "gelu", "gelu_python": "gelu_new"}
    for named, like in same.items():
        assert saved_of_gpt2(named) == saved_of_gpt2(like)
    assert saved_of_gpt2("relu") < saved_of_gpt2("gelu") < saved_of_gpt2("gelu_new") <= saved_of_gpt2("gelu_fast")
    assert saved_of_gpt2("gelu_new", implementation="litgpt") == saved_of_gpt2("gelu", implementation="litgpt")
    blocks = {block["id"] for block in entries("software_blocks")}
    assert blocks == set(catalogs().implementations["block"]) - {""}
    # Softmax's output, dropout's mask and output: 5 a s per head and pair (arXiv 2205.05198, equation 1).
    form = next(form for form in catalogs().blocks["megatron"]["forms"] if (form["format"], form["attention"]) == ("bf16", "eager"))
    assert form["saved"]["scores"] + form["saved"]["scores_dropout"] == 5


TITAN = {"work": "training", "implementation": "torchtitan", "precision": "bf16-mixed", "sharding": "zero3", "reduce_precision": "fp32"}
STAGED = TITAN | {"model": "llama-3.1-8b", "gpus": 16, "pipeline_parallel": 4, "pipeline_chunks": 2, "recompute": "full"}


@pytest.mark.parametrize(("microbatches", "stages", "taken"), [(4, 4, 4), (6, 4, 6), (8, 4, 4), (10, 4, 5), (3, 4, 3)])
def test_chunks_take_turns_after_a_round(microbatches, stages, taken):
    """number_of_rounds = max(1, n_microbatches // pp_group_size); microbatches_per_round = n_microbatches // number_of_rounds."""
    assert round_microbatches(microbatches, stages) == taken


def test_a_step_of_one_round_is_all_forward_first_on_the_first_stage():
    """Two chunks, four stages: 4 + 2 x 3 forward passes of a chunk before the first backward one, of 8 in all."""
    waits = microbatches_in_flight(4, 0, 2, 4, 4)
    assert waits == 4
    assert list(waiting_microbatches(waits, 2, 4, 4)) == [4, 3.5, 1.5]
    assert microbatches_in_flight(4, 1, 2, 4, 4) == 2.5


def test_a_chunk_that_is_done_is_divided_before_the_next_has_gradients():
    """torch/distributed/pipelining/schedules.py: perform_reduce_grad follows a stage's last backward pass."""
    one_round = one_scenario(STAGED | {"accumulation_steps": 4}, catalogs())
    several = one_scenario(STAGED | {"accumulation_steps": 16}, catalogs())
    assert one_round["earlier_gradients_bytes"][0] < 0.75 * several["earlier_gradients_bytes"][0]
    assert several["earlier_gradients_bytes"][0] == 4 * several["trained_parameters_here"][0]


def test_experts_are_gathered_apart_and_scores_of_narrow_ones_ask_most():
    """torchtitan, apply_fsdp: fully_shard of the experts, then of the block."""
    base = TITAN | {"model": "mixtral-8x7b", "gpus": 16, "recompute": "full"}
    together, apart = (one_scenario(base | degrees, catalogs()) for degrees in ({}, {"expert_parallel": 4}))
    experts = 3 * 4096 * 14336 * 8
    assert together["stack_group_here"][0, 0] - apart["stack_group_here"][0, 0] == pytest.approx(experts)
    # The fp32 output that the scores multiply, its gradient and theirs, 20 bytes for each token and expert: simulated.
    table = one_scenario(TITAN | {"model": "qwen3-30b-a3b", "gpus": 8, "recompute": "none", "sequence_tokens": 4096}, catalogs())
    beyond = table["stack_backward_bytes_per_token"] - table["stack_saved_bytes_per_token"]
    assert beyond[0, 0] == pytest.approx((20 - 8) * 8 * 2048 + 2 * 2048, rel=0.01)
