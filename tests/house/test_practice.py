"""Training and serving as people run them: what answers try unasked, and what only a job that names
it gets.
"""

import pytest
from examples import recorded

from calc import add_models, estimate
from calc.answers.advice import advise
from calc.answers.full_answer import full_answer as options
from calc.models.huggingface.config import read_config

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
    scenario = {
        "model": "llama-3.1-8b",
        "instance": "p5.48xlarge",
        "gpus": 8,
        "batch": 4,
        "train_tokens": 1e9,
    }
    for software, divides in (("transformers", False), ("torchtitan", True)):
        near = advise(scenario | {"implementation": software}, catalogs)["set"]
        assert any(change.get("tensor_parallel", 1) > 1 for change in near) <= divides


@pytest.mark.parametrize(
    ("tokens", "software", "divides"),
    [(131_072, "", True), (8_192, "", False), (131_072, "litgpt", False)],
)
def test_long_sequences_are_divided(catalogs, tokens, software, divides):
    job = {
        "model": "llama-3.1-8b",
        "sequence_tokens": tokens,
        "step_tokens": 1_048_576,
        "implementation": software,
        "method": "lora",
    }
    assert (options(job | PLACES, catalogs).board["context_parallel"].max() > 1) == divides


def test_products_and_optimizer_in_8_bits_are_two_questions(catalogs):
    job = {"model": "llama-3.1-8b", "instance": "p6-b200.48xlarge"}
    narrow = rows_of(job | {"fewest_bits": 8}, catalogs)
    assert {*narrow["precision"]} == {"fp8-mixed"}
    assert {*narrow["optimizer"]} == {"adamw"}
    small = rows_of(job | {"optimizer": "adamw-8bit"}, catalogs)
    assert {*small["precision"]} == {"bf16-mixed"}
    assert {*small["optimizer"]} == {"adamw-8bit"}


def test_experts_in_transformers_are_as_fast_as_measured(catalogs):
    """Qwen3 30B A3B on 64 H100, sequences of 16k: 3,602 tokens/s on each GPU (transformers, pull
    request 45436).
    """
    layout = {
        "gpus": 64,
        "expert_parallel": 8,
        "sharding": "zero3",
        "recompute": "full",
        "sequence_tokens": 16_384,
    }
    row = estimate({"model": "qwen3-30b-a3b", "instance": "p5.48xlarge", **layout}, catalogs)
    assert row["tokens_per_second_per_gpu"] == pytest.approx(3602, rel=0.05)


SAME = (
    "work",
    "model",
    "implementation",
    "instance",
    "gpus",
    "tensor_parallel",
    "batch",
    "precision",
    "prompt_tokens",
    "sequence_tokens",
)
SERVED = {"work": "inference", "users": 8}


@pytest.mark.long
def test_the_makers_published_weights_are_the_default_and_a_quantized_file_is_served_as_it_is(
    catalogs,
):
    served = options(SERVED | {"model": "gpt-oss-20b", "fewest_bits": 4}, catalogs)
    assert "mxfp4" in set(served.board["precision"])
    assert not {"awq-4bit", "gptq-4bit"} & set(served.board["precision"])
    for model, formats, words in recorded("cases/published_precision.json")["makers"]:
        answers = options(
            SERVED | {"model": model, "instance": ["g6.xlarge", "g6e.xlarge", "p5.48xlarge"]},
            catalogs,
        )
        assert set(answers.board["precision"]) <= {*formats}, model
        assert words in answers.answers["why"].iloc[0], model
        assert set(answers.board["kv_precision"]) == {""}
    to_make = {
        "model": "llama-3.1-8b",
        "precision": "int4",
        "instance": "g6.xlarge",
        "implementation": "transformers",
    }
    made = options(SERVED | to_make, catalogs)
    assert (
        "no published 4-bit weights are known: you have to produce" in made.answers["why"].iloc[0]
    )
    bits = "its weights are published in 4 bits, which the job does not allow"
    assert (
        bits
        in options(SERVED | {"model": "gpt-oss-20b", "fewest_bits": 16}, catalogs)
        .answers["why"]
        .iloc[0]
    )
    sizes = {
        "model_type": "llama",
        "hidden_size": 2048,
        "num_hidden_layers": 16,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
    }
    stored = {
        "intermediate_size": 8192,
        "vocab_size": 128256,
        "quantization_config": {"quant_method": "awq", "bits": 4},
    }
    with_it = add_models(catalogs, {"it": read_config({**sizes, **stored}, "it", catalogs)})
    assert set(options(SERVED | {"model": "it"}, with_it).board["precision"]) == {"awq-4bit"}
    assert set(
        options(SERVED | {"model": "it", "precision": "bf16"}, with_it).board["precision"]
    ) == {"bf16"}


def test_shards_of_block_scaled_weights_are_whole_blocks(catalogs):
    """vLLM issues 17569 and 17604: a GPU's columns are whole blocks of 128, or groups, else the
    file does not load.
    """
    row = {"work": "inference", "implementation": "vllm"}
    for model, precision, degree, divides in recorded("cases/published_precision.json")["shards"]:
        scenario = row | {
            "model": model,
            "precision": precision,
            "tensor_parallel": degree,
            "gpus": degree,
        }
        problem = estimate(scenario, catalogs, False)["problem"]
        assert ("not whole blocks of 128" in problem) != divides, (model, degree, problem)
    spread = row | {"precision": "fp8", "tensor_parallel": 8, "gpus": 8, "expert_parallel": 8}
    # The last has a shared expert (pull 52915).
    faults = {
        "qwen3-30b-a3b": "",
        "minimax-m2.5": "",
        "qwen3.6-35b-a3b": "a GPU's 64 columns",
    }
    for model, words in faults.items():
        problem = estimate(spread | {"model": model}, catalogs, False)["problem"]
        assert words in problem if words else problem == "", model


def test_experts_are_divided_whole_where_tensor_parallel_cuts_their_blocks_and_only_there(catalogs):
    """vLLM's recipes serve Qwen3-Coder-480B-FP8 on eight H100 with --enable-expert-parallel: 2560 /
    8 is no multiple of 128.
    """
    job = SERVED | {"model": "qwen3-coder-480b-a35b", "instance": "p5.48xlarge"}
    answer = options(job, catalogs).answers.iloc[0]
    assert (answer["tensor_parallel"], answer["expert_parallel"], answer["precision"]) == (
        8,
        8,
        "fp8",
    )
    assert "tensor parallel 8, expert parallel 8, fp8" in answer["why"]
    assert (
        estimate({name: answer[name] for name in ("expert_parallel", *SAME)}, catalogs, False)[
            "problem"
        ]
        == ""
    )
    assert set(
        options(job | {"instance": "p6-b200.48xlarge", "tensor_parallel": 4}, catalogs).board[
            "expert_parallel"
        ]
    ) == {1}
    alone = options(job | {"expert_parallel": 1, "instances_most": 1}, catalogs)
    assert "needs 2 instances" in alone.problem  # by hand it stays, as a pipeline over two
    apart = {
        "model": job["model"],
        "work": "inference",
        "implementation": "vllm",
        "precision": "fp8",
        "gpus": 8,
        "expert_parallel": 8,
    }
    # Experts divided over instances need a network between them.
    for instance, joins in (
        ("g7e.2xlarge", False),
        ("g7e.48xlarge", True),
    ):
        assert (
            "has no EFA" in estimate(apart | {"instance": instance}, catalogs, False)["problem"]
        ) != joins


def test_fp8_experts_on_cards_without_fp8_are_whole_tiles_of_their_kernel(catalogs):
    """vLLM pull request 36807: Marlin divides an expert's inner width by 64, and 1,856 / 4 it does
    not.
    """
    row = {
        "work": "inference",
        "implementation": "vllm",
        "model": "nemotron-3-nano-30b-a3b",
        "tensor_parallel": 4,
        "gpus": 4,
    }
    for instance, precision, runs in (
        ("g5.12xlarge", "fp8", False),
        ("g6.12xlarge", "fp8", True),
        ("g5.12xlarge", "bf16", True),
    ):
        problem = estimate(row | {"instance": instance, "precision": precision}, catalogs, False)[
            "problem"
        ]
        assert ("464 columns of an expert are not whole tiles" in problem) != runs, (
            instance,
            precision,
        )
    job = SERVED | {"model": row["model"], "instance": ["g5.12xlarge", "g6.12xlarge"]}
    board = options(job | {"expert_parallel": 1}, catalogs).board  # every expert divided
    assert {*zip(board["instance"], board["precision"], strict=True)} >= {
        ("g6.12xlarge", "fp8"),
        ("g5.12xlarge", "bf16"),
    }
    assert board[(board["instance"] == "g5.12xlarge") & (board["precision"] == "fp8")].empty
