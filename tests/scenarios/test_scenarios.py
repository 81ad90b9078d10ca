"""What a row may say and what is said against it: one sentence that names the cell and the cure,
and no number.
"""

import numpy as np
import pandas as pd
import pytest
from examples import catalogs, one, problem_of, recorded, table
from hypothesis import given
from hypothesis import strategies as st

from calc import estimate
from calc.say.remarks.inputs import allowed_values
from calc.scenarios.inputs import BY_NAME, INPUTS
from calc.scenarios.problems import TableError
from calc.scenarios.read import known_inputs

NOT_NUMBERS = (
    "0",
    "-3",
    "1.5",
    "x",
    "1e400",
    "inf",
    "-inf",
    "nan",
    "1,000",
    "0x10",
    "1e16",
    "9" * 400,
    "true",
    "4 5",
)
REFUSED = recorded("cases/scenarios.json")["refused"]


def test_what_cannot_be_is_refused_in_one_sentence():
    results = table([row for row, _ in REFUSED], model="llama-3.1-8b")
    for problem, (_, sentence) in zip(results["problem"], REFUSED, strict=True):
        assert problem.startswith(sentence)
        assert problem.endswith(".")
        assert "\n" not in problem
    assert results[["memory_bytes", "max_batch", "allocated_peak_bytes"]].isna().all(axis=None)
    assert (results["fits"] == "").all()


@pytest.mark.parametrize("cell", NOT_NUMBERS)
def test_what_is_no_number_is_refused_in_every_column_of_numbers(cell):
    counts = [column.name for column in INPUTS if column.kind == "count"]
    rows = pd.DataFrame([{"model": "gpt2", name: cell} for name in counts])
    problems = estimate(rows, catalogs())["problem"]
    for name, problem in zip(counts, problems, strict=True):
        assert problem.startswith(f"{name} '{cell[:57]}")
        assert problem.endswith(f"is not {allowed_values(BY_NAME[name])}; correct that cell.")


def test_a_count_may_be_written_in_many_ways_and_an_empty_cell_takes_the_default():
    for cell in (
        np.inf,
        -np.inf,
        -1.0,
        0,
        2.5,
        1e16,
        True,
        b"4",
        1 + 2j,
        10**400,
        [1, 2],
        {"a": 1},
    ):
        assert "is not a whole number from 1" in problem_of(batch=cell), cell
    for cell in ("4", " 4 ", "4.0", "4e0", 4, 4.0, np.int8(4), np.float32(4)):
        assert one(model="gpt2", batch=cell)["batch"] == 4, cell
    with_default = {
        name: column.default
        for name, column in BY_NAME.items()
        if column.default not in (None, "") and name != "precision"
    }
    rows = [
        {name: cell} for cell in (None, np.nan, pd.NA, pd.NaT, "", "  ") for name in with_default
    ]
    results = table(rows, model="llama-3.2-1b")
    for place, row in enumerate(rows):
        (name,) = row
        assert results[name][place] == with_default[name], row
    assert one(model=" gpt2 ", work=" Training ", compile="NO")["work"] == "training"


def test_the_first_thing_wrong_is_said_short_and_the_cure_of_a_layout_works():
    problem = problem_of(work="no", batch="x", gpu="y", tensor_parallel=5)
    assert problem == "work 'no' is not known; use training or inference."
    problem = problem_of(model="long\nname " * 5000)
    assert "\n" not in problem
    assert len(problem) < 250
    rows = [
        {"gpus": 3, "tensor_parallel": 2},
        {"gpus": 4, "tensor_parallel": 2},
        {"gpus": 2, "tensor_parallel": 2},
        {"gpus": 8, "pipeline_parallel": 8},
        {"gpus": 2, "context_parallel": 2, "sequence_tokens": 1000},
    ]
    assert list(table(rows, model="llama-3.1-8b")["problem"] == "") == [
        False,
        True,
        True,
        True,
        True,
    ]


def test_defaults_follow_other_columns_and_an_instance_sets_the_card():
    row = one(model="gpt2", work="inference", sequence_tokens=512)
    assert row["precision"] == "bf16"
    assert row["prompt_tokens"] == row["decoder_tokens"] == 512
    assert one(model="llama-3.1-8b", implementation="megatron")["loss"] == "kernel"
    row = one(model="gpt2", instance="g6f.large")
    assert row["gpu"] == "l4-1/8"
    assert row["gpu_memory_bytes"] < one(model="gpt2", gpu="l4")["gpu_memory_bytes"] / 7


@pytest.mark.parametrize("work", ["training", "inference"])
def test_every_model_of_the_catalog_answers_or_says_why(work):
    """In one table and, where it is refused, alone."""
    models = catalogs().models
    rows = pd.DataFrame(
        {"model": models.index, "work": work, "attention": "eager", "precision": "bf16"}
    )
    results = estimate(rows, catalogs(), solve=False)
    assert (results["memory_bytes"].notna() == (results["problem"] == "")).all()
    assert (results.loc[(models["refused"] != "").to_numpy(), "problem"] != "").all()
    for model in models.index[models["refused"] != ""]:
        assert problem_of(model=model, work=work) == models.at[model, "refused"]


JUNK = st.one_of(
    *(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.binary(max_size=4),
    ),
    *(
        st.lists(st.integers(), max_size=2),
        st.sampled_from(["none", "1", "8", "bf16", "lora", "zero3", "inference"]),
    ),
)


@given(
    st.lists(
        st.dictionaries(st.sampled_from(list(BY_NAME)), JUNK, max_size=4), min_size=1, max_size=5
    )
)
def test_no_cell_breaks_the_table(rows):
    results = estimate(
        pd.DataFrame(rows).astype(object).assign(model="llama-3.2-1b"), catalogs(), solve=False
    )
    assert len(results) == len(rows)
    assert (results["memory_bytes"].notna() == (results["problem"] == "")).all()
    assert (
        results["problem"]
        .astype(object)
        .map(lambda words: words == "" or (words.endswith(".") and "\n" not in words))
        .all()
    )


def test_a_table_without_models_or_with_a_column_twice_is_refused():
    with pytest.raises(
        TableError, match=r"^The table has no column 'model' \(its columns: name\); name the model"
    ):
        estimate(pd.DataFrame({"name": ["gpt2"]}), catalogs())
    with pytest.raises(
        TableError, match=r"^The column 'batch' is twice in the table; keep one of them\.$"
    ):
        estimate(pd.DataFrame([["gpt2", 1, 2]], columns=["model", "batch", "batch"]), catalogs())


@pytest.mark.parametrize("name", ["Batch", "BATCH", " batch", "Sequence Tokens"])
def test_a_column_in_another_case_is_named_not_lost(name):
    with pytest.raises(
        TableError, match=r"would not be read; write its name as (batch|sequence_tokens)\.$"
    ):
        estimate(pd.DataFrame({"model": ["gpt2"], name: [4]}), catalogs())


def test_weights_under_an_adapter_have_16_bits_where_no_precision_is_named():
    works = [("training", "full"), ("training", "lora"), ("inference", "full")]
    rows = [{"work": work, "tuning": tuning, "model": "llama-3.2-1b"} for work, tuning in works]
    wanted = ["bf16-mixed", "bf16", "bf16"]
    assert estimate(pd.DataFrame(rows), catalogs())["precision"].to_list() == wanted
    for row, precision in zip(rows, wanted, strict=True):
        assert known_inputs(row)["asked_precision"].in_row(0) == precision
