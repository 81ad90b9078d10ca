"""Links of version 1 open still: what they said of the work becomes the job, the rest counts as set by hand."""

import pytest
from examples import recorded

from calc import estimate
from calc.files.link.link import parse
from calc.search.job_fields import JOB, LIMITS, job_fields_of, job_of

# As version 1 wrote them.
FIRST_VISIT = recorded("cases/link_v1.json")["first_visit"]
SERVING = {**FIRST_VISIT, "work": ["inference"], "precision": ["bf16"], "batch": ["20"], "sequence_tokens": ["8192"], "gpus": ["4"]}


def test_training_keeps_every_choice_that_was_made(catalogs):
    choices, complaints = parse(FIRST_VISIT, catalogs)
    assert complaints == []
    assert (choices["goal"], choices["method"], choices["model"]) == ("tune", "full", "llama-3.1-8b")
    assert (choices["regions"], choices["markets"], choices["sequence_tokens"]) == ("us-west-2", "spot", 4096)
    by_hand = {"precision": "bf16-mixed", "optimizer": ["adamw", "adamw-8bit"], "gpus": 8, "batch": 1, "accumulation_steps": 1}
    by_hand |= {"instance": ["p4de.24xlarge", "p5.48xlarge"], "sharding": "zero3", "tensor_parallel": 1, "recompute": "none"}
    assert {name: choices[name] for name in by_hand} == by_hand
    assert not {"lora_rank", "attention", "hours_per_month", "kv_precision", "gpu", "period", "layout", "work"} & set(choices)
    assert {name: choices[name] for name in LIMITS} == dict.fromkeys(LIMITS, "")


@pytest.mark.parametrize(
    ("tuning", "precision", "method"), [("lora", "bf16", "lora"), ("lora", "nf4-dq", "qlora"), ("full", "bf16", "full")]
)
def test_tuning_and_precision_make_the_method(catalogs, tuning, precision, method):
    choices, _ = parse({**FIRST_VISIT, "tuning": [tuning], "precision": [precision]}, catalogs)
    assert (choices["goal"], choices["method"], choices["precision"]) == ("tune", method, precision)


def test_serving_has_its_users_prompt_and_answer_and_as_set_its_degrees(catalogs):
    choices, complaints = parse({**SERVING, "prompt_tokens": ["6000"], "implementation": ["vllm"]}, catalogs)
    assert complaints == []
    assert (choices["goal"], choices["prompt_tokens"], choices["answer_tokens"]) == ("serve", 6000, 2192)
    assert (choices["users"], choices["batch"], choices["implementation"]) == (20, 20, "vllm")
    assert "tensor_parallel" not in choices  # version 1 divided the model by itself
    query = {**SERVING, "layout": ["given"], "tensor_parallel": ["2"], "pipeline_parallel": ["1"], "context_parallel": ["1"]}
    choices, _ = parse(query, catalogs)
    assert (choices["tensor_parallel"], choices["users"]) == (2, 40)


def test_an_address_written_by_hand_may_say_either(catalogs):
    choices, complaints = parse({"model": ["gpt2"], "work": ["inference"], "gpus": ["2"]}, catalogs)
    assert complaints == []
    assert choices == {"model": "gpt2", "goal": "serve", "gpus": 2}
    assert parse({"model": ["gpt2"], "region": ["us-west-2"]}, catalogs)[0] == {"model": "gpt2", "regions": "us-west-2"}


def test_a_scenario_read_as_a_job_asks_for_itself(catalogs):
    """Every column of a result row that decides its figures is in the job that it stands for."""
    scenario = {"model": "llama-3.1-8b", "work": "training", "gpus": 8, "sharding": "zero2", "instance": "p5.48xlarge", "batch": 2}
    row = estimate(scenario | {"sequence_tokens": 2048, "train_tokens": 5e9, "accumulation_steps": 4}, catalogs, solve=False)
    asked, by_hand = job_fields_of({name: row[name] for name in scenario} | {"sequence_tokens": 2048, "train_tokens": 5e9}, catalogs)
    job = job_of({name: asked.get(name, field.default) for name, field in JOB.items()} | {"regions": [], "markets": ["spot"]}, by_hand)
    assert {name: job[name] for name in scenario} == scenario
    assert (job["train_tokens"], job["sequence_tokens"], job["regions"], job["markets"]) == (5e9, 2048, "anywhere", "spot")
