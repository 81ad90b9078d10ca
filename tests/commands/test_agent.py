"""The agent's tools: twenty natural tasks in at most three calls each, directly and through a
client of the mcp package.
"""

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
from examples import catalogs, recorded

from calc.commands.agent import MOST_BYTES, compare_tool, estimate_tool
from calc.commands.serve_mcp import TOOLS
from calc.models.huggingface.config import ConfigError
from calc.scenarios.problems import TableError

TASKS = recorded("cases/agent.json")
ROOT = Path(__file__).resolve().parents[2]


def reply(tool, inputs):
    try:
        return TOOLS[tool][0](catalogs(), **inputs)
    except (ValueError, ConfigError) as error:
        return str(error)


@pytest.mark.sample(4)
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task["task"])
def test_a_task_is_solved_in_three_calls(monkeypatch, task):
    """The changes of an estimate, which cost most of its time, have tests of their own."""
    monkeypatch.setattr("calc.commands.sheet.advise", lambda *_: pd.DataFrame())
    replies = [reply(*call) for call in task["calls"]]
    assert len(replies) <= 3
    assert [words for words in task["says"] if words not in replies[-1]] == []
    assert max(len(text.encode()) for text in replies) <= MOST_BYTES


def test_there_are_twenty_tasks():
    assert len({task["task"] for task in TASKS}) == 20


@pytest.mark.parametrize(
    ("tool", "inputs", "sentence"),
    [
        (
            estimate_tool,
            {"columns": {"model": "gpt2", "bach": 4}},
            "There is no column 'bach'; use batch",
        ),
        (estimate_tool, {"text": "lora on an L4"}, "No model is named"),
        (
            compare_tool,
            {
                "first": "gpt2 lora on g6.xlarge",
                "second": "llama-3.1-405b full fine-tuning on g4dn.xlarge",
            },
            "No allowed GPU is large enough",
        ),
    ],
)
def test_an_error_is_one_sentence(tool, inputs, sentence):
    with pytest.raises(TableError, match=sentence):
        tool(catalogs(), **inputs)


@pytest.mark.long
def test_a_client_solves_the_tasks_over_stdio():
    mcp = pytest.importorskip("mcp", reason="the package mcp is not installed: make agent")
    from mcp.client.stdio import StdioServerParameters

    async def solved():
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "calc", "serve-mcp"], cwd=ROOT
        )
        async with mcp.Client(server) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == set(TOOLS)
            for task in TASKS:
                results = [await client.call_tool(*call) for call in task["calls"]]
                text = results[-1].content[0].text
                assert not results[-1].is_error
                assert [words for words in task["says"] if words not in text] == [], task["task"]
                assert len(text.encode()) <= MOST_BYTES

    with ThreadPoolExecutor(
        1
    ) as pool:  # the browser of other tests runs its own loop in this thread
        pool.submit(lambda: asyncio.run(solved())).result()
