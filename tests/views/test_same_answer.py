"""One job has the same first answer at every door, for ten jobs of all kinds of work."""

import re

import pytest
from examples import catalogs
from pages import cards, job_line, opened, pasted, title, turned

from calc import answer
from calc.commands.agent import answer_tool
from calc.files.request import request_of
from calc.files.request_answer import answer_request
from calc.say.numbers import about
from calc.say.verdict import memory_of

SEVERAL = ("regions", "markets")
JOBS = {
    "pretraining": {
        "goal": "train",
        "model": "llama-3.1-8b",
        "train_tokens": 2e10,
        "hours_most": 720,
    },
    "full": {
        "goal": "tune",
        "model": "qwen3-4b",
        "method": "full",
        "examples": 20_000,
        "epochs": 3,
    },
    "lora": {
        "goal": "tune",
        "model": "llama-3.1-70b",
        "method": "lora",
        "examples": 10_000,
        "example_tokens": 800,
        "epochs": 2,
        "hours_most": 48,
    },
    "qlora": {
        "goal": "tune",
        "model": "qwen2.5-32b",
        "method": "qlora",
        "examples": 5000,
        "epochs": 1,
        "markets": "spot",
    },
    "dpo": {
        "goal": "tune",
        "model": "llama-3.1-8b",
        "objective": "dpo",
        "examples": 20_000,
        "example_tokens": 700,
        "epochs": 2,
    },
    "grpo": {
        "goal": "tune",
        "model": "qwen2.5-7b",
        "objective": "grpo",
        "examples": 2000,
        "example_tokens": 1000,
        "completion_tokens": 1024,
        "sequence_tokens": 2048,
        "epochs": 1,
        "instances_most": 2,
    },
    "chat": {"goal": "serve", "model": "llama-3.3-70b", "people": 300, "context_tokens": 8192},
    "batch": {
        "goal": "serve",
        "model": "qwen3-8b",
        "tokens_total": "5e9",
        "prompt_tokens": 1500,
        "answer_tokens": 300,
        "hours_most": 72,
    },
    "embeddings": {
        "goal": "serve",
        "model": "bge-m3",
        "requests_per_second": 200,
        "prompt_tokens": 256,
        "regions": "us-east-1+us-west-2",
    },
    "sound": {"goal": "serve", "model": "whisper-large-v3", "tokens_total": "2000 hours"},
    "captions": {
        "goal": "serve",
        "model": "qwen2.5-vl-7b",
        "tokens_total": "200000 images",
        "answer_tokens": 100,
    },
    "images": {
        "goal": "serve",
        "model": "siglip2-so400m-patch14-384",
        "tokens_total": "5000000 images",
    },
}


def money_in(text):
    """The first amount of money in a text, which is rounded. [USD]"""
    return float(re.search(r"\$([\d,]+(?:\.\d+)?)", text)[1].replace(",", ""))


@pytest.mark.long
@pytest.mark.sample(3)
@pytest.mark.parametrize("name", JOBS)
def test_a_job_has_the_same_answer_at_every_door(name):
    job = JOBS[name]
    first = answer(job, catalogs()).iloc[0]
    money, memory = about(first["usd"]), memory_of(first.to_dict())
    shown = answer_request(request_of([], catalogs(), dict(job))).row
    assert {column: shown[column] for column in ("usd", "hours", "instance", "market")} == {
        column: first[column] for column in ("usd", "hours", "instance", "market")
    }
    told = answer_tool(catalogs(), columns=job)
    assert money in told
    assert memory in told
    plan = opened(
        **{
            column: value.split("+") if column in SEVERAL else str(value)
            for column, value in job.items()
        }
    )
    assert money in cards(plan)[0]
    assert first["instance"] in cards(plan)[0]
    assert money_in(title(turned(plan, "compare"))) == pytest.approx(first["usd"], rel=0.05)
    board = turned(plan, "instances").dataframe[0].value
    assert board["usd"].iloc[0] == pytest.approx(first["usd"])
    assert first["instance"] in board["instance"].iloc[0]


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("serve llama-3.1-8b to 500 people, 20% of them active", "one in five active: 100 req"),
        ("serve qwen3-32b to 350 people, 40 requests in flight", "11 % active: 40 requests"),
    ],
)
def test_a_share_that_a_text_names_is_that_of_the_page(text, said):
    assert said in job_line(pasted(opened(), text))
