"""Requests that take back what they have said: another size, machine, place, sum or number."""

import pytest
from examples import catalogs

from calc import read_request

pytestmark = pytest.mark.usefixtures("read_once")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (
            "sft llama 3.1 8b, wait no, make that the 70B (3.1 too). 9M tokens",
            {"model": "llama-3.1-70b"},
        ),
        ("llama-3.1-8b or rather the 3.3 70b, 9 people", {"model": "llama-3.3-70b"}),
        ("Serve gemma 3 4b. Actually 12b. 30 users.", {"model": "gemma-3-12b"}),
        ("use g6e.xlarge, scratch that, g5.xlarge: phi-4, 9 people", {"instance": ["g5.xlarge"]}),
        ("us-east-1, sorry, eu-west-1: phi-4, 9 people", {"regions": ["eu-west-1"]}),
        ("budget is $500, no, $800, lora phi-4, 9M tokens", {"usd_most": 800}),
        ("lora phi-4 on 10k, no wait, 15k examples of 400 tokens", {"examples": 15_000}),
        ("phi-4, 20 users, no spot, $500 a month", {"people": 20, "usd_most": 500}),
    ],
)
def test_a_correction_takes_back_what_stands_before_it(text, columns):
    reading = read_request(text, catalogs())
    assert {name: reading.columns.get(name) for name in columns} == columns
    assert not reading.questions
