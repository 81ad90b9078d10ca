"""What is said of answers: figures that differ as they are said, the true reason, what makes a plan smaller."""

import pytest
from examples import recorded

from calc import answer
from calc.say.setting import arrangement
from calc.search import sentences
from calc.search.options import options

TUNE = {"model": "llama-3.1-8b", "work": "training", "method": "full", "train_tokens": 150_000_000}
SERVE = {"model": "llama-3.1-8b", "work": "inference", "users": 20}


def figures_said(rows, catalogs, seconds):
    job = {"work": "training", "requests_per_second": None, "have": "", "ends": True}
    row, least = rows.iloc[-1].to_dict() | {"seconds": seconds}, rows.iloc[0].to_dict() | {"seconds": 6840.0}
    facts = {"budget": False, "least": least, "next": None, "otherwise": None, "brief": False, "by_agreement": False, "possible": 2}
    return sentences.why(["roomiest"], row, facts, job, catalogs)


def test_a_time_is_compared_only_where_it_is_said_differently_and_a_start_where_it_counts(catalogs):
    rows = options(TUNE, catalogs).answers
    assert "instead of" not in figures_said(rows, catalogs, 6850.0)
    assert "2.9 h instead of 1.9 h" in figures_said(rows, catalogs, 2.9 * 3600)
    for job in (TUNE, TUNE | {"train_tokens": 1e10, "hours_most": 1e4}, TUNE | {"start_seconds": 0}):
        for row in options(job, catalogs).answers.to_dict("records"):
            assert ("starting (" in row["why"]) == (row["start_hours"] > sentences.STARTING_RATIO * row["hours"])
    assert not options(SERVE, catalogs).answers["why"].str.contains("starting (", regex=False).any()


def test_replicas_cures_and_software_are_said_as_they_are(catalogs):
    row = {"work": "training", "gpu": "b200", "gpus": 16, "sharding": "zero2", "recompute": "selective-ops"}
    row |= {"tensor_parallel": 2, "pipeline_parallel": 1, "context_parallel": 1}
    words = arrangement(row, catalogs)
    assert words.startswith("ZeRO 2 over 8 replicas of 2 ")
    assert words.endswith("tensor parallel 2, selective recompute per operator")
    job = TUNE | {"model": "gpt2", "precision": "bf16", "instance": "g4dn.xlarge"}
    problem = options(job, catalogs).problem
    assert problem.startswith("Nothing runs so on the instances allowed: ")
    assert "choose fp16" in problem
    rows = answer({"model": "bert-base-uncased", "work": "inference", "users": 8}, catalogs)
    assert (rows["problem"] == "").all()
    assert set(rows["implementation"]) == {"transformers"}


@pytest.mark.parametrize(("fixed", "cure"), recorded("cases/sentences.json")["cures"])
def test_what_is_too_large_says_what_of_it_is_set_by_hand(catalogs, fixed, cure):
    alone = {"gpus": 8, "tensor_parallel": 1, "pipeline_parallel": 1, "context_parallel": 1, "instance": "g4dn.metal"}
    problem = options({**TUNE, "model": "llama-3.1-70b", **alone, **fixed}, catalogs).problem
    assert problem.startswith("Nothing allowed is large enough: ")
    assert problem.endswith(cure)


def test_what_is_too_large_for_the_cards_that_are_there_names_no_other_cards(catalogs):
    problem, rented = options({"model": "llama-3.1-8b", "method": "full", "have": "1 x l4"}, catalogs).problem.split(" Rented, ")
    assert problem.startswith("Nothing that is there is large enough: ")
    assert "the largest card that is there, L4, has 22.5; take LoRA or fewer bits." in problem
    assert rented.startswith("the same job costs $")
