"""Training as people run it: what answers try unasked, and what only a job that names it gets."""

import pytest
from examples import one

from calc import estimate
from calc.search.advice import advise
from calc.search.options import options

PLACES = {"instance": ["p4d.24xlarge", "p5.48xlarge"], "instances_most": 8, "hours_most": 5000}
LARGE = {"model": "llama-3.1-70b", **PLACES}


def rows_of(job, catalogs):
    result = options(job, catalogs)
    assert result.problem == ""
    return result.board


@pytest.mark.parametrize("software", ["", "trl", "deepspeed"])
def test_matrices_are_not_divided_where_nobody_does_it(catalogs, software):
    assert set(rows_of(LARGE | {"implementation": software}, catalogs)["tensor_parallel"]) == {1}


def test_matrices_are_divided_only_where_a_job_says_so_or_the_software_does_it(catalogs):
    assert set(rows_of(LARGE | {"tensor_parallel": 4}, catalogs)["tensor_parallel"]) == {4}
    alone = {"model": "llama-3.1-8b", "implementation": "megatron", "sharding": "none"}
    assert rows_of(LARGE | alone, catalogs)["tensor_parallel"].max() > 1
    scenario = {"model": "llama-3.1-8b", "instance": "p5.48xlarge", "gpus": 8, "batch": 4, "train_tokens": 1e9}
    for software, divides in (("transformers", False), ("torchtitan", True)):
        near = advise(scenario | {"implementation": software}, catalogs)["set"]
        assert any(change.get("tensor_parallel", 1) > 1 for change in near) <= divides


@pytest.mark.parametrize(("tokens", "software", "divides"), [(131_072, "", True), (32_768, "", False), (131_072, "litgpt", False)])
def test_long_sequences_are_divided(catalogs, tokens, software, divides):
    job = {"model": "llama-3.1-8b", "sequence_tokens": tokens, "step_tokens": 1_048_576, "implementation": software, "method": "lora"}
    assert (options(job | PLACES, catalogs).board["context_parallel"].max() > 1) == divides


def test_products_and_optimizer_in_8_bits_are_two_questions(catalogs):
    job = {"model": "llama-3.1-8b", "instance": "p6-b200.48xlarge"}
    narrow = rows_of(job | {"fewest_bits": 8}, catalogs)
    assert {*narrow["precision"]} == {"fp8-mixed"}
    assert {*narrow["optimizer"]} == {"adamw"}
    small = rows_of(job | {"optimizer": "adamw-8bit"}, catalogs)
    assert {*small["precision"]} == {"bf16-mixed"}
    assert {*small["optimizer"]} == {"adamw-8bit"}


def test_experts_in_transformers_are_as_fast_as_measured_and_their_adapters_extrapolated(catalogs):
    """Qwen3 30B A3B on 64 H100, sequences of 16k: 3,602 tokens/s on each GPU (transformers, pull request 45436)."""
    layout = {"gpus": 64, "expert_parallel": 8, "sharding": "zero3", "recompute": "full", "sequence_tokens": 16_384}
    row = estimate({"model": "qwen3-30b-a3b", "instance": "p5.48xlarge", **layout}, catalogs)
    assert row["tokens_per_second_per_gpu"] == pytest.approx(3602, rel=0.05)
    # QLoRA of Llama 4 Scout on an H100: 519 to 546 tokens a second (axolotl's README).
    row = one(model="llama-4-scout-17b-16e", tuning="lora", precision="nf4-dq", gpu="h100-80gb-sxm", recompute="full", sequence_tokens=4096)
    assert row["time_basis"] == "extrapolated"
    assert row["low_tokens_per_second"] < 519
    assert row["high_tokens_per_second"] > 546
