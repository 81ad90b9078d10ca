"""The questions of the sidebar, apart from a page: what their callbacks choose."""

import streamlit as st

from views.session import job_state, questions


def test_the_slider_of_a_service_before_leaves_documents_as_long_as_they_are(monkeypatch):
    """Its late report comes after the job has become one without answers, which has no slider."""
    chosen = []
    monkeypatch.setattr(job_state, "choose", lambda **cells: chosen.append(cells))
    monkeypatch.setattr(questions, "lengths", lambda _: (500, 0))
    questions.take_split(98_976, None)
    assert chosen == []
    monkeypatch.setattr(questions, "lengths", lambda _: (500, 12))
    questions.take_split(98_976, None)
    assert chosen[0]["prompt_tokens"] == 511


def test_a_value_that_the_page_has_shown_is_no_change(monkeypatch):
    """Streamlit may report it after a run that was cut short, and it would undo a pasted job."""
    monkeypatch.setattr(st, "session_state", {})
    taken = []
    change = questions.widget_of("tokens", "50 million", taken.append)["on_change"]
    change()
    assert not taken
    for value in ("60 million", "50 million"):
        st.session_state["tokens"] = value
        change()
    assert taken == ["60 million", "50 million"]
