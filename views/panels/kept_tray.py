"""Kept scenarios on every page: a chip for each, Undo, and the way to Compare."""

import pandas as pd
import streamlit as st

from calc.plan.aged import then_of
from calc.plan.figures import records
from views.elements import button
from views.session import kept, undo
from views.wording.kept import chip, undo_help

ACTIONS = {"take": "Make it the plan", "copy": "Keep a copy", "remove": "Remove"}


def tray(rows: pd.DataFrame) -> None:
    """The chips of the kept rows, Undo and Redo."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="kept_tray"):
        for at, row in enumerate(records(rows)):
            st.menu_button(
                chip(row | then_of(kept.kept()[at])),
                list(ACTIONS),
                format_func=ACTIONS.__getitem__,
                on_click=_act,
                args=(at,),
                icon=":material/bookmark:",
                key=f"kept_{at}",
            )
        if not (len(rows) or undo.can_undo() or undo.can_redo()):
            return
        if len(rows):
            st.page_link("views/pages/compare.py", label="Compare", icon=":material/compare_arrows:", width="content")
        button("Undo", undo.undo, icon="undo", disabled=not undo.can_undo(), type="tertiary", help=undo_help(undo.changed()), key="undo")
        if undo.can_redo():
            button("Redo", undo.redo, icon="redo", type="tertiary", key="redo")


def counted(page: str) -> str:
    """What stands behind the name of a page in the top bar: how many are kept."""
    many = len(kept.kept())
    return f" ({many})" if page == "compare" and many else ""


def _act(at: int) -> None:
    """Callback: what was chosen in a chip's menu."""
    {"take": kept.take, "copy": kept.duplicate, "remove": kept.remove}[st.session_state[f"kept_{at}"]](at)
