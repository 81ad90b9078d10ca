"""What a serving engine holds of a GPU: its share, CUDA graphs, tiles of experts and logits."""

import pytest
from examples import catalogs, one, timed

from calc import estimate
from calc.engine.one_scenario import one_scenario
from calc.evaluate import evaluate_all, formulas_of
from calc.memory import serving_share
from calc.memory.weights import stack_expert_padding_ratio


def _limit_bytes(table):
    """The largest peak of a serving engine. [B]"""
    return evaluate_all(formulas_of(serving_share), table)["engine_limit_bytes"]


@pytest.mark.parametrize(
    ("gpu", "tiles"), [("h100-80gb-sxm", (128, 256)), ("b200", (256, 256)), ("l40s", (128, 256))]
)
def test_mxfp4_experts_fill_the_tiles_of_the_cards_kernel(gpu, tiles):
    """gpt-oss: 2880 wide and 2880 inside; FlashInfer and Marlin round up (vLLM,
    quantization/mxfp4.py).
    """
    tile = catalogs().serving_steps.at[catalogs().utilization.at[gpu, "card_class"], "expert_tile"]
    assert tile == tiles[0]
    for degree, inner in ((1, 2880), (2, 1440), (4, 720), (8, 360)):
        padded = -(-inner // tiles[0]) * tiles[0] * -(-2880 // tiles[1]) * tiles[1]
        assert stack_expert_padding_ratio(2880, 2880, degree, 1, tile) == pytest.approx(
            padded / (inner * 2880)
        )
    row = one(
        work="inference",
        model="gpt-oss-120b",
        implementation="vllm",
        precision="mxfp4",
        gpu="h100-80gb-sxm",
        sequence_tokens=8192,
    )
    assert row["fits"] == "yes"  # as OpenAI says of one card of 80 GB


def test_an_engine_takes_the_share_that_is_asked_with_its_cuda_graphs_inside():
    scenario = {
        "work": "inference",
        "model": "llama-3.1-8b",
        "implementation": "vllm",
        "gpu": "l4",
        "sequence_tokens": 8192,
    }
    usual, less = one(solve=True, **scenario), one(solve=True, **scenario, memory_utilization=0.85)
    assert usual["memory_utilization"] == 0.92
    assert less["max_batch"] < usual["max_batch"]
    assert estimate({**scenario, "memory_utilization": 1.2}, catalogs())["problem"].startswith(
        "memory_utilization '1.2' is not a number above 0, at most 1"
    )
    table = one_scenario(
        {"work": "inference", "model": "llama-3.1-8b", "implementation": "vllm", "gpu": "l4"},
        catalogs(),
    )
    assert _limit_bytes(table) == pytest.approx(
        0.92 * table["gpu_memory_bytes"] - table["context_bytes"] - table["graphs_bytes"]
    )


def test_cuda_graphs_lie_beyond_the_share_before_vllm_0_21():
    """vLLM's log says since which release it counts them; the cache has what they take now."""
    row = {"work": "inference", "model": "qwen2.5-14b", "implementation": "vllm"}
    row |= {"gpu": "h100-80gb-sxm", "memory_utilization": 0.9, "max_sequences": 256}
    pools = [
        float(estimate({**row, "software_release": release}, catalogs())["kv_pool_bytes"])
        for release in ("0.20.1", "0.21.0", "")
    ]
    graphs = one_scenario(row, catalogs())["graphs_bytes"]
    assert pools[1] == pools[2] == pytest.approx(41.43 * 2**30, rel=0.03)  # as its log printed
    assert pools[0] - pools[1] == pytest.approx(graphs)


def test_sorting_all_logits_takes_what_vllm_printed():
    """gpt-oss-120b on one H100: 65.97 GiB of weights and a pool of 1.71 GiB (issue 27508)."""
    row = {
        "work": "inference",
        "model": "gpt-oss-120b",
        "precision": "mxfp4",
        "gpu": "h100-80gb-sxm",
    }
    row |= {"implementation": "vllm", "memory_utilization": 0.95, "max_batched_tokens": 1024}
    sorting = {**row, "software_release": "0.11.0"}
    pools = [
        float(estimate(scenario, catalogs())["kv_pool_bytes"])
        for scenario in (sorting, {**sorting, "engine_flags": "tuned"})
    ]
    table = one_scenario(sorting, catalogs())
    assert pools[0] == pytest.approx(1.71 * 2**30, rel=0.05)
    assert pools[1] - pools[0] == pytest.approx(24 * 1024 * table["outputs"], rel=0.01)


@pytest.mark.parametrize(("tokens", "pool_gib"), [(20_000, 3.81), (29_000, 2.89)])
def test_the_first_engine_of_vllm_profiles_a_whole_prompt(tokens, pool_gib):
    """Llama 3.1 8B on an RTX 3090, as its log printed (vLLM issue 10517)."""
    row = {"work": "inference", "model": "llama-3.1-8b", "implementation": "vllm"}
    row |= {"gpu": "rtx-3090", "memory_utilization": 0.9, "sequence_tokens": tokens}
    earlier, now = (one(**row, software_release=release) for release in ("0.6.4", "0.8.5"))
    assert earlier["kv_pool_bytes"] == pytest.approx(pool_gib * 2**30, rel=0.02)
    assert now["kv_pool_bytes"] > earlier["kv_pool_bytes"]


def test_sglang_takes_less_beside_a_tower_and_keeps_a_pool_for_windows():
    """Gemma 3 4B on an H200, as its log printed (SGLang pull request 4826)."""
    row = {"work": "inference", "model": "gemma-3-4b", "implementation": "vllm"}
    row |= {"gpu": "h200-sxm", "inference_engine": "sglang", "sequence_tokens": 8192}
    answer = one(**row)
    assert answer["kv_pool_bytes"] == pytest.approx(108.24 * 2**30, rel=0.02)
    token_bytes = (5 + 0.8 * 29) * 4 * 256 * 2 * 2  # full layers and sliding ones
    tokens = answer["kv_pool_bytes"] / token_bytes
    assert answer["kv_pool_tokens"] == pytest.approx(tokens, rel=1e-3)


def test_sglang_has_room_in_its_pools_for_layers_that_read_the_keys_of_another():
    """Gemma 4 E4B has 18 such layers of 42; SGLang counts layer_types (pool_configurator.py)."""
    row = {"work": "inference", "model": "gemma-4-e4b", "implementation": "vllm"}
    row |= {"gpu": "b200", "sequence_tokens": 9216, "prompt_tokens": 8192, "batch": 1024}
    answer, shared = one(**row, inference_engine="sglang"), one(**row)
    token_bytes = (7 * 512 + 0.8 * 35 * 256) * 2 * 2 * 2  # full layers and sliding ones
    tokens = answer["kv_pool_bytes"] / token_bytes
    assert answer["kv_pool_tokens"] == pytest.approx(tokens, rel=1e-3)
    assert shared["max_concurrency"] > 2 * answer["max_concurrency"]


def test_sglang_keeps_a_pool_for_recurrent_states_with_five_for_each_request():
    """Its 0.9 to 1 for the tokens' pool (server_args.py, mamba_full_memory_ratio)."""
    row = {"work": "inference", "model": "qwen3.6-27b", "implementation": "vllm"}
    row |= {"gpu": "h200-sxm", "sequence_tokens": 9216, "prompt_tokens": 8192, "batch": 1024}
    engines = [one(**row), one(**row, inference_engine="sglang")]
    shared, apart = (answer["max_concurrency"] for answer in engines)
    state_bytes = 48 * (48 * 128 * 128 * 4 + 3 * 10240 * 2)  # the states and what is convolved
    pool = engines[1]["kv_pool_bytes"] * 0.9 / 1.9
    assert apart == pytest.approx(pool / (5 * state_bytes), rel=0.05)
    assert apart < shared
    table = timed(catalogs(), {**row, "inference_engine": "sglang"})
    assert table["running_sequences"][0] == pytest.approx(apart, rel=0.02)


PRINTED_POOLS = {  # engine, model, precision, card, GPUs, share: tokens, within so much
    "21348": ("sglang", "qwen3-235b-a22b", "fp8", "h100-80gb-sxm", 4, 0.93, 367_404, 0.02),
    "its own share, 0.83": (
        "sglang",
        "qwen3-30b-a3b",
        "fp8",
        "h100-80gb-sxm",
        1,
        "",
        392_920,
        0.02,
    ),
    "its own share, 0.854": ("sglang", "qwen3-8b", "bf16", "b200", 1, "", 992_896, 0.02),
    "263": ("sglang", "deepseek-r1", "fp8", "h200-sxm", 8, 0.82, 509_000, 0.03),
    "reranker": ("tensorrt-llm", "qwen3-0.6b", "bf16", "h100-80gb-sxm", 1, "", 643_136, 0.02),
}


@pytest.mark.parametrize("name", PRINTED_POOLS)
def test_an_engine_divides_the_card_by_its_own_rule(name):
    """Start-up logs of SGLang and TensorRT-LLM (validation/data/fourth/pools_expected.csv)."""
    engine, model, precision, gpu, gpus, share, tokens, within = PRINTED_POOLS[name]
    row = {"work": "inference", "model": model, "precision": precision, "implementation": "vllm"}
    row |= {"gpu": gpu, "gpus": gpus, "tensor_parallel": gpus, "memory_utilization": share}
    row |= {"inference_engine": engine, "sequence_tokens": 8192}
    assert one(**row)["kv_pool_tokens"] == pytest.approx(tokens, rel=within)


def test_sglang_computes_its_share_and_leaves_the_rest_to_activations():
    """0.828 of an H100 for two GPUs (SGLang issue 29092): what it leaves free does not leave the
    cache, unless the rest of the card is too small for it.
    """
    row = {"work": "inference", "model": "qwen3-32b", "implementation": "vllm", "gpus": 2}
    row |= {"gpu": "h100-80gb-sxm", "tensor_parallel": 2, "inference_engine": "sglang"}
    table = one_scenario(row, catalogs())
    assert table["memory_utilization"] == 0.828
    free_bytes = table["gpu_memory_bytes"] - table["context_bytes"]
    static_bytes = _limit_bytes(table) - table["start_up_bytes"]
    assert static_bytes == pytest.approx(0.828 * free_bytes)
    full = one_scenario(row | {"memory_utilization": 0.99}, catalogs())
    assert _limit_bytes(full) == pytest.approx(free_bytes - full["graphs_bytes"])
