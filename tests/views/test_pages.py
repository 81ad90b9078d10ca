"""Every page in every state that a meeting can bring about: it stands, keeps the plan and speaks
the words of the field.
"""

import importlib
import re

import pytest
import streamlit as st
from examples import recorded
from pages import DASHBOARD, PAGES, address, opened, run, texts, title, turned

from calc import CatalogError
from calc.job.cells import JobRow
from calc.job.fields import job_of
from calc.search import options
from views.frame import ready
from views.session import catalogs, job_state

COMMON = "model~llama-3.1-8b~gpus~8~sharding~zero3~instance~p5.48xlarge~train_tokens~150000000"
KEPT = [f"a~market~spot~{COMMON}", f"b~market~on-demand~{COMMON}~optimizer~adamw-8bit"]
STATES = recorded("cases/page_states.json")["states"]
EVERY = 5
RARER = ("LoRA of a large model", "on spot, kept")  # in make long
REFUSED = ("nothing fits", "not estimated", "cannot serve")  # a page may say why in an error box
BANNED = re.compile(
    (
        r"\bways\b(?! to pay)|\bholds?\b|\btold\b|\bsurely\b|arranged so|cannot be "
        r"estimated|\bnan\b|\binf\b"
    ),
    re.IGNORECASE,
)
# On screen a region has its name.
REGION = re.compile(r"\b[a-z]{2}-(north|south|east|west|central)+-\d\b")
LABELED = (
    "button",
    "expander",
    "metric",
    "selectbox",
    "multiselect",
    "number_input",
    "text_input",
    "toggle",
    "tabs",
)


def sentences(app):
    """All that a page says: texts, labels, helps, cells of tables."""
    yield from texts(app)
    for kind in LABELED:
        for element in getattr(app, kind):
            yield element.label
            yield getattr(element, "help", "") or ""
    for frame in (*app.table, *app.dataframe):
        yield from map(str, frame.value.columns)
    for frame in app.table:
        yield from map(str, frame.value.to_numpy().ravel())


def pages_of(state):
    """Plan, and every fifth of the other pages, beginning at the number of the state."""
    first, *others = PAGES
    return [first, *others[[*STATES].index(state) % EVERY :: EVERY]]


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "state",
    [pytest.param(name, marks=[pytest.mark.long] * (name in RARER)) for name in STATES],
)
def test_every_page_stands_keeps_the_plan_and_uses_the_words_of_the_field(state):
    """A state is seen on Plan and on every fifth of the other pages, a page in some states."""
    app = opened(v="3", **STATES[state])
    link = address(app)
    assert {name: link[name] for name in STATES[state]} == {
        name: text if isinstance(text, list) else [text] for name, text in STATES[state].items()
    }
    for page in pages_of(state):
        turned(app, page)
        assert not app.exception, (page, app.exception[0].message)
        assert title(app), page
        assert [
            text[:200] for text in sentences(app) if BANNED.search(text) or REGION.search(text)
        ] == [], page
        assert not app.error or state in REFUSED, (page, app.error[0].value)
        assert {name: address(app)[name] for name in link} == link, page


def test_the_first_visit_finds_its_answer_made_and_a_broken_catalog_is_left_to_the_page(
    monkeypatch,
):
    ready.get_ready()
    made, options_of = [], options.options_of
    monkeypatch.setattr(
        options, "options_of", lambda job, catalogs: made.append(job) or options_of(job, catalogs)
    )
    assert opened().title[0].value.startswith("About")
    assert JobRow.of(job_of(job_state.first_visit(), {})) not in made  # advice asks for others

    def unreadable():
        raise CatalogError("gpus.yaml is cut")

    monkeypatch.setattr(catalogs, "read_ahead", unreadable)
    ready.get_ready()


def test_the_server_imports_the_entry_as_its_application():
    app = importlib.import_module("dashboard").app
    assert isinstance(app, st.App)
    assert str(app.script_path) == DASHBOARD


def test_an_empty_schedule_first_says_how_jobs_come_into_it():
    app = opened("team")
    drawn = [getattr(element, "key", None) or getattr(element, "value", "") for element in app.main]
    drawn = [text for text in drawn if isinstance(text, str)]
    says = next(place for place, text in enumerate(drawn) if text.startswith("Add the job of Plan"))
    assert says < drawn.index("team_add") < drawn.index("**Jobs**")
    assert app.button(key="team_add").proto.type == "primary"
    run(app.button(key="team_add").click())
    assert app.button(key="team_add").proto.type == "secondary"
