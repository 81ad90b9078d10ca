"""The shapes that a training tries on a count of GPUs."""

from itertools import product

import pytest

from calc.answers.full_answer import full_answer
from calc.job.resolve import resolve
from calc.search.first_rows import first_row, first_rows
from calc.search.free_choices import ENGINE_DEGREES, engine_degrees
from calc.search.layouts import tokens_each
from calc.search.options import options
from calc.search.shapes import mixed_degrees

JOB = {"goal": "train", "model": "llama-3.1-70b", "implementation": "megatron"}
TIE_RATIO = 0.01  # within which the answer may be the easier option


@pytest.mark.parametrize(
    ("change", "is_tried"),
    [
        ({}, True),
        ({"implementation": "transformers"}, False),  # divides no matrices
        ({"pipeline_parallel": 1}, False),
        ({"model": "llama-3.1-8b"}, False),  # which no deep pipeline makes cheaper
    ],
)
def test_stages_are_tried_beside_divided_matrices(catalogs, change, is_tried):
    assert ((4, 4, 1) in mixed_degrees(resolve(JOB | change, catalogs), catalogs)) is is_tried


def test_degrees_set_by_hand_make_a_large_training_no_cheaper(catalogs):
    """Nor does a micro-batch between powers of two."""
    job = {"goal": "tune", "model": "llama-3.1-70b", "implementation": "megatron"}
    job |= {"train_tokens": 1e9, "hours_most": 100, "instance": "p5.48xlarge"}
    degrees = product((1, 2, 4, 8), (1, 2, 4, 8))
    by_hand = [{"tensor_parallel": one, "pipeline_parallel": other} for one, other in degrees]
    by_hand += [{"batch": sequences} for sequences in (3, 5, 6)]
    free, *rows = first_rows([job, *(job | change for change in by_hand)], catalogs)
    cheaper = [
        change
        for change, row in zip(by_hand, rows, strict=True)
        if row is not None and row["usd"] * (1 + TIE_RATIO) < free["usd"]
    ]
    assert cheaper == []
    assert free["pipeline_parallel"] > 2


def test_of_many_values_each_costs_what_it_costs_alone(catalogs):
    """Stages are the answer of one of them, and are searched apart from the others."""
    job = {
        "goal": "train",
        "model": "llama-3.1-70b",
        "train_tokens": 2e9,
        "step_tokens": 2**21,
        "sequence_tokens": 8192,
        "hours_most": 400,
        "instance": "p6-b200.48xlarge",
        "gpus": 16,
        "recompute": "none",
    }
    precisions = ["bf16-mixed", "fp8-mixed", "bf16"]
    board = options(job | {"precision": precisions}, catalogs).board
    alone = [first_row(job | {"precision": name}, catalogs) for name in precisions]
    for name, row in zip(precisions, alone, strict=True):
        listed_usd = board[board["precision"] == name]["usd"].min()
        assert listed_usd == pytest.approx(row["usd"], rel=TIE_RATIO), name
    assert alone[0]["pipeline_parallel"] > 1


@pytest.mark.parametrize(("objective", "sequences"), [("sft", 1), ("kto", 1), ("dpo", 2)])
def test_an_example_of_preferences_is_a_pair_of_sequences(catalogs, objective, sequences):
    """Else the accumulations are twice too long, and one that breaks the step hides others."""
    job = resolve({"model": "llama-3.1-8b", "objective": objective}, catalogs)
    assert tokens_each(job, catalogs) == sequences * job.sequence_tokens


@pytest.mark.parametrize(
    ("model", "most"), [("llama-3.2-1b", 1), ("qwen2.5-7b", 2), ("qwen2.5-32b", 8)]
)
def test_a_large_engine_is_divided_over_as_many_gpus_as_it_may_need(catalogs, model, most):
    assert engine_degrees(model, catalogs)[1:] == [each for each in ENGINE_DEGREES if each <= most]


@pytest.mark.parametrize(
    ("model", "objective", "software"),
    [
        ("qwen3-8b", "grpo", "transformers"),
        ("qwen2.5-32b", "grpo", "verl"),
        ("qwen2.5-32b", "dpo", "transformers"),
    ],
)
def test_what_trains_with_generated_answers_is_what_people_use_at_that_size(
    catalogs, model, objective, software
):
    job = resolve({"goal": "tune", "model": model, "objective": objective}, catalogs)
    assert job.implementation == software


def test_an_answer_names_the_software_that_nobody_asked_for(catalogs):
    place = {"instance": "p6-b200.48xlarge", "instances_most": 1, "markets": "on-demand"}
    job = {"model": "qwen2.5-32b", "objective": "grpo", "examples": 500} | place
    named = full_answer(job | {"implementation": "verl"}, catalogs).rows[0]["why"]
    unnamed = full_answer(job, catalogs).rows[0]["why"]
    assert "verl trains it" in unnamed
    assert "GPUs for each engine that answers" in unnamed
    assert "trains it" not in named
