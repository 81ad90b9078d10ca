"""What software does that decides memory beside its blocks: masters, experts, load peaks, engines' defaults.

Each rule where its source names it; bytes of one GPU, per parameter or counted by hand.
"""

import numpy as np
import pytest
from examples import catalogs, one, recorded

from calc import estimate
from calc.engine.one_scenario import one_scenario
from calc.memory.weights import _segment_waste_bytes, stack_expert_padding_ratio
from calc.scenarios.releases import newest_known

GIB = 2**30
LLAMA_8B = 8_030_261_248
MIXTRAL_EXPERTS = 32 * 8 * 3 * 4096 * 14336
MIXTRAL_OTHERS = 46_702_792_704 - MIXTRAL_EXPERTS


def test_scores_of_a_prefill_are_prompt_by_prompt_and_a_softcap_holds_two_copies_of_the_logits():
    """The rest of the sequence is cache: eager scores do not grow with it."""
    scenario = {"work": "inference", "model": "llama-2-7b", "attention": "eager", "batch": 2}
    long, short = one(**scenario, sequence_tokens=8192, prompt_tokens=1024), one(**scenario, sequence_tokens=1024)
    assert long["kv_cache_bytes"] == 8 * short["kv_cache_bytes"]
    scored = one_scenario({**scenario, "sequence_tokens": 8192, "prompt_tokens": 1024}, catalogs())["prefill_activations_bytes"]
    assert scored == one_scenario({**scenario, "sequence_tokens": 1024}, catalogs())["prefill_activations_bytes"]
    table = one_scenario({"work": "inference", "model": "gemma-2-2b", "logits": "all", "sequence_tokens": 512}, catalogs())
    assert table["prefill_logits_bytes"][0] == 4 * 256_000 * 512


@pytest.mark.parametrize("tied", ["", "no", "yes"])
def test_t5_of_transformers_5_always_ties(tied):
    """google/flan-t5-base: 247,577,856 with a head of its own, which the class shares (configuration_t5.py)."""
    assert one(model="flan-t5-base", tie_embeddings=tied)["parameters"] == 247_577_856 - 32_128 * 768


def test_awq_small_jobs_and_trl_take_what_their_source_says():
    row = one(work="inference", model="llama-3.2-1b", precision="awq-4bit", sequence_tokens=128)
    assert (row["peak_phase"], row["allocated_peak_bytes"] - row["weights_bytes"]) == ("load", 2 * 128_256 * 2048)
    scenario = {"work": "inference", "model": "mistral-7b-v0.3", "precision": "awq-4bit", "sequence_tokens": 128}
    row, plain = one(**scenario, implementation="autoawq"), one(**scenario)
    parts = 32 * 4096 * (4096 + 2 * 1024) * 0.51953125
    assert row["peak_phase"] == "load"
    assert row["allocated_peak_bytes"] == pytest.approx(row["weights_bytes"] + parts)
    assert row["allocated_peak_bytes"] > plain["allocated_peak_bytes"]
    scenario = {"work": "inference", "model": "mistral-7b-v0.3", "precision": "awq-4bit", "batch": 4, "sequence_tokens": 4096}
    eager = one(**scenario, attention="eager")
    assert one(**scenario, implementation="autoawq")["allocated_peak_bytes"] == eager["allocated_peak_bytes"]
    row = one(model="gpt2", precision="bf16", optimizer="sgd", sequence_tokens=128)
    assert row["overhead_bytes"] - row["context_bytes"] == pytest.approx(0.7 * GIB)
    large = one(model="llama-3.1-8b")
    assert large["overhead_bytes"] - large["context_bytes"] == pytest.approx(0.06 * large["allocated_peak_bytes"])
    row = one(model="llama-3.1-8b", implementation="trl")
    assert (row["loss"], row["memory_bytes"]) == ("fused", one(model="llama-3.1-8b", loss="fused")["memory_bytes"])
    assert (
        one(model="llama-3.1-8b", precision="bf16-autocast")["memory_bytes"] == one(model="llama-3.1-8b", precision="bf16")["memory_bytes"]
    )


@pytest.mark.parametrize("sharding", ["zero1", "zero2"])
def test_a_divided_master_copy_stands_beside_whole_weights(sharding):
    """DeepSpeed, runtime/zero/stage_1_and_2.py: 2 N whole, 12 N / W divided, 6 N / W at the step; Trainer's buckets are small."""
    scenario = {"model": "llama-3.1-8b", "precision": "bf16-master", "recompute": "full", "gpus": 8, "sharding": sharding}
    row = one(**scenario, implementation="transformers")
    assert row["weights_bytes"] == 2 * LLAMA_8B
    assert row["optimizer_bytes"] == 12 * LLAMA_8B / 8
    assert row["working_bytes"] == 6 * LLAMA_8B / 8
    assert row["allocated_peak_bytes"] <= one(**scenario, implementation="deepspeed")["allocated_peak_bytes"]


MEGATRON = {"implementation": "megatron", "precision": "bf16-master", "gpus": 64, "recompute": "full"}


@pytest.mark.parametrize(
    ("degrees", "shards"), [({}, 64), ({"expert_parallel": 8}, 64), ({"tensor_parallel": 2, "expert_parallel": 4}, 64)]
)
def test_experts_states_are_divided_by_the_ranks_that_hold_the_same_ones(degrees, shards):
    """Megatron-Core, parallel_state.py: with any expert parallel degree all 64 GPUs together hold one state of each expert."""
    row = one(model="mixtral-8x7b", sharding="zero1", **MEGATRON, **degrees)
    assert row["optimizer_bytes"] == pytest.approx(12 * (MIXTRAL_EXPERTS + MIXTRAL_OTHERS) / shards, rel=1e-3)


def test_experts_gradients_and_weights_are_divided_likewise():
    scenario = {"model": "mixtral-8x7b", "implementation": "torchtitan", "gpus": 64, "sharding": "zero3", "recompute": "full"}
    spread, replicated = one(**scenario, expert_parallel=8), one(**scenario)
    assert spread["weights_bytes"] == pytest.approx(replicated["weights_bytes"])
    assert spread["optimizer_bytes"] == pytest.approx(replicated["optimizer_bytes"])


@pytest.mark.parametrize("degrees", [{"tensor_parallel": 8}, {"tensor_parallel": 8, "expert_parallel": 8}, {"expert_parallel": 8}])
def test_expert_parallel_lies_inside_the_group_when_serving(degrees):
    row = one(work="inference", model="mixtral-8x7b", implementation="vllm", gpus=8, **degrees)
    others = MIXTRAL_OTHERS / degrees.get("tensor_parallel", 1)
    assert row["weights_bytes"] == pytest.approx(2 * (MIXTRAL_EXPERTS / 8 + others))


def test_megatron_adds_into_a_standing_buffer_and_fp8_products_stand_on_its_master_copy():
    """core/distributed/param_and_grad_buffer.py; its fused Adam reads them in fp32, so nothing is widened at the step."""
    table = one_scenario({"model": "llama-3.1-8b", "sharding": "zero1", **MEGATRON}, catalogs())
    assert table["earlier_gradients_bytes"][0] == 4 * LLAMA_8B
    assert table["step_working_bytes"][0] == 0
    assert table["products_working_bytes"].max() == 0
    table = one_scenario({"model": "llama-3.1-8b", "sequence_tokens": 4096, **MEGATRON}, catalogs())
    assert table["backward_logits_bytes"][0] == 2 * 128_256 * 4096
    row = one(model="llama-3.1-8b", sharding="zero3", **MEGATRON)
    assert row["problem"] == ""
    assert row["weights_bytes"] == 2 * LLAMA_8B / 64
    # Transformer Engine: 16-bit weights, fp32 gradients, inputs of products in one byte.
    scenario = {"model": "llama-3.1-8b", "sharding": "zero1"} | MEGATRON | {"recompute": "none", "sequence_tokens": 8192}
    wide, narrow = one(**scenario), one(**scenario | {"precision": "fp8-mixed"})
    assert narrow["weights_bytes"] == wide["weights_bytes"]
    assert narrow["optimizer_bytes"] == wide["optimizer_bytes"]
    less = 2 * 4096 - 4096 + 14336  # two norms' outputs and the product in one byte less, attention's output once more
    assert wide["saved_activations_bytes"] - narrow["saved_activations_bytes"] == pytest.approx(32 * 8192 * less)
    elsewhere = one(model="llama-3.1-8b", precision="fp8-mixed", recompute="full")
    assert elsewhere["weights_bytes"] == 4 * LLAMA_8B


@pytest.mark.parametrize(("gpu", "tiles"), [("h100-80gb-sxm", (64, 1)), ("b200", (256, 256)), ("l40s", (128, 256))])
def test_mxfp4_experts_fill_the_tiles_of_the_cards_kernel(gpu, tiles):
    """gpt-oss: 2880 wide and 2880 inside; Triton, FlashInfer and Marlin round up (vLLM, quantization/mxfp4.py)."""
    tile = catalogs().serving_steps.at[catalogs().utilization.at[gpu, "card_class"], "expert_tile"]
    assert tile == tiles[0]
    for degree, inner in ((1, 2880), (2, 1440), (4, 720), (8, 360)):
        padded = -(-inner // tiles[0]) * tiles[0] * -(-2880 // tiles[1]) * tiles[1]
        assert stack_expert_padding_ratio(2880, 2880, degree, 1, tile) == pytest.approx(padded / (inner * 2880))
    row = one(work="inference", model="gpt-oss-120b", implementation="vllm", precision="mxfp4", gpu="h100-80gb-sxm", sequence_tokens=8192)
    assert row["fits"] == "yes"  # as OpenAI says of one card of 80 GB


def test_an_engine_takes_the_share_that_is_asked_with_its_cuda_graphs_inside():
    scenario = {"work": "inference", "model": "llama-3.1-8b", "implementation": "vllm", "gpu": "l4", "sequence_tokens": 8192}
    usual, less = one(**scenario), one(**scenario, memory_utilization=0.85)
    assert usual["memory_utilization"] == 0.92
    assert less["max_batch"] < usual["max_batch"]
    assert estimate({**scenario, "memory_utilization": 1.2}, catalogs())["problem"].startswith(
        "memory_utilization '1.2' is not a number above 0, at most 1"
    )
    table = one_scenario({"work": "inference", "model": "llama-3.1-8b", "implementation": "vllm", "gpu": "l4"}, catalogs())
    from calc.memory.fit import limit_bytes

    names = ("gpu_memory_bytes", "context_bytes", "graphs_bytes", "is_engine", "memory_utilization", "tight_ratio", "serving_counts_graphs")
    limit = limit_bytes(*(table[name] for name in names))
    assert limit == 0.92 * table["gpu_memory_bytes"] - table["context_bytes"] - table["graphs_bytes"]


@pytest.mark.parametrize(("gpu", "tokens"), [("l4", 2048), ("h100-80gb-sxm", 8192), ("b200", 16384)])
def test_vllm_batches_more_tokens_on_larger_cards(gpu, tokens):
    table = one_scenario({"work": "inference", "model": "llama-3.1-8b", "implementation": "vllm", "gpu": gpu}, catalogs())
    assert table["engine_batched_tokens"][0] == tokens


def test_a_pipeline_under_fsdp_keeps_its_stage_whole_and_large_tensors_their_segment():
    """torchtitan, reshard_after_forward_policy; torch/distributed/pipelining/stage.py: whole weights in 16 bits, gradients in fp32."""
    base = {"model": "llama-3.1-8b", "implementation": "torchtitan", "sharding": "zero3", "reduce_precision": "fp32", "recompute": "full"}
    staged = one_scenario({**base, "gpus": 16, "pipeline_parallel": 2, "accumulation_steps": 4}, catalogs())
    blocks = 16 * 218_112_000
    assert staged["blocks_parameters_here"][0] == blocks
    assert staged["earlier_gradients_bytes"][0] == 4 * staged["trained_parameters_here"][0]
    assert staged["place_whole_bytes"].min() >= 2 * blocks
    flat = one_scenario({**base, "gpus": 8}, catalogs())
    assert flat["earlier_gradients_bytes"][0] == 0
    assert flat["place_whole_bytes"].max() < 2 * blocks
    # 5120 x 13824 in 16 bits is 135 MiB, its segment 136; 3584 squared leaves more than 1 MiB, which is split off.
    mib = 2**20
    assert list(_segment_waste_bytes(np.array([135, 129.5, 24.5, 112, 9]) * mib)) == [mib, 0.5 * mib, 0, 0, 0]
    row = one(work="inference", model="qwen2.5-14b", precision="bf16", sequence_tokens=2049, prompt_tokens=1)
    assert row["overhead_bytes"] - row["context_bytes"] == pytest.approx(3 * 48 * mib + 0.01 * row["allocated_peak_bytes"])
    assert row["weights_bytes"] == 2 * 14_770_033_664


@pytest.mark.parametrize(("more", "same"), recorded("cases/software_rules.json")["trainers_bf16"])
def test_trainers_bf16_is_another_precision_in_each_software(more, same):
    """transformers 5 loads the checkpoint's own format; accelerate, accelerator.py; transformers, integrations/deepspeed.py."""
    scenario = {"model": "llama-3.1-8b", "recompute": "full", **more}
    assert one(**scenario, precision="bf16-autocast")["memory_bytes"] == one(**scenario | same)["memory_bytes"]


def test_qlora_as_people_run_it_and_adapted_experts():
    """peft, utils/other.py, prepare_model_for_kbit_training; counted in validation/data/parallel/qlora.csv, row 8."""
    base = {"model": "llama-3.1-8b", "tuning": "lora", "lora_rank": 16, "lora_targets": "all-linear"}
    plain, prepared = one(**base, precision="nf4-dq"), one(**base, precision="nf4-dq-prepared")
    others = LLAMA_8B - 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336)
    assert prepared["weights_bytes"] - plain["weights_bytes"] == pytest.approx(2 * others)
    table = one_scenario({**base, "precision": "nf4-dq-prepared"}, catalogs())
    counted = 18 * 4096 + 4 * (4096 + 1024) + 14 * 14336 + 14 * 16 + 4 * 32 + 8
    assert float(table["stack_saved_bytes_per_token"].ravel()[0]) == pytest.approx(counted, abs=1)
    assert (
        one_scenario({**base, "precision": "nf4-dq-prepared", "recompute": "full"}, catalogs())["stack_kept_bytes_per_token"][0] == 4 * 4096
    )
    # peft, tuners/lora/layer.py, ParamWrapper: B A in fp32, scaled, cast and added; back through it gate and up twice in fp32.
    scenario = {"model": "mixtral-8x7b", "tuning": "lora", "lora_rank": 8, "precision": "bf16", "recompute": "full"}
    merged, plain = (one_scenario({**scenario, "lora_targets": targets}, catalogs()) for targets in ("all-linear", "attention"))
    assert merged["stack_merging_bytes"].max() == pytest.approx(MIXTRAL_EXPERTS / 32 * 2 / 3 * 8)
    assert plain["stack_merging_bytes"].max() == 0


BLOCK_8B, HEAD_8B, MLP_8B = 218_112_000, 128_256 * 4096, 4096 * 14336
ZERO3 = {"model": "llama-3.1-8b", "implementation": "deepspeed", "gpus": 8, "sharding": "zero3", "recompute": "full"}


def test_deepspeeds_zero_3_keeps_whole_what_is_used_again_soon_and_has_its_bucket_from_the_start():
    """partitioned_param_coordinator.py: half of max_reuse_distance at the head, then less; at the first block it and one matrix."""
    table = one_scenario({**ZERO3, "precision": "bf16-master"}, catalogs())
    assert table["live_weights_bytes"][0] == 2 * (HEAD_8B + MLP_8B)
    assert list(table["place_live_bytes"].ravel()) == [2 * (BLOCK_8B + MLP_8B)] * 4
    small = one_scenario({**ZERO3, "precision": "bf16-master", "model": "qwen2.5-0.5b"}, catalogs())
    assert small["live_weights_bytes"][0] == 2 * small["parameters"][0]
    # deepspeed/runtime/zero/stage3.py, _setup_for_real_optimizer; stage_1_and_2.py, setup_buckets, at each backward pass.
    adapters = {"tuning": "lora", "lora_rank": 16, "lora_targets": "all-linear", "precision": "bf16"}
    zero3 = one_scenario({**ZERO3, **adapters}, catalogs())
    trained = zero3["trained_parameters_here"][0]
    assert zero3["standing_bucket_bytes"][0] == 2 * 500_000_000
    assert zero3["bucket_bytes"][0] == 2 * (500_000_000 + trained)
    zero2 = one_scenario({**ZERO3, **adapters, "sharding": "zero2"}, catalogs())
    assert zero2["standing_bucket_bytes"][0] == 0
    assert zero2["bucket_bytes"][0] == zero3["bucket_bytes"][0]


@pytest.mark.parametrize("sharding", ["zero1", "zero2"])
def test_trainers_auto_bucket_is_hidden_squared(sharding):
    """transformers, integrations/deepspeed.py, trainer_config_finalize; DeepSpeed's own default is half a billion elements."""
    scenario = {"model": "llama-3.1-8b", "precision": "bf16-master", "gpus": 8, "sharding": sharding}
    auto, default = (one_scenario({**scenario, "implementation": name}, catalogs()) for name in ("transformers", "deepspeed"))
    assert (auto["bucket_bytes"][0], default["bucket_bytes"][0]) == (4 * 4096**2, 4 * 500_000_000)


@pytest.mark.parametrize(("release", "warned"), recorded("cases/software_rules.json")["releases"])
def test_a_release_newer_than_those_known_is_a_warning(release, warned):
    served = {"model": "llama-3.1-8b", "work": "inference", "implementation": "vllm", "gpu": "h100-80gb-sxm"}
    assert newest_known("0.21 to 0.25") == (0, 25)
    assert newest_known("5.23, with PyTorch 2.13") == (5, 23)
    note = estimate({**served, "software_release": release}, catalogs(), solve=False)["note"]
    assert ("newer than what this is known from" in note) == warned


@pytest.mark.parametrize("implementation", ["transformers", "torchtitan", "torchtune", "litgpt", "deepspeed"])
@pytest.mark.parametrize("sharding", ["none", "zero2", "zero3"])
@pytest.mark.parametrize("model", ["bert-base-uncased", "llama-3.2-1b"])
def test_a_fused_loss_never_takes_more_than_the_whole_logits(implementation, sharding, model):
    scenario = {"model": model, "implementation": implementation, "sharding": sharding, "gpus": 8, "batch": 64, "recompute": "full"}
    fused, full = (one(**scenario, sequence_tokens=512, loss=loss)["allocated_peak_bytes"] for loss in ("fused", "full"))
    assert fused <= full
