"""Requests in terms that people use beside the usual ones: refusals, ceilings, shares, passes."""

import pytest
from examples import catalogs

from calc import read_request

pytestmark = pytest.mark.usefixtures("read_once")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("llama-3.3-70b, 16 users, P instances were denied", {"excludes": "p", "instance": None}),
        (
            "P family is off limits, G5 too: lora phi-4, 5M tokens",
            {"excludes": "p+g5", "instance": None},
        ),
        ("no p5, neither p4d: lora phi-4, 5M tokens", {"excludes": "p5+p4d"}),
        (
            "no p4d, and spot is fine too: lora phi-4, 5M tokens",
            {"excludes": "p4d", "markets": ["on-demand", "capacity-block", "spot"]},
        ),
        ("the ceiling is 4 GPUs, llama-3.3-70b for 20 users", {"gpus_most": 4, "gpus": None}),
        (
            "qwen3-8b, 9 users, 45k prompts, 80% of that comes out of the cache",
            {"prompt_tokens": 45_000, "shared_prompt_tokens": 36_000},
        ),
        (
            "pretrain smollm2-1.7b on 800B tokens with 2M-token batches",
            {"run_tokens": 8e11, "step_tokens": 2e6},
        ),
        ("train llama-3.2-1b from nothing on 10B tokens", {"goal": "train", "run_tokens": 1e10}),
        ("lora phi-4, 6000 dialogues of 900 tokens, go over the data 3 times", {"epochs": 3}),
        ("lora phi-4, 6000 dialogues of 900 tokens, see the data twice", {"epochs": 2}),
        (
            "qwen3-8b, prompt / answer: 4,000 / 450 tokens, 20 users",
            {"prompt_tokens": 4000, "answer_tokens": 450},
        ),
        (
            "qwen3-8b, output and input: 450 and 4000 tokens, 20 users",
            {"prompt_tokens": 4000, "answer_tokens": 450},
        ),
        (
            "no more than 2 seconds of a blank screen: phi-4, 80 users",
            {"first_token_seconds": 2},
        ),
    ],
)
def test_a_term_is_read_as_the_usual_one(text, columns):
    reading = read_request(text, catalogs())
    assert {name: reading.columns.get(name) for name in columns} == columns
    assert not reading.questions


@pytest.mark.parametrize(
    "text",
    [
        "summarize all our contracts overnight with qwen3-32b",
        "translate the whole manual within a day with qwen3-32b",
    ],
)
def test_work_until_a_deadline_asks_how_much_it_is(text):
    questions = read_request(text, catalogs()).questions
    assert [question.column for question in questions] == ["tokens_total"]


def test_documents_until_a_deadline_are_work_enough():
    reading = read_request("classify 5M documents of 300 tokens in 9 h, qwen3-8b", catalogs())
    assert not reading.questions
