"""Tables as CSV: written and read again they give the same numbers; one of an earlier meeting says
what moved; others are refused.
"""

import csv
import io
import re
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from examples import answered, catalogs, recorded, table
from hypothesis import given
from hypothesis import strategies as st

from calc import estimate
from calc.files.csv.earlier import earlier, standings
from calc.files.csv.tables import as_written, read_csv, scenarios_of, to_csv
from calc.files.csv.writer import write_csv
from calc.plan.bill import bill_rows
from calc.scenarios.inputs import INPUTS
from calc.scenarios.problems import TableError

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20)


def written(frame):
    stream = io.StringIO()
    write_csv(frame, stream)
    return stream.getvalue()


def test_numbers_are_plain_exact_and_empty_where_there_is_none():
    frame = pd.DataFrame(
        {"a": [1.0, 0.1 + 0.2, 1e15, 2**53, np.nan, np.inf], "b": [1, 2, 3, 4, 5, 6]}
    )
    assert (
        written(frame)
        == "a,b\n1,1\n0.30000000000000004,2\n1000000000000000,3\n9007199254740992,4\n,5\n,6\n"
    )


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_every_number_reads_back_as_it_was(numbers):
    table = read_csv(written(pd.DataFrame({"model": "gpt2", "number": numbers})))
    assert [float(cell) for cell in table["number"]] == numbers


@given(st.lists(TEXT, min_size=1))
def test_every_name_reads_back_but_for_spaces_before_it(names):
    table = read_csv(written(pd.DataFrame({"model": "gpt2", "scenario": names})))
    assert [name.lstrip(" ") for name in names] == [cell.lstrip(" ") for cell in table["scenario"]]


def test_cells_of_every_kind_are_written_plainly_and_repeated_rows_as_often():
    cells = [
        "",
        "a,b",
        'say "hi"',
        "two\nlines",
        "old\rMac",
        " spaced ",
        "=1+1",
        "模型",
        None,
        True,
        -3,
        2.5,
        -0.0,
        1e16,
        np.inf,
        pd.NA,
    ]
    frame = pd.DataFrame({"mixed": pd.Series(cells, dtype=object), "number": [*range(15), 0.1]})
    rows = list(csv.reader(io.StringIO(written(frame), newline="")))
    texts = [
        "",
        "a,b",
        'say "hi"',
        "two\nlines",
        "old\rMac",
        " spaced ",
        "'=1+1",
        "模型",
        "",
        "True",
        "-3",
        "2.5",
        "0",
        "1e+16",
        "",
        "",
    ]
    assert rows == [
        ["mixed", "number"],
        *([text, f"{number:g}"] for text, number in zip(texts, frame["number"], strict=True)),
    ]
    repeated = list(csv.reader(io.StringIO(written(frame.loc[frame.index.repeat(5)]), newline="")))
    assert repeated == [rows[0], *(row for row in rows[1:] for _ in range(5))]


FORMULAS = ("=cmd|x", "+1", "-1+1", "@sum", "\tx", "\rx", "'=x", "''+x")


def test_no_cell_that_we_write_begins_a_formula():
    """A mark stands before what a spreadsheet would run, in every column and in the header, and
    reading takes it off.
    """
    table = pd.DataFrame(
        {"model": "gpt2", "scenario": FORMULAS, "note of mine": FORMULAS, "=header": "x"}
    )
    text = written(as_written(estimate(table, catalogs()), table))
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert not [
        cell
        for cell in cells
        if cell[:1] in tuple("=+@\t\r") or (cell[:1] == "-" and not _is_number(cell))
    ]
    again = read_csv(text)
    assert [cell.strip() for cell in again["scenario"]] == [cell.strip() for cell in FORMULAS]
    assert "=header" in again.columns


def _is_number(cell):
    try:
        return bool(float(cell)) or True
    except ValueError:
        return False


CASES = recorded("cases/csv.json")  # bytes as text, each its own character
LARGE = {"a cell of 300 kB": ("model,owner\ngpt2," + "x" * 300_000, ["gpt2"])}


@pytest.mark.parametrize(
    ("content", "models"), (CASES["read"] | LARGE).values(), ids=CASES["read"] | LARGE
)
def test_tables_as_people_and_programs_write_them(content, models):
    assert list(read_csv(content.encode("latin-1"))["model"]) == models


@pytest.mark.parametrize(("content", "sentence"), CASES["refused"].values(), ids=CASES["refused"])
def test_what_is_no_table_is_refused_in_one_sentence(content, sentence):
    with pytest.raises(TableError, match=rf"^{re.escape(sentence)}.*(?<=\.)\Z"):
        read_csv(content.encode("latin-1"), "t.csv")


@pytest.mark.parametrize(
    "header", ["model,batch,batch", "model, model", "model,owner,owner", "Model,batch"]
)
def test_columns_that_stand_twice_or_in_another_case_are_refused(header):
    with pytest.raises(TableError, match=r"\.$"):
        estimate(
            read_csv(f"{header}\n" + ",".join("x" * len(header.split(","))) + "\n"), catalogs()
        )


NEARLY = st.text(",\n\"'modelgpt2 ;\r").map(lambda text: b"model," + text.encode())


@given(st.binary() | st.text().map(str.encode) | NEARLY)
def test_any_bytes_are_a_table_or_refused(content):
    with suppress(TableError):
        results = estimate(read_csv(content), catalogs(), solve=False)
        assert (results["memory_bytes"].notna() == (results["problem"] == "")).all()


def test_the_page_reads_scenario_columns_and_names_the_rest_and_every_input_is_written():
    rows, complaints = scenarios_of(
        read_csv(b"model,batch,manager,memory_bytes,memory_gib\ngpt2,2,me,1,1\n"), "t.csv"
    )
    assert list(rows) == ["model", "batch"]
    assert complaints == ["t.csv has a column 'manager' that is unknown; it was ignored."]
    columns = to_csv(answered()).decode("utf-8-sig").splitlines()[0].split(",")
    assert columns[: len(INPUTS)] == [column.name for column in INPUTS]


HOLD = {
    "model": "llama-3.1-8b",
    "instance": "p5.48xlarge",
    "gpus": 8,
    "sharding": "zero3",
    "train_tokens": 1e9,
}
NAMED = (
    {"scenario": "plain"},
    {"scenario": "8-bit", "optimizer": "adamw-8bit"},
    {"scenario": "longer", "train_tokens": 2e9},
)


@pytest.fixture(scope="module")
def plans(catalogs):
    return bill_rows(
        table(NAMED, **HOLD).assign(market=["on-demand", "spot", "on-demand"]), catalogs
    )


def read_earlier(content, catalogs):
    return earlier(read_csv(content, "plans.csv"), "plans.csv", catalogs, solve=False)


def test_what_was_written_comes_back_as_it_was(plans, catalogs):
    back = read_earlier(to_csv(plans), catalogs)
    assert (back.unread, standings(back.rows, plans)) == ([], ["as kept"] * 3)
    assert back.rows["market"].tolist() == ["on-demand", "spot", "on-demand"]
    for column, then in (
        ("usd", "usd"),
        ("then_usd_per_hour", "usd_per_hour"),
        ("then_needed_bytes", "needed_bytes"),
    ):
        assert back.rows[column].tolist() == pytest.approx(plans[then].tolist())
    assert back.rows["then_prices_as_of"].tolist() == plans["prices_as_of"].tolist()


def test_another_price_in_the_file_stays_beside_todays(plans, catalogs):
    older = plans.assign(usd_per_hour_on_demand=99.0, prices_as_of="2026-01-02")
    rows = read_earlier(to_csv(older), catalogs).rows
    assert rows["then_usd_per_hour"].tolist()[:2] == pytest.approx(
        [99.0, plans["usd_per_hour_spot"].iloc[1]]
    )
    assert rows["usd_per_hour"].tolist() == pytest.approx(plans["usd_per_hour"].tolist())


def test_new_changed_and_refused_are_told_apart(plans, catalogs):
    first, second, third = (plans.iloc[[row]] for row in range(3))
    others = [first.assign(scenario="another", batch=2), second.assign(market="on-demand"), third]
    others += [third.assign(scenario="three", tensor_parallel=3)]
    content = b"".join(
        [to_csv(others[0]), *(to_csv(other).split(b"\n", 1)[1] for other in others[1:])]
    )
    back = read_earlier(content, catalogs)
    assert back.unread == []
    assert standings(back.rows, plans) == ["new", "changed", "as kept", "refused"]
    assert standings(back.rows, plans.iloc[:0]) == ["new", "new", "new", "refused"]


def test_a_file_of_the_scenario_columns_alone_says_nothing_of_then(catalogs):
    rows = read_earlier("model,instance\nllama-3.2-1b,g6e.xlarge\n", catalogs).rows
    assert rows[["market", "then_prices_as_of"]].to_numpy().tolist() == [["on-demand", ""]]
    assert (rows["then_usd_per_hour"].isna().item(), rows["usd_per_hour"].notna().item()) == (
        True,
        True,
    )


@pytest.mark.parametrize(("cells", "expected"), recorded("cases/earlier.json")["cells"])
def test_a_cell_that_is_not_understood_is_named_with_what_is_allowed(cells, expected, catalogs):
    (sentence,) = read_earlier(cells, catalogs).unread
    assert sentence.startswith(expected)
    # A refused row is understood.
    assert read_earlier("model,gpus,tensor_parallel\ngpt2,3,2\n", catalogs).unread == []


@pytest.mark.parametrize(
    ("content", "sentence"), [("model\n", "no scenario"), ("name\nx\n", "no column 'model'")]
)
def test_a_file_that_is_no_table_of_scenarios_is_one_sentence(content, sentence, catalogs):
    with pytest.raises(TableError, match=sentence):
        read_earlier(content, catalogs)
