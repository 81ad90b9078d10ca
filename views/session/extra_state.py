"""Session state beside the plan: the assumptions that a visitor sets."""

from collections.abc import Iterable
from typing import Any

import streamlit as st

from calc.mappings import Cells
from calc.scenarios.inputs import DEFAULTS, inputs_by_name


def assumptions() -> list[str]:
    """The names of the assumptions of time and cost, which are inputs like the others."""
    return [name for name in inputs_by_name() if name not in DEFAULTS]


def own_assumptions() -> dict[str, float]:
    """The assumptions that this session has set."""
    state = st.session_state
    return {name: float(state[name]) for name in assumptions() if state.get(name) not in (None, "")}


def take_assumptions(choices: Cells, names: Iterable[str]) -> None:
    """Set these assumptions to what the choices of a link or a text say; without a word to none."""
    for name in names:
        value = choices.get(name)
        value = value[0] if isinstance(value, list) else value
        put(name, None if value in (None, "") else float(value))


def put(name: str, value: Any) -> None:
    """Set a value; an empty one is removed, since the framework reads all at every run."""
    if value not in (None, []) or name in st.session_state:
        st.session_state[name] = value


def forget() -> None:
    """Callback: return to the assumptions of the catalogs."""
    state = st.session_state
    for name in assumptions():
        put(name, None)
    for name in ("looked", "introduced"):
        state.pop(name, None)


def keep(names: Iterable[str], page: str) -> None:
    """On the first run of another page: keep the choices whose widgets both pages have.

    Streamlit identifies a widget by its page. Without this, a widget of the same key on the second
    page would begin at its default.
    """
    state = st.session_state
    if state.get("page") != page:
        state["page"] = page
        for name in names:
            if name in state:
                state[name] = state[name]
