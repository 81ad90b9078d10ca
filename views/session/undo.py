"""Undo: each change of the job, fixed columns or kept scenarios is a link to return to."""

import streamlit as st

from calc.files.link import link
from views.session import address
from views.session import catalogs as session_catalogs

MOST_STEPS = 50


def note() -> None:
    """At every run: where the user made a change, what stood before it is a step to go back to."""
    state, made = st.session_state, st.session_state["made"]
    before = state.get("made_before", made)
    if before != made:
        state["steps"] = [*state.get("steps", []), before][-MOST_STEPS:]
        state["undone"] = []
    state["made_before"] = made


def can_undo() -> bool:
    """Return whether there is a step to go back."""
    return bool(st.session_state.get("steps"))


def can_redo() -> bool:
    """Return whether a step was undone since the last change."""
    return bool(st.session_state.get("undone"))


def undo() -> None:
    """Callback: what stood before the last change."""
    _step("steps", "undone")


def redo() -> None:
    """Callback: the change that was undone last."""
    _step("undone", "steps")


def _step(taken_from: str, given_to: str) -> None:
    """Take the last page from one list, and put the present one on the other."""
    state = st.session_state
    if not state.get(taken_from):
        return
    query = state[taken_from].pop()
    state[given_to] = [*state.get(given_to, []), state["made_before"]]
    address.take(link.parse(query, session_catalogs.catalogs())[0])
    state["made_before"] = query
