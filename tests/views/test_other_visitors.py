"""What can wait lets the questions of other visitors go first."""

import streamlit as st

from views.session import other_visitors


def test_only_a_question_of_another_visitor_in_the_last_moments_counts(monkeypatch):
    now, state = [100.0], {}
    monkeypatch.setattr(other_visitors, "monotonic", lambda: now[0])
    monkeypatch.setattr(other_visitors, "_asked_at", {})
    monkeypatch.setattr(st, "session_state", state)
    other_visitors.note_question()
    assert not other_visitors.others_ask()
    state.clear()  # another visitor
    assert other_visitors.others_ask()
    now[0] += other_visitors.RECENT_SECONDS
    assert not other_visitors.others_ask()
    other_visitors.note_question()
    assert len(other_visitors._asked_at) == 2
    now[0] += 0.1
    other_visitors.note_question()
    assert len(other_visitors._asked_at) == 1
