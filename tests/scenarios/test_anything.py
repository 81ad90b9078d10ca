"""Whatever is sent is used or named in a sentence: links, tables, configs, damaged catalogs, and
every page in states drawn at random.
"""

import csv
import io
import shutil
from urllib.parse import parse_qs, urlencode

import anything
import numpy as np
import pytest
from examples import catalogs, steady
from hypothesis import given
from hypothesis import strategies as st
from pages import DASHBOARD, turned
from streamlit.testing.v1 import AppTest

from calc import CatalogError, add_models, answer, estimate, load_catalogs
from calc.catalogs.load import FOLDER
from calc.catalogs.rooms import path_of
from calc.files.csv import tables as csv_tables
from calc.files.link.link import compose, parse
from calc.models.huggingface.config import ConfigError, read_config_text
from calc.scenarios.problems import TableError

PAGES = (
    "compare",
    "pay",
    "instances",
    "step",
    "explore",
    "bring",
    "models",
    "prices",
    "method",
    "accuracy",
)
OPEN = ("by_hand", "more_by_hand", "launch_kit", "share", "all_types", "more_changes")
OPEN += ("cards", "all_catalogs", "type_by_region", "step_table", "other_calculators", "two_sizes")
TABS = {
    "explore_tab": (
        "GPUs",
        "Precision and task",
        "Methods",
        "Decision guide",
    )
}
KINDS = ("selectbox", "number_input", "checkbox", "toggle", "multiselect", "button_group", "button")


def is_sentence(text):
    """One line, of a length that is read, with an end."""
    return text.endswith((".", "?")) and "\n" not in text and len(text) < 700


def tried(make, refusal):
    """What a function gives and no sentence, or nothing and the sentence with which it refuses."""
    try:
        return make(), ""
    except refusal as error:
        sentence = str(error)
    assert is_sentence(sentence), sentence
    return None, sentence


@steady(60)
@given(anything.queries())
def test_a_link_is_read_and_what_was_understood_comes_back(query):
    choices, complaints = parse(query, catalogs())
    assert all(map(is_sentence, complaints)), complaints
    sent = parse_qs(urlencode(compose(choices), doseq=True), keep_blank_values=True)
    assert parse(sent, catalogs()) == (choices, [])


@steady(12)
@given(anything.tables())
def test_a_row_is_estimated_or_has_one_sentence_and_comes_back_the_same(rows):
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    table, _ = tried(lambda: csv_tables.read_csv(stream.getvalue()), TableError)
    results, _ = (
        tried(lambda: estimate(table, catalogs()), TableError) if table is not None else (None, "")
    )
    if results is None:
        return
    sound = results["problem"] == ""
    assert all(is_sentence(problem) for problem in results["problem"][~sound]), list(
        results["problem"]
    )
    assert (np.isfinite(results["memory_bytes"]) & (results["memory_bytes"] > 0))[sound].all()
    assert not (results[sound].select_dtypes("number").filter(like="usd") < 0).any(axis=None)
    again = estimate(
        csv_tables.read_csv(csv_tables.to_csv(csv_tables.as_written(results, table))), catalogs()
    )
    assert again["memory_bytes"].tolist() == pytest.approx(
        results["memory_bytes"].tolist(), rel=1e-9, nan_ok=True
    )
    assert (again["problem"] == "").tolist() == sound.tolist()


@steady(10)
@given(anything.tables())
def test_a_job_is_answered_or_has_one_sentence(rows):
    answers, _ = tried(
        lambda: answer({name: text for name, text in rows[0].items() if text != ""}, catalogs()),
        TableError,
    )
    if answers is not None:
        assert np.isfinite(answers["usd"].iloc[0]) or answers["problem"].iloc[0]
        assert all(is_sentence(problem) for problem in answers["problem"] if problem), list(
            answers["problem"]
        )


@pytest.mark.long
@steady(150)
@given(anything.configs())
def test_a_config_is_a_model_or_has_one_sentence(text):
    entry, _ = tried(lambda: read_config_text(text, "mine", catalogs()), ConfigError)
    if entry is not None:
        row = estimate({"model": "mine"}, add_models(catalogs(), {"mine": entry}), solve=False)
        assert (
            0 < row["memory_bytes"] < np.inf
            if row["problem"] == ""
            else is_sentence(row["problem"])
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return shutil.copytree(FOLDER, tmp_path_factory.mktemp("damaged") / "catalogs")


@steady(8)
@given(anything.damaged())
def test_a_damaged_catalog_is_read_or_named_in_one_sentence(folder, file):
    name, content = file
    path = path_of(name, folder)
    kept = path.read_bytes()
    path.write_bytes(content)
    try:
        read, sentence = tried(lambda: load_catalogs(folder), CatalogError)
    finally:
        path.write_bytes(kept)
    assert (
        sentence.startswith("catalogs/")
        if read is None
        else estimate({"model": "llama-3.1-8b"}, read) is not None
    )


STEPS = st.lists(
    st.tuples(st.sampled_from([*PAGES, ""]), st.lists(st.integers(0, 10**6), max_size=2)),
    max_size=2,
)
STATE = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(OPEN, st.just(True)),
        **{key: st.sampled_from(tabs) for key, tabs in TABS.items()},
    },
)


@pytest.mark.long
@steady(4)
@given(anything.queries(), STATE, STEPS)
def test_no_page_breaks_whatever_the_link_the_state_and_the_clicks(query, state, steps):
    app = AppTest.from_file(DASHBOARD, default_timeout=120)
    for name, texts in query.items():
        app.query_params[name] = texts
    for key, value in state.items():
        app.session_state[key] = value
    stands(app.run())
    for page, clicks in steps:
        stands(turned(app, page or "plan"))
        for click in clicks:
            widgets = [
                item
                for kind in KINDS
                for item in app.get(kind)
                if not item.disabled and getattr(item, "options", True)
            ]
            if widgets:  # a page may ask for nothing
                stands(app._run(sent(app, widgets[click % len(widgets)], click // len(widgets))))


def sent(app, widget, number):
    """What the browser sends when a user changes a widget: all values, this one another that it
    offers.
    """
    states = app._tree.get_widget_states()
    for state in [state for state in states.widgets if state.id == widget.id]:
        states.widgets.remove(state)
    state = states.widgets.add(id=widget.id)
    if widget.type == "button":
        state.trigger_value = True
    elif widget.type in ("checkbox", "toggle"):
        state.bool_value = not widget.value
    elif widget.type == "number_input":
        least, most = widget.min or 0, widget.max or 10**6
        state.double_value = float(round(least + (most - least) * (number % 101) / 100))
    elif widget.type == "selectbox":
        state.string_value = widget.options[number % len(widget.options)]
    elif widget.type == "multiselect":
        state.string_array_value.data.extend(widget.options[: number % 3])
    else:
        state.string_array_value.data.append(widget.options[number % len(widget.options)])
    return states


def stands(app):
    assert not app.exception, app.exception[0].message
    assert app.title
