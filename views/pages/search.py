"""The Search page: every allowed way to do the plan's work, the cheapest and the fastest of them, and why they win."""

import streamlit as st

from views.panels import search_tables
from views.session import catalogs as session_catalogs
from views.session import search_state
from views.session.present_plan import present
from views.sidebar import search_form, sidebar
from views.theme import INKS
from views.wording import search as search_words
from views.wording.numbers import plain

BUDGET_USD_PER_HOUR = 10.0

if st.session_state.pop("show_plan", False):
    st.switch_page("views/pages/plan.py")
catalogs = session_catalogs.catalogs()
sidebar.sidebar(catalogs)
ink = INKS[st.context.theme.type or "light"]
now = present(catalogs)
search_form.prepare(now, catalogs)

title, below = st.container(), st.container()
asked = search_form.question(now, catalogs)
if asked == "budget":
    title.title("One workload under a budget per hour", anchor=False)
    st.session_state.setdefault("budget", BUDGET_USD_PER_HOUR)
    st.number_input("USD per hour at most", 0.1, step=1.0, format="%.2f", key="budget", persist_state="session")
    search_tables.budget_ways(search_state.four_ways(now, catalogs), st.session_state["budget"], catalogs)
    st.caption(plain(search_words.budget_note(now.scenario, catalogs)))
    st.stop()

sets, limits = search_form.form(now, catalogs)
kept = search_state.found(now, catalogs, sets, limits)
if kept is None:
    title.title("The cheapest way", anchor=False)
    st.stop()
if kept["rows"].empty:
    title.title("Nothing allowed holds it within the limits", anchor=False)
    below.markdown(search_words.counts(kept["result"], kept["seconds"]))
    below.info(search_words.loosen(kept["result"]), icon=":material/lightbulb:")
    st.stop()

before = search_state.before(now, kept["limits"], catalogs)
first = kept["rows"].iloc[0].to_dict()
title.title(plain(search_words.heading(first, catalogs)), anchor=False)
below.markdown(search_words.counts(kept["result"], kept["seconds"]))
search_tables.cards(kept, catalogs)
st.caption(plain(search_words.present(now, before, kept["limits"])))
search_tables.frontier(kept, now, before, ink)
st.subheader("The best on every instance and market", anchor=False)
search_tables.best_rows(kept, catalogs)
search_tables.csv(kept["rows"], kept)
