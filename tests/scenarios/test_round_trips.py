"""The law of the round trip: every column of a scenario and of a job survives CSV and link, and 0
is not empty.
"""

from urllib.parse import parse_qs, urlencode

import pandas as pd
import pytest
from examples import catalogs as read_catalogs
from streamlit.testing.v1 import AppTest

from calc import estimate
from calc.files.csv.earlier import earlier
from calc.files.csv.tables import read_csv, scenarios_of, to_csv
from calc.files.link.link import COLUMNS, VIEW_INPUTS, compose, parse
from calc.job.cells import JobError
from calc.job.columns import EXAMPLES, FIXABLE, JOB_BY_NAME
from calc.job.fields import JOB, is_read
from calc.job.resolve import resolve
from calc.plan.bill import BILL
from calc.plan.kept_answer import KeptAnswer
from calc.scenarios.inputs import ASSUMED, CATALOG_OF, HUGE, bounded_inputs

CATALOGS = read_catalogs()
INPUTS = bounded_inputs(CATALOGS)
SCENARIO_COLUMNS = [name for name in INPUTS if name not in ("scenario", "model")]
JOB_COLUMNS = [*JOB_BY_NAME, *FIXABLE, *ASSUMED]
IMAGES = {"model": "gemma-3-4b"}  # takes images, so that none of a column's values gives way
GOALS = {
    "tune": {
        "method": "lora",
        "objective": "grpo",  # one that reads the columns of generated answers
        "precision": "bf16",
        "implementation": "torchtitan",
    },
    "serve": {"implementation": "vllm"},
}
TEXTS = {  # of columns whose text is more than any word
    "lora_targets": "q+v",
    "private_prices": "p5.48xlarge=30",
    "software_release": "0.6.0",
    "answers": "fastest+roomiest",
    "admits": "tight",
    "regions": "us-west-2",
    "markets": "spot",
}


def another(column):
    """A value of a column that is not its default."""
    catalog = column.catalog or CATALOG_OF.get(column.name)
    if column.name in TEXTS or column.kind == "text":
        others = (
            [name for name in getattr(CATALOGS, catalog).index if name != column.default]
            if catalog
            else []
        )
        return TEXTS.get(column.name) or (
            others[len(others) // 2] if others else "a plan & more = 100 %"
        )
    if column.kind == "choice":
        return next(word for word in column.choices if word != column.default)
    most = min(column.most, 16 * max(column.least, 1) if column.most == HUGE else column.most)
    value = column.least + (most - column.least) / 4
    return (
        max(int(value), 1) + (column.kind == "count" and column.default == 1)
        if column.kind == "count" or value > 8
        else value
    )


def values_of(column):
    """Empty, the default, another value, and 0 where the column takes it."""
    zero = [0] if column.kind == "amount" and column.least == 0 else []
    return list(
        dict.fromkeys(
            ["", "" if column.default is None else column.default, another(column), *zero]
        )
    )


def rows_of(names, columns, start):
    """A row for each value of each column."""
    rows = [start(name) | {name: value} for name in names for value in values_of(columns[name])]
    return pd.DataFrame(rows, dtype=object).astype(object).where(lambda frame: frame.notna(), "")


def test_every_scenario_column_survives_its_csv():
    """Read again, the results give every input and every figure; what was 0 is 0, what was empty is
    its default.
    """
    table = rows_of(
        SCENARIO_COLUMNS,
        INPUTS,
        lambda name: {"model": "llama-3.2-1b", "work": "inference" if "kv" in name else "training"},
    )
    first = estimate(table, CATALOGS)
    text = to_csv(first)
    cells, complaints = scenarios_of(read_csv(text), "it")
    assert complaints == []
    assert to_csv(estimate(cells, CATALOGS)) == text
    plain = [name for name in first if name not in BILL]  # what a bill has is on its market
    assert to_csv(earlier(read_csv(text), "it", CATALOGS).rows[plain]) == to_csv(first[plain])
    for name in SCENARIO_COLUMNS:
        sound = first["problem"].eq("")
        zero, empty = (
            first[name][table[name].astype(str).eq("0") & sound],
            first[name][table[name].eq("") & sound],
        )
        assert (zero.astype(float) == 0).all(), name
        usual = CATALOGS.assumptions["value"].get(name, INPUTS[name].default)
        assert (
            not len(zero) or usual == 0 or not (pd.to_numeric(empty, errors="coerce") == 0).any()
        ), name


@pytest.mark.parametrize("work", ["training", "inference"])
def test_every_job_column_survives_its_csv(work):
    columns = INPUTS | JOB_BY_NAME
    table = rows_of(JOB_COLUMNS, columns, lambda _: {"model": "llama-3.2-1b", "work": work})
    cells = read_csv(to_csv(table))
    assert list(cells) == list(table)
    for row, cell in zip(table.to_dict("records"), cells.to_dict("records"), strict=True):
        assert resolution(cell) == resolution(row), row


def resolution(row):
    """The job as it is resolved, or what is wrong with it; numbers as numbers."""
    try:
        job = resolve(row, CATALOGS)
    except JobError as error:
        return str(error)
    return {name: value for name, value in vars(job).items() if value == value}


def choices_of(goal):
    """Another value for each column that a job of this goal reads, as a link has them."""
    fields = {"goal": goal, "method": "lora"}
    columns = {
        name: INPUTS.get(name, column) if name not in JOB else column
        for name, column in COLUMNS.items()
    }
    choices = {
        name: another(column)
        for name, column in columns.items()
        if name not in VIEW_INPUTS and is_read(name, fields)
    }
    return choices | fields | IMAGES | {"precision": "fp8"} | GOALS[goal]


@pytest.mark.parametrize("goal", GOALS)
def test_every_column_survives_its_link_and_the_job_of_the_session(goal):
    """Link -> session -> job -> link: nothing gives way, nothing is added, and the job has what the
    link said.
    """

    def script(query):
        import streamlit as st

        from views.session import address, catalogs, job_state

        address.open_link(query, catalogs.base_catalogs())
        address.settle(catalogs.catalogs())
        state = st.session_state
        state["seen"] = (
            state["made"],
            state["link_complaints"] + state["notes"],
            job_state.current().job,
        )

    choices = choices_of(goal)
    query = parse_qs(urlencode(compose(choices), doseq=True), keep_blank_values=True)
    assert parse(query, CATALOGS) == (choices, [])
    app = AppTest.from_function(script, default_timeout=60, kwargs={"query": query}).run()
    assert not app.exception
    made, notes, job = app.session_state["seen"]
    assert notes == []
    assert {name: made.get(name) for name in query} == query
    examples = EXAMPLES if "train_tokens" in choices else ()  # whose tokens are set by hand
    for name in choices.keys() & JOB_BY_NAME.keys() - {
        "method",
        "regions",
        "markets",
        "users",
        "answer_tokens",
        *examples,
    }:
        assert job[name] == choices[name], name


def test_every_scenario_column_survives_a_kept_scenario_of_a_link():
    kept = [
        KeptAnswer("spot", {"model": "gpt2", name: another(INPUTS[name])}, name)
        for name in SCENARIO_COLUMNS
    ]
    for start in range(0, len(kept), 24):
        entries = kept[start : start + 24]
        query = parse_qs(urlencode(compose({"kept": entries}), doseq=True), keep_blank_values=True)
        assert parse(query, CATALOGS) == ({"kept": entries} if entries else {}, [])
    zeros = [name for name, column in INPUTS.items() if 0 in values_of(column)]
    entry = KeptAnswer("spot", {"model": "gpt2", **dict.fromkeys(zeros, 0)}, "zeros")
    assert parse(compose({"kept": [entry], **dict.fromkeys(zeros, 0)}), CATALOGS) == (
        {"kept": [entry], **dict.fromkeys(zeros, 0)},
        [],
    )
