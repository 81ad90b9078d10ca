"""Around the heading: changes since a link was made, prices, set-ups."""

from datetime import date

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.link import link
from calc.files.setups import setups
from calc.search.options import Options
from views.session import address, job_state, kept, opened_plan
from views.session import catalogs as session_catalogs
from views.shared import aged_words
from views.shared import answer_words as plan_words
from views.shared.elements import button
from views.shared.markdown import plain
from views.shared.theme import Ink


def line(options: Options, ink: Ink, catalogs: Catalogs, today: date) -> None:
    """What the answer rests on: the age of its prices, starting, spare."""
    facts = [
        f':color[:material/warning: {plain(text)}]{{foreground="{ink.amber}"}}' if warns else plain(text)
        for text, warns in plan_words.small_line(options, catalogs, today)
    ]
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="status"):
        st.markdown(f":small[{' · '.join(facts)}]" if facts else "", width="content")
        _setups()


def _setups() -> None:
    """Ready set-ups: a click on one replaces the plan, Undo restores it."""
    with st.popover("Set-ups", icon=":material/list_alt:", type="tertiary", on_change="rerun", key="setups") as popover:
        if popover.open:
            st.caption("Each becomes the plan; what is kept stays, and Undo goes back.")
            with st.container(gap=None):
                for index, setup in enumerate(setups()):
                    button(setup.name, _start, setup.query, help=plain(setup.about), type="tertiary", key=f"setup_{index}")


def _start(query: dict[str, list[str]]) -> None:
    """Callback: the job of the set-up on a fresh plan."""
    job_state.start(link.parse(query, session_catalogs.catalogs())[0])
    st.session_state.pop("looked", None)


def since_then(first: Row, catalogs: Catalogs) -> None:
    """Changes of the link's answer and kept scenarios; older links have only price days."""
    row, is_earlier = opened_plan.then_row(catalogs), opened_plan.is_of_earlier_link()
    if is_earlier:
        st.info(plain(aged_words.of_earlier_version(first, row)), icon=":material/history:")
    if row is None:
        if older := plan_words.older_prices(address.address().prices_as_of, catalogs, first):
            st.info(plain(older), icon=":material/history:")
    elif text := aged_words.opened(row, catalogs, opened_plan.is_same(row, first), is_earlier):
        st.info(plain(text), icon=":material/history:")
        with st.container(horizontal=True):
            button("Keep it as it was", kept.keep, row, icon="bookmark_add", key="keep_then")
            button("Dismiss", opened_plan.forget, type="tertiary", key="dismiss_then")
