"""Whatever is pasted: configs, commands and logs made at random end in an answer or in one
sentence.
"""

import json
from functools import cache

import pytest
from examples import catalogs, recorded, steady
from hypothesis import given
from hypothesis import strategies as st

from calc import estimate
from calc.files.configs.field_report import STANDINGS
from calc.files.configs.fields import tools
from calc.files.configs.preference import objective_of
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.run import read_run
from calc.files.oom.explain import LogProblem, explain_text, tells
from calc.scenarios.inputs import BY_NAME

SIZES = st.one_of(
    st.builds(
        "{:.2f} {}".format, st.floats(0, 4000), st.sampled_from(["GiB", "MiB", "KiB", "TiB"])
    ),
    st.sampled_from(["0 bytes", "0.00 GiB", "512 bytes", "999999999 GiB", "0 bytes", "0.00 GiB"]),
)
COUNTS = st.sampled_from([0, 0, 15, 30, 4096, 131072, 10**12])
LINES = recorded("cases/pasted_text.json")["lines"]
PREFERENCE = recorded("cases/preference.json")
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**18), 10**18),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(
        [
            "true",
            "auto",
            "bf16",
            "full",
            "${VAR}",
            "1e400",
            "fsdp",
            "h100:8",
            "10ba",
            "gpt2",
            "a/b",
            "8K",
        ]
    ),
    st.lists(
        st.one_of(
            st.text(max_size=5), st.integers(), st.dictionaries(st.text(max_size=4), st.integers())
        ),
        max_size=3,
    ),
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2),
)


@st.composite
def logs(draw):
    text = "\n".join(draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=4)))
    while "{}" in text or "{#}" in text:
        text = text.replace("{}", draw(SIZES), 1).replace("{#}", str(draw(COUNTS)), 1)
    cut = st.sampled_from([0, 0, 0, 9, 20])
    return text[draw(cut) : len(text) - draw(cut)] + draw(st.text(max_size=8))


@st.composite
def configs(draw):
    tool = draw(st.sampled_from(list(tools().values())))
    names = st.sampled_from([*tool.fields, *tool.marks, "a_field_of_next_year"])
    return tool, draw(st.dictionaries(names, VALUES, min_size=1, max_size=8))


@cache
def plan(work):
    model = {"model": "llama-3.1-8b", "precision": "bf16", "gpu": "a10g", "work": work}
    return estimate(
        model | ({"implementation": "vllm"} if work == "inference" else {}), catalogs(), solve=False
    )


def answer_of(call, *arguments):
    """What the call returns, or the sentence that it refuses with."""
    try:
        return call(*arguments)
    except (ConfigProblem, LogProblem) as error:
        return str(error)


def read(name, text):
    """Reads a text as a run: every column has a standing, or one sentence says why it cannot be
    read.
    """
    run = answer_of(read_run, [(name, text.encode("utf-8", "replace"))], catalogs())
    if isinstance(run, str):
        assert run.startswith(name)
        assert run[-1] == "."
    else:
        assert {line.standing for line in run.lines} <= set(STANDINGS)
        assert set(run.row) >= {*BY_NAME, "problem", "unused", "source_file"}


@steady(40)
@given(text=logs(), work=st.sampled_from(["training", "inference"]))
def test_any_log_is_explained_or_refused_in_a_sentence(text, work):
    tells(text.encode("utf-8", "replace"))
    explanation = answer_of(explain_text, text, plan(work), catalogs())
    if isinstance(explanation, str):
        assert "\n" not in explanation
        return
    assert all(sentence.strip() and "nan" not in sentence for sentence in explanation.sentences)
    assert all(part.measured >= 0 for part in explanation.parts)


STARTS = (
    "torchrun --nproc_per_node 8 t.py",
    "vllm serve gpt2",
    "accelerate launch t.py",
    "aws ec2 run-instances",
)


@steady(30)
@given(made=configs(), start=st.sampled_from(["", *STARTS]))
def test_any_config_or_command_is_read_or_refused_in_a_sentence(made, start):
    _, fields = made
    command = " ".join(
        [start, *(f"--{name.replace('_', '-')} {value}" for name, value in fields.items())]
    )
    read("a.sh", command) if start else read("a.json", json.dumps(fields))


@steady(20)
@given(
    text=st.text(max_size=200),
    start=st.sampled_from(
        ["", "def a():\n    return C(", "#SBATCH -N ", "base_model: gpt2\n", "[model]\n", "{"]
    ),
    name=st.sampled_from(["a.yaml", "a.toml", "a.json", "a.py", "a.sh", "pasted"]),
)
def test_any_text_is_read_or_refused_in_a_sentence(text, start, name):
    read(name, start + text)


@pytest.mark.parametrize("text", PREFERENCE["refused"])
def test_a_trainer_by_preference_or_reward_that_is_not_read_is_refused_by_name(text):
    with pytest.raises(ConfigProblem, match="preference or reward") as raised:
        read_run([("pasted", text.encode())], catalogs())
    assert f"({PREFERENCE['refused'][text]}" in str(raised.value)


@pytest.mark.parametrize("text", PREFERENCE["read"])
def test_preference_and_reward_are_the_objective_of_a_run(text):
    assert (
        read_run([("pasted", text.encode())], catalogs()).row["objective"]
        == PREFERENCE["read"][text]
    )


@pytest.mark.parametrize("text", PREFERENCE["supervised"])
def test_supervised_runs_are_not_refused(text):
    """Whatever their runs, folders, data and comments are called."""
    assert objective_of(text, "pasted") == ""
