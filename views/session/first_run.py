"""After a restart of the server, keep the browser's widget values instead of the address's.

The address is read before any widget is drawn, so a change made while the server was away would be
set back. A second run, in which every widget has read its own value, takes over what differs.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from calc.evaluate import Row


def takes() -> dict[str, Callable[[Any], None]]:
    """Return, by the key of a widget with terms of its own, what takes over its new value."""
    return st.session_state.setdefault("takes", {})


def take() -> None:
    """Before any widget is drawn: what the browser said against the address."""
    for act in st.session_state.pop("said_by_browser", []):
        act()


def note(keys: tuple[str, ...]) -> None:
    """After drawing: run again where the values of the browser's widgets differ."""
    state = st.session_state
    if state.get("was_drawn"):
        return
    state["was_drawn"] = True
    values = _sent_values()
    every = {key: partial(state.__setitem__, key) for key in keys} | takes()
    state["said_by_browser"] = [
        partial(act, values[key])
        for key, act in every.items()
        if key in values and values[key] != state.get(key)
    ]
    if state["said_by_browser"]:
        st.rerun()


def _sent_values() -> Row:
    """The values of widgets sent with this run; Streamlit has no public name for them."""
    context = get_script_run_ctx()
    if context is None:
        return {}
    inner = context.session_state._state
    ids = inner._key_id_mapper.id_key_mapping
    return {
        ids[widget]: inner._new_widget_state[widget]
        for widget in inner._new_widget_state
        if widget in ids
    }
