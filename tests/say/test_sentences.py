"""What is said of answers: figures that differ as they are said, the true reason, what makes a plan
smaller, changes and their quality.
"""

import pytest
from examples import recorded

from calc import answer
from calc.answers.full_answer import full_answer as options
from calc.job.resolve import resolve
from calc.say.answer import why
from calc.say.change import change_in_words, quality
from calc.say.numbers import count
from calc.say.setting import arrangement
from calc.search.facts import Reasons
from calc.search.reasons import STARTING_RATIO, STEP_RATIO

TUNE = {"model": "llama-3.1-8b", "work": "training", "method": "full", "train_tokens": 150_000_000}
SERVE = {"model": "llama-3.1-8b", "work": "inference", "users": 20}


def roomiest_in_words(rows, catalogs, seconds):
    """Why the last row is the roomiest answer, if its run took so many seconds."""
    row = rows.iloc[-1].to_dict() | {"seconds": seconds}
    least = rows.iloc[0].to_dict() | {"seconds": 6840.0}
    reasons = Reasons(("roomiest",), (), row, least)
    return why(reasons, {}, resolve(TUNE, catalogs), catalogs)


def test_a_time_is_compared_only_where_it_is_said_differently_and_a_start_where_it_counts(catalogs):
    rows = options(TUNE, catalogs).answers
    assert "instead of" not in roomiest_in_words(rows, catalogs, 6850.0)
    assert "2.9 h instead of 1.9 h" in roomiest_in_words(rows, catalogs, 2.9 * 3600)
    for job in (
        TUNE,
        TUNE | {"train_tokens": 1e10, "hours_most": 1e4},
        TUNE | {"start_seconds": 0},
    ):
        for row in options(job, catalogs).answers.to_dict("records"):
            assert ("starting (" in row["why"]) == (
                row["start_hours"] > STARTING_RATIO * row["hours"]
            )
    assert not options(SERVE, catalogs).answers["why"].str.contains("starting (", regex=False).any()


@pytest.mark.parametrize(
    ("gpus", "step_tokens"), [(8, 131_072), (8, 30_000), (8, 2_000_000), (24, 131_072)]
)
def test_a_step_that_is_far_from_the_requested_is_said(gpus, step_tokens, catalogs):
    job = TUNE | {
        "instance": "p5.48xlarge",
        "gpus": gpus,
        "batch": 1,
        "step_tokens": step_tokens,
        "accumulation_steps": 1,
        "step_factor": 100,
    }
    row = options(job, catalogs).rows[0]
    far = max(row["step_tokens"] / step_tokens, step_tokens / row["step_tokens"]) > STEP_RATIO
    assert (
        f"a step takes {count(row['step_tokens'])} tokens instead of {count(step_tokens)}"
        in row["why"]
    ) == far


def test_replicas_cures_and_software_are_said_as_they_are(catalogs):
    row = {
        "work": "training",
        "gpu": "b200",
        "gpus": 16,
        "sharding": "zero2",
        "recompute": "selective-ops",
    }
    row |= {"tensor_parallel": 2, "pipeline_parallel": 1, "context_parallel": 1}
    words = arrangement(row, catalogs)
    assert words.startswith("ZeRO 2 over 8 replicas of 2 ")
    assert words.endswith("tensor parallel 2, selective recompute per operator")
    words = arrangement(row | {"tensor_parallel": 1, "context_parallel": 16}, catalogs)
    assert words.startswith("ZeRO 2 over 16 ")
    assert ", context parallel 16, " in words
    elsewhere = options(
        {
            "model": "deepseek-v3",
            "work": "inference",
            "regions": "eu-central-1",
            "pipeline_parallel": 1,
        },
        catalogs,
    ).problem
    assert "; allow other regions, or take fewer bits. Instead: " in elsewhere
    nowhere = options(
        {"model": "llama-3.1-8b", "work": "inference", "users": 1e12}, catalogs
    ).problem
    assert "; set fewer concurrent sequences, or take fewer bits." in nowhere
    job = TUNE | {"model": "gpt2", "precision": "bf16", "instance": "g4dn.xlarge"}
    problem = options(job, catalogs).problem
    assert problem.startswith("No allowed instance runs this configuration: ")
    assert "choose fp16" in problem
    rows = answer({"model": "bert-base-uncased", "work": "inference", "users": 8}, catalogs)
    assert (rows["problem"] == "").all()
    assert set(rows["implementation"]) == {"transformers"}


@pytest.mark.parametrize(("fixed", "cure"), recorded("cases/sentences.json")["cures"])
def test_what_is_too_large_says_what_of_it_is_set_by_hand(catalogs, fixed, cure):
    alone = {
        "gpus": 8,
        "tensor_parallel": 1,
        "pipeline_parallel": 1,
        "context_parallel": 1,
        "instance": "g4dn.metal",
    }
    problem = options({**TUNE, "model": "llama-3.1-70b", **alone, **fixed}, catalogs).problem
    assert problem.startswith("No allowed GPU is large enough: ")
    assert problem.partition(" Instead: ")[0].endswith(cure)


def test_what_is_too_large_for_the_cards_that_are_there_names_no_other_cards(catalogs):
    problem, rented = options(
        {"model": "llama-3.1-8b", "method": "full", "have": "1 x l4"}, catalogs
    ).problem.split(" Rented, ")
    assert problem.startswith("None of your GPUs is large enough: ")
    assert "your largest GPU, L4, has 22.5; take LoRA or fewer bits." in problem
    assert rented.startswith("the same job costs $")


PLAN = {
    "model": "llama-3.1-8b",
    "instance": "p5.48xlarge",
    "gpus": 8,
    "sharding": "zero3",
    "sequence_tokens": 4096,
}
TOO_LARGE = PLAN | {"instance": "p4d.24xlarge"}


def test_a_change_says_what_it_costs_in_quality_and_who_says_so(catalogs):
    assert quality({"recompute": "full"}, catalogs) == (
        "the same numbers",
        "Chen et al. 2016, arXiv 1604.06174",
    )
    words, source = quality({"tuning": "lora", "precision": "nf4-dq"}, catalogs)
    assert "QLoRA" in words
    assert "2305.14314" in source
    assert "stall" in quality({"precision": "bf16"}, catalogs)[0]
    assert quality({"precision": "bf16"}, catalogs, serves=True)[0] == "none"
    assert quality({"region": "us-east-2"}, catalogs) == ("", "")


@pytest.mark.parametrize(
    ("change", "words"),
    recorded("cases/reasons.json")["changes"],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_changes_are_said_in_the_words_of_the_catalogs(catalogs, change, words):
    assert change_in_words(change, catalogs, serves="concurrent" in words) == words
