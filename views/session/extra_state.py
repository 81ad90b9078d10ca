"""What the session holds beside the plan: assumptions that were set, what a search may vary, its limits."""

from collections.abc import Iterable
from typing import Any

import streamlit as st

from calc.scenarios.inputs import DEFAULTS, inputs_by_name


def assumptions() -> list[str]:
    """The names of the assumptions of time and cost, which are inputs like the others."""
    return [name for name in inputs_by_name() if name not in DEFAULTS]


def assumed() -> dict[str, float]:
    """The assumptions that this session has set."""
    state = st.session_state
    return {name: float(state[name]) for name in assumptions() if state.get(name) not in (None, "")}


def put(name: str, value: Any) -> None:
    """Set a value; what is empty and was never held stays out: the framework reads every value again for each field of numbers."""
    if value not in (None, []) or name in st.session_state:
        st.session_state[name] = value


def forget() -> None:
    """The catalogs' assumptions and the usual search again."""
    state = st.session_state
    for name in assumptions():
        put(name, None)
    for name in ("allowed", "limits", "found", "looked"):
        state.pop(name, None)


def keep(names: Iterable[str], page: str) -> None:
    """On the first run of another page: choices whose widgets stand on both pages keep their values.

    Streamlit knows a widget by its page; of one key on two pages the second would begin at its default.
    """
    state = st.session_state
    if state.get("page") != page:
        state["page"] = page
        for name in names:
            if name in state:
                state[name] = state[name]
