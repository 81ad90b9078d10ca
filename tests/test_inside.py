"""Files of any form: what runs inside them, with its machines, variables and model."""

import json
from pathlib import Path

import pytest
from examples import catalogs, recorded

from calc.files.configs.inside.cards import cards_in
from calc.files.configs.inside.docker import gpus_of_docker
from calc.files.configs.inside.facts import Fact, near_facts
from calc.files.configs.inside.python_tree import python_tree
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.run import read_runs

FOLDER = Path(__file__).parent / "recorded" / "inside"
EXPECTED = recorded("cases/inside.json")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_of_any_form_is_read_or_refused_by_what_it_is(name):
    """Each service and each machine to choose is a run of its own."""
    document = [(name, (FOLDER / name).read_bytes())]
    if isinstance(EXPECTED[name], str):
        with pytest.raises(ConfigProblem) as problem:
            read_runs(document, catalogs())
        assert str(problem.value) == EXPECTED[name]
        return
    rows = [run.row for run in read_runs(document, catalogs())]
    assert [
        {column: row[column] for column in expected}
        for row, expected in zip(rows, EXPECTED[name], strict=True)
    ] == EXPECTED[name]


def test_every_recorded_file_has_what_it_says():
    assert {path.name for path in FOLDER.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("NVIDIA-A100-SXM4-80GB", [("a100-80gb-sxm", None)]),
        ("nvidia-gpu-h100:1", [("h100-80gb-sxm", 1)]),
        ("8xH100", [("h100-80gb-sxm", 8)]),
        ("nvidia-l4", [("l4", None)]),
        ("RTX4090:2", [("rtx-4090", 2)]),
        ("t4-like-folder/model", [("t4", None)]),
        ("alpha100", []),
    ],
)
def test_a_card_is_known_by_any_spelling(text, cards):
    assert cards_in(text) == cards


@pytest.mark.parametrize(
    ("value", "gpus"),
    [("2", 2), ("all", None), ("device=0,1,2", 3), ('"device=4,5"', 2), ("count=3", 3)],
)
def test_docker_says_how_many_gpus_it_gives(value, gpus):
    assert gpus_of_docker(value) == gpus


def test_a_fact_belongs_to_the_program_that_it_stands_nearest_to():
    first, second = ("services", "a", "command"), ("services", "b", "command")
    own = Fact("gpus", 2, ("services", "a", "gpus"), "")
    other = Fact("gpus", 4, ("services", "b", "gpus"), "")
    both = Fact("instance", "p5.48xlarge", ("instance",), "")
    assert near_facts([other, both, own], first, [second]) == [own, both]


def test_python_is_read_and_never_run():
    tree = python_tree(
        "import os\nN = 2\nwords = ['vllm', 'serve', 'm']\nwords += ['-tp', str(N * 2)]\n"
        "os.system(' '.join(words))\nkwargs = dict(a=1)\nkwargs['b'] = f'x{N}'\nf(**kwargs, c=g)\n",
        "a.py",
    )
    assert tree["line 5"]["0"] == "vllm serve m -tp 4"
    assert tree["line 8"] == {"class": "f", "a": 1, "b": "x2", "c": "${g}"}


def test_what_speaks_of_memory_and_is_not_read_is_named():
    values = {
        "image": "vllm/vllm-openai:v0.9",
        "args": ["--model", "Qwen/Qwen3-8B"],
        "lmcache": {"maxOffloadGb": 30},
    }
    row = read_runs([("a.json", json.dumps(values).encode())], catalogs())[0].row
    assert (row["model"], row["unused"]) == ("qwen3-8b", "lmcache.max_offload_gb")
