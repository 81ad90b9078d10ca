"""Fields of choices set by hand; each says auto and the chosen value until touched."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.evaluate import Row
from calc.say.numbers import is_missing
from calc.say.setting import name_of
from calc.scenarios.inputs import inputs_by_name
from views.session import SESSION, extra_state
from views.sidebar.fields import written_count

MORE, USUAL = "more", 4
TOKENS = "tokens"
UNITS = {TOKENS: "tokens", "B": "bytes", "h": "h", "share": "0 to 1"}  # of fields, as people write
TARGETS = ("all-linear", "attention", "q+v", "q+k+v+o", "gate+up+down")


def words(name: str, value: Any, catalogs: Catalogs) -> str:
    """A value as people read it."""
    if isinstance(value, int | float):
        return f"{value:,.12g}"
    if name == "kv_precision" or name not in inputs_by_name():
        return str(value)
    return name_of(name, value, catalogs)


def label_of(name: str, work: str) -> str:
    """The glossary's label of a column; for a service, the batch is the requests of a replica."""
    if name == "batch" and work == "inference":
        return "Concurrent sequences on a replica"
    return GLOSSARY[name].label if name in GLOSSARY else name.replace("_", " ").capitalize()


def _field_label(name: str, work: str) -> str:
    """Return the label of a field with the unit that its number is in: Answer, tokens."""
    label, unit = label_of(name, work), UNITS.get(GLOSSARY[name].unit, "")
    return label if not unit or unit in label.lower() else f"{label}, {unit}"


def auto(name: str, answer_row: Row, catalogs: Catalogs) -> str:
    """Return the answer's own choice in words, as in auto: bf16 mixed."""
    value = answer_row.get(name)
    if name == "kv_precision" and value == "":
        return "auto: 16-bit"
    return "auto" if is_missing(value) else f"auto: {words(name, value, catalogs)}"


def pills(key: str, options: Iterable[Any], answer_row: Row, catalogs: Catalogs) -> None:
    """Draw the first four options, those that are set, and the rest behind `more`."""
    chosen_now = st.session_state.get(key) or []
    several = list(dict.fromkeys([*options, *chosen_now]))
    if len(several) > USUAL and not st.session_state.get(f"more_{key}"):
        further = [value for value in several[USUAL:] if value in chosen_now]
        several = [*several[:USUAL], *further, MORE]
    label = label_of(key, answer_row["work"])
    st.pills(
        label if chosen_now else f"{label} · {auto(key, answer_row, catalogs)}",
        several,
        selection_mode="multi",
        format_func=lambda value: "more…" if value == MORE else words(key, value, catalogs),
        key=key,
        on_change=_more,
        args=(key,),
        **SESSION,
    )


def _more(key: str) -> None:
    """Callback: the pill `more` is not a value; it shows the rest."""
    state = st.session_state
    if MORE in state[key]:
        state[key] = [value for value in state[key] if value != MORE]
        state[f"more_{key}"] = True


def field(key: str, answer_row: Row, catalogs: Catalogs) -> None:
    """One value of a column by its kind: of a list, a text or a number; empty it is auto."""
    column = inputs_by_name()[key]
    label = _field_label(key, answer_row["work"])
    default = auto(key, answer_row, catalogs)
    look = {"key": key, "placeholder": default, **SESSION}
    options = _options_of(key, catalogs)
    if options:
        present = {st.session_state.get(key)} - {None}  # of a link, which may have another
        several = [*options, *present.difference(options)]
        st.selectbox(
            label,
            several,
            index=None,
            format_func=lambda value: words(key, value, catalogs),
            **look,
        )
    elif column.kind == "text":
        st.text_input(label, **look)
    elif column.kind == "count" and GLOSSARY[key].unit == TOKENS:
        written_count(label, st.session_state.get(key), partial(extra_state.put, key), key, default)
    elif column.kind == "count":
        st.number_input(label, 1, value=None, step=1, **look)
    else:
        st.number_input(label, 0.0, value=None, format="%g", **look)


def _options_of(key: str, catalogs: Catalogs) -> list[str]:
    """The values that a column is chosen from; empty for a text or a number."""
    if key == "lora_targets":
        return [*TARGETS]
    choices = inputs_by_name()[key].choices
    if key == "gpu" and not choices:
        return [*catalogs.gpus.index]
    return [*choices]
