"""Kept scenarios on every page: a chip for each, Undo, and the way to Compare."""

from typing import Any

import pandas as pd
import streamlit as st

from calc.columns import GLOSSARY
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.plan.aged import changes, then_of
from calc.plan.figures import records
from calc.say.numbers import is_missing, usd
from views.session import kept, undo
from views.shared.elements import button
from views.shared.markdown import plain
from views.shared.texts import TEXTS

ACTIONS = {"take": "Make it the plan", "copy": "Keep a copy", "remove": "Remove"}
FIELDS = TEXTS["kept"]["fields"]


def tray(rows: pd.DataFrame) -> None:
    """The chips of the kept rows, Undo and Redo."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="kept_tray"):
        for index, row in enumerate(records(rows)):
            label, icon = _chip(row | then_of(kept.kept()[index])), ":material/bookmark:"
            look: dict[str, Any] = {"format_func": ACTIONS.__getitem__, "icon": icon, "key": f"kept_{index}"}
            st.menu_button(label, list(ACTIONS), on_click=_act, args=(index,), **look)
        if not (len(rows) or undo.can_undo() or undo.can_redo()):
            return
        if len(rows):
            st.page_link("views/compare_and_bill/page.py", label="Compare", icon=":material/compare_arrows:", width="content")
        button("Undo", undo.undo, icon="undo", disabled=not undo.can_undo(), type="tertiary", help=_undo_help(undo.changed()), key="undo")
        if undo.can_redo():
            button("Redo", undo.redo, icon="redo", type="tertiary", key="redo")


def _act(index: int) -> None:
    """Callback: what was chosen in a chip's menu."""
    {"take": kept.take, "copy": kept.duplicate, "remove": kept.remove}[st.session_state[f"kept_{index}"]](index)


def _chip(row: Row) -> str:
    """p4de, full · $29, was $27; a kept row that is refused says so."""
    name = row["scenario"]
    if row["problem"]:
        return plain(f"{name} · refused")
    moved = {change.figure: f", was {usd(change.then)}" for change in changes(row)}
    if not is_missing(row["usd"]):
        return plain(f"{name} · {usd(row['usd'])}{'' if ends_of(row) else ' a month'}{moved.get('usd', '')}")
    hourly = "no price" if is_missing(row["usd_per_hour"]) else f"{usd(row['usd_per_hour'])} an hour"
    return plain(f"{name} · {hourly}{moved.get('usd_per_hour', '')}")


def _undo_help(names: list[str]) -> str:
    """What the last change was about."""
    if not names:
        return "Nothing to undo"
    words = [FIELDS.get(name) or (GLOSSARY[name].label.lower() if name in GLOSSARY else name.replace("_", " ")) for name in names]
    return f"Take back: {', '.join(words[:6])}{' and more' if len(words) > 6 else ''}"
