"""Compare choices on Plan: every comparison is drawn, a pressed cell is the plan that it names, a
ticked one is kept, and its CSV has the columns that people read.
"""

import io
from concurrent.futures import Future
from functools import cache
from types import SimpleNamespace

import pandas as pd
import pytest
from examples import catalogs
from pages import address, opened, run, title
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df

from calc.files.csv.earlier import earlier_of
from calc.files.csv.people import COLUMNS
from calc.files.csv.tables import people_csv
from calc.say.choices import TITLES
from calc.say.numbers import about
from calc.search.options import options
from calc.studies.choices import Cell, Choice, Comparison, cells_for, comparisons, fixed_by, is_plan
from calc.units import GIB
from views.charts import choices as charts
from views.plan import choices, choices_cells, choices_table
from views.session import job_state, kept_answers

TUNE = {"work": "training", "model": "llama-3.2-1b"}
SERVE = {"work": "inference", "model": "llama-3.1-8b", "users": 20}
PLAN = {"gpus": 8, "answer": "least-money"}
QUERIES = {
    "run": {"model": "llama-3.2-1b"},
    "service": {"goal": "serve", "model": "llama-3.1-8b", "people": "40"},
    "encoder": {"goal": "serve", "model": "bert-base-uncased", "requests_per_second": "5"},
}


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    monkeypatch.setattr(choices, "others_ask", lambda: False)


def compute_first(cells, monkeypatch):
    """Have so many cells of each comparison known before the page is drawn."""

    @cache
    def known(job, comparison, _version):
        pairs = comparison.pairs[:cells]
        found = dict(enumerate(cells_for(job.columns, pairs, catalogs())))
        return choices_cells.KnownCells(job.columns, comparison, found)

    monkeypatch.setattr(choices_cells, "_known_cells", known)


def test_the_first_view_has_every_cell_in_its_place_and_the_plan_before_any_other_is_computed(
    monkeypatch,
):
    computed = []
    monkeypatch.setattr(choices_cells, "cells_for", lambda *given: computed.append(given))
    app = opened(v="3", model="llama-3.2-1b", examples="50123")  # which no other test asks
    chart = app.get("vega_lite_chart")[0].proto
    assert (computed, app.get("progress")[0].proto.text) == ([], "1 of 28 plans")
    table = convert_arrow_bytes_to_pandas_df(chart.data.data)
    assert len(table) == 28
    priced = table["value"].notna()
    assert table.loc[priced, "detail_line"].str.endswith(" · plan").to_list() == [True]


def test_workers_compute_cells_while_the_page_is_drawn_and_the_plan_has_its_own(monkeypatch):
    begun = []

    def in_another_process(_job, _catalogs, is_own, _function, _cells_job, pairs):
        begun.append((is_own, len(pairs)))
        future = Future()
        future.set_result([Cell(*pair, {}, PLAN) for pair in pairs])
        return future

    monkeypatch.setattr(choices_cells, "begin_in_worker", in_another_process)
    rows = tuple(Choice(str(count), (("gpus", count),)) for count in range(1, 9))
    known = choices_cells.KnownCells({}, Comparison("gpus", rows))
    known.begin(PLAN, catalogs(), is_drawing=True, others_ask=True)
    assert begun == [(False, 4)]
    known.collect(catalogs())
    assert known.missing(PLAN) == [4, 5, 6]  # the last count is that of the plan
    known.begin(PLAN, catalogs(), is_drawing=False, others_ask=False)
    known.collect(catalogs())
    assert begun[1:] == [(True, 3)]
    assert known.missing(PLAN) == []
    assert [cell.plan for cell in known.cells(PLAN)] == [PLAN] * 8


def test_a_cell_that_becomes_the_plan_leaves_the_other_cells_as_they_are():
    """Each fixes what the plan now fixes, so its job is the same; cells of other jobs are not."""
    job = {"model": "llama-3.2-1b", "train_tokens": 1e6, "work": "training"}
    counts = Comparison("gpus", tuple(Choice(str(count), (("gpus", count),)) for count in (1, 2)))
    cells = [Cell(*pair, job | {"gpus": pair[0].sets[0][1]}, PLAN) for pair in counts.pairs]
    choices_cells._remember(cells, "a version")
    fixed = choices_cells.known_cells(job | {"gpus": 2}, counts, "a version")
    assert [cell.plan for cell in fixed.found.values()] == [PLAN, PLAN]
    assert not choices_cells.known_cells(job | {"batch": 2}, counts, "a version").found
    assert not choices_cells.known_cells(job, counts, "another version").found


@pytest.mark.sample(2)
@pytest.mark.long
@pytest.mark.parametrize("kind", QUERIES)
def test_every_comparison_of_a_job_is_drawn(kind, monkeypatch):
    compute_first(4, monkeypatch)
    app = opened(v="3", **QUERIES[kind])
    for name in app.selectbox(key="choices_of").options:
        app = run(app.selectbox(key="choices_of").set_value(_id_of(name)))
        assert app.get("vega_lite_chart"), name


def _id_of(title_of_comparison):
    return next(name for name, words in TITLES.items() if words == title_of_comparison)


def test_what_a_pressed_cell_promises_is_the_plan_that_follows():
    app = opened(v="3", **QUERIES["run"])
    resolved = app.session_state["current_job"].job
    answer = options(resolved, catalogs())
    matrix = comparisons(answer.job, answer.rows[0], catalogs())[0]
    row, column = next(
        pair
        for pair in matrix.pairs
        if not is_plan(pair[0], answer.job, answer.rows[0]) and pair[0].is_pure
    )
    promised = cells_for(answer.job, [(row, column)], catalogs())[0].plan
    set_by_hand = {name: [value] for name, value in fixed_by(row, column).items()}
    after = opened(**address(app), **set_by_hand)
    assert about(promised["usd"]) in title(after).replace("\\$", "$")
    assert promised["instance"] in title(after).replace("\u2060", "")


def test_a_chosen_prompt_replaces_the_context_that_gave_it(monkeypatch):
    done = []
    monkeypatch.setattr(job_state, "current", lambda: SimpleNamespace(job={"people": 40}))
    monkeypatch.setattr(job_state, "release", lambda *names: done.append(set(names)))
    monkeypatch.setattr(job_state, "choose", lambda **fields: done.append(fields))
    monkeypatch.setattr(choices_table, "look_at", lambda _row: None)
    prompt = Choice("9000", (("prompt_tokens", 9000.0),))
    choices_table.plan_with(Cell(prompt, Choice(""), {"answer_tokens": 512}, PLAN))
    assert done == [
        {"context_tokens", "sequence_tokens"},
        {"prompt_tokens": 9000.0, "answer_tokens": 512},
    ]


@pytest.mark.long
def test_a_ticked_row_of_the_table_is_kept_under_the_name_of_its_choices(monkeypatch):
    compute_first(None, monkeypatch)
    app = opened(v="3", **QUERIES["run"])
    app.session_state["choices_table"] = True
    app = run(app)
    assert app.button(key="choices_keep").disabled
    names = [element.label for element in app.get("download_button")]
    assert any("scenarios" in name for name in names)
    app.session_state["choices_rows"] = {"selection": {"rows": [1, 2], "columns": [], "cells": []}}
    app = run(app)
    app = run(app.button(key="choices_keep").click())
    several = app.session_state["kept"]
    assert len(several) == 2
    assert len({entry.name for entry in several}) == 2
    assert all(" with " in entry.name for entry in several)
    assert len(several) <= kept_answers.MOST_KEPT


@pytest.mark.long
def test_a_keyboard_plans_with_a_choice_of_the_table_and_the_page_follows(monkeypatch):
    compute_first(None, monkeypatch)
    app = opened(v="3", **QUERIES["run"])
    app.session_state["choices_table"] = True
    app = run(app)
    box = app.selectbox(key="choices_plan")
    number = next(place for place, name in enumerate(box.options) if name.startswith("Pure bf16"))
    app = run(box.set_value(number))
    assert address(app)["precision"] == ["bf16"]
    assert app.selectbox(key="choices_plan").value is None


def test_a_tick_keeps_the_plan_of_a_cell_and_the_next_one_lets_it_go(monkeypatch):
    row = options(TUNE, catalogs()).rows[0]
    kept = []
    monkeypatch.setattr(choices, "_cell_pressed", lambda _key: (0, charts.TICK))
    monkeypatch.setattr(kept_answers, "place_of", lambda plan: kept.index(plan) if kept else None)
    monkeypatch.setattr(kept_answers, "keep_all", lambda plans, _names: kept.extend(plans))
    monkeypatch.setattr(kept_answers, "remove", kept.pop)
    cell = Cell(Choice("bf16", (("precision", "bf16"),)), Choice(""), TUNE, row)
    for after in ([row], []):
        choices._take("choices", [cell], catalogs())
        assert kept == after


def test_replicas_are_gpus_of_their_tensor_degree():
    tensor, replicas = Choice("2", (("tensor_parallel", 2),)), Choice("4", (("replicas", 4),))
    assert fixed_by(tensor, replicas) == {"tensor_parallel": 2, "gpus": 8}
    answer = options(SERVE, catalogs())
    replica = Choice("1", (("replicas", 1),))
    (found,) = cells_for(answer.job, [(tensor, replica)], catalogs())
    assert (found.plan["gpus"], found.plan["tensor_parallel"]) == (2, 2)


@pytest.mark.parametrize("job", [TUNE, SERVE], ids=["run", "service"])
def test_the_csv_that_people_read_has_18_columns_with_the_figures_of_the_rows(job):
    answer = options(job, catalogs())
    table = pd.read_csv(io.BytesIO(people_csv(answer.board, catalogs(), "A job")))
    assert tuple(table.columns) == COLUMNS
    assert len(COLUMNS) == 18
    assert set(table["job"]) == {"A job"}
    assert table["usd"].to_list() == pytest.approx(answer.board["usd"].to_list(), nan_ok=True)
    assert table["needed_gib"].to_list() == pytest.approx(
        (answer.board["needed_bytes"] / GIB).to_list(), nan_ok=True
    )
    assert table["fits"].to_list() == answer.board["fits"].to_list()
    again = earlier_of(people_csv(answer.board, catalogs(), "A job"), "the file", catalogs())
    assert (again.complaints, again.unread) == ([], [])
    for name in ("needed_bytes", "usd_per_hour", "seconds"):
        assert again.rows[name].to_list() == pytest.approx(
            answer.board[name].to_list(), nan_ok=True
        )
    priced = table[table["usd"].notna()]
    assert (priced["usd_low"] <= priced["usd"] * 1.0001).all()
    assert (priced["usd_high"] >= priced["usd"] * 0.9999).all()


def test_a_kept_answer_comes_back_from_the_csv_that_people_read_with_its_name_job_and_tick():
    row = options(TUNE, catalogs()).rows[0]
    beside = {
        "scenario": "Night run; cheap",
        "job": "Fine-tune it",
        "in_bill": "yes",
        "team": "search",
        "owner": "Ann",
        "runs_per_month": 3.0,
    }
    again = earlier_of(people_csv(pd.DataFrame([row | beside]), catalogs()), "it", catalogs())
    assert {name: again.rows[name].iloc[0] for name in beside} == beside
    assert (again.meeting.decision, again.meeting.budget_for) == ("", "")
    words = "Take it, Ann: it fits the budget"
    of_meeting = {"decision": words, "budget_usd": 30_000.0, "budget_for": "quarter"}
    of_meeting["contingency_percent"] = 15.0
    decided = pd.DataFrame([row | beside | of_meeting])
    shared = earlier_of(people_csv(decided, catalogs()), "it", catalogs())
    assert shared.meeting == (words, 30_000.0, "quarter", 15.0)
