"""Ready set-ups: a click replaces the plan, Undo restores it."""

import streamlit as st

from calc.files.link import link
from calc.files.setups import setups
from views.elements import button
from views.session import catalogs as session_catalogs
from views.session import job_state
from views.wording.markdown import plain


def chooser() -> None:
    """A popover with every set-up and what it is."""
    with st.popover("Set-ups", icon=":material/list_alt:", type="tertiary", on_change="rerun", key="setups") as result:
        if not result.open:
            return
        st.caption("Each becomes the plan; what is kept stays, and Undo goes back.")
        with st.container(gap=None):
            for index, setup in enumerate(setups()):
                button(setup.name, _start, setup.query, help=plain(setup.about), type="tertiary", key=f"setup_{index}")


def _start(query: dict[str, list[str]]) -> None:
    """Callback: the job of the set-up on a fresh plan."""
    choices, _ = link.parse(query, session_catalogs.catalogs())
    job_state.start(choices)
    st.session_state.pop("looked", None)
