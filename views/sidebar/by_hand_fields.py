"""Fields of choices set by hand; each says auto and the chosen value until touched."""

from collections.abc import Iterable, Sequence
from typing import Any

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.say.numbers import is_missing
from calc.say.setting import name_of
from calc.scenarios.inputs import inputs_by_name
from views.session import SESSION
from views.shared.texts import TEXTS

MORE, USUAL = "more", 4
LABELS = TEXTS["by_hand"]["labels"]


def words(name: str, value: Any, catalogs: Catalogs) -> str:
    """A value as people read it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        return f"{value:,}"
    if name == "implementation":
        return str(catalogs.implementations["name"].get(value, value)).replace("Hugging Face ", "")
    return str(value) if name == "kv_precision" or name not in inputs_by_name() else name_of(name, value, catalogs)


def auto(name: str, chosen: Row, catalogs: Catalogs) -> str:
    """What the answer chose, in words: auto: bf16 mixed."""
    value = chosen.get(name)
    if name == "kv_precision" and value == "":
        return "auto: 16-bit"
    return "auto" if is_missing(value) else f"auto: {words(name, value, catalogs)}"


def pills(key: str, options: Iterable[Any], chosen: Row, catalogs: Catalogs, label: str = "") -> None:
    """The usual four, those that are set, and the rest behind one more; several are compared."""
    state, options = st.session_state, list(options)
    chosen_now = state.get(key) or []
    fitting = [value for value in chosen_now if value not in options]
    shown = [*options, *fitting]
    if len(shown) > USUAL and not state.get(f"more_{key}"):
        shown = [*(value for index, value in enumerate(shown) if index < USUAL or value in chosen_now), MORE]
    label = label or LABELS[key]
    st.pills(
        label if chosen_now else f"{label} :gray[{auto(key, chosen, catalogs)}]",
        shown,
        selection_mode="multi",
        format_func=lambda value: "more…" if value == MORE else words(key, value, catalogs),
        key=key,
        on_change=_more,
        args=(key,),
        **SESSION,
    )


def _more(key: str) -> None:
    """Callback: the pill `more` is no value, it shows the rest."""
    state = st.session_state
    if MORE in state[key]:
        state[key] = [value for value in state[key] if value != MORE]
        state[f"more_{key}"] = True


def multiselect(key: str, named: dict[str, str], chosen: Row) -> None:
    """Of a long list any number; none is auto."""
    needed, place = chosen.get("instances_needed"), chosen.get(key)
    auto_words = "auto" if is_missing(place) else f"auto: {place}" if is_missing(needed) else f"auto: {needed:.0f} × {place}"
    st.multiselect(LABELS[key], list(named), format_func=named.__getitem__, key=key, placeholder=auto_words, **SESSION)


def choice(key: str, label: str, options: Sequence[Any], chosen: Row, catalogs: Catalogs, say: Any = None) -> None:
    """One of a closed list; cleared it is auto."""
    say = say or (lambda option: words(key, option, catalogs))
    value = chosen.get(key)
    placeholder = "auto" if is_missing(value) else f"auto: {say(value)}"
    st.selectbox(label, options, index=None, format_func=say, key=key, placeholder=placeholder, **SESSION)


def number(
    key: str,
    label: str,
    chosen: Row,
    catalogs: Catalogs,
    usual: float | None = None,
    least: float = 1.0,
    step: float = 10.0,
    shown: str = "%.0f",
) -> None:
    """A number; empty it is auto."""
    is_count = inputs_by_name()[key].kind == "count"
    value = chosen.get(key) if usual is None else usual
    st.number_input(
        label,
        min_value=1 if is_count else least,
        value=None,
        step=1 if is_count else step,
        format=None if is_count else shown,
        key=key,
        placeholder="auto" if is_missing(value) else f"auto: {words(key, value, catalogs)}",
        **SESSION,
    )
