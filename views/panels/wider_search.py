"""The wide search and the scenarios of a CSV, in an expander that starts closed."""

import streamlit as st

from calc.catalogs.load import Catalogs
from views.panels import earlier, search_tables
from views.session import search_state
from views.session.present_plan import Present
from views.sidebar import search_form
from views.theme import Ink
from views.wording import search as search_words
from views.wording.markdown import plain

BUDGET_USD_PER_HOUR = 10.0


def panel(now: Present, ink: Ink, catalogs: Catalogs) -> None:
    """An expander that searches only while it is open."""
    pane = st.expander(
        "Widen or narrow the search",
        icon=":material/manage_search:",
        on_change="rerun",
        key="wider",
        expanded=bool(st.session_state.get("allowed")),
    )
    if not pane.open:
        return
    with pane:
        st.markdown(search_words.ABOUT)
        if now.row["problem"] and not now.row["instance"]:
            st.info(search_words.NO_START)
        else:
            _search(now, ink, catalogs)
        st.divider()
        earlier.preview(earlier.chooser(), catalogs)


def _search(now: Present, ink: Ink, catalogs: Catalogs) -> None:
    search_form.prepare(now, catalogs)
    if search_form.question(now, catalogs) == "budget":
        st.session_state.setdefault("budget", BUDGET_USD_PER_HOUR)
        st.number_input("USD per hour at most", 0.1, step=1.0, format="%.2f", key="budget", persist_state="session")
        search_tables.four_forms(search_state.four_forms(now, catalogs), st.session_state["budget"], catalogs)
        st.caption(plain(search_words.budget_note(now.scenario, catalogs)))
        return
    sets, limits = search_form.form(now, catalogs)
    kept = search_state.found(now, catalogs, sets, limits)
    if kept is None:
        return
    st.markdown(search_words.counts(kept["search"], kept["seconds"]))
    if kept["search"].problem:
        st.info(plain(kept["search"].problem), icon=":material/lightbulb:")
        return
    before = search_state.before(now, kept, catalogs)
    search_tables.cards(kept, catalogs)
    st.caption(plain(search_words.present(now, before)))
    search_tables.frontier(kept, now, before, ink)
    search_tables.best_rows(kept, catalogs)
    search_tables.csv(kept["rows"], kept["work"])
