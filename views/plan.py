"""The Plan page: the answer, four numbers, where the memory goes, what it costs, what holds it, and how it compares."""

from datetime import date
from functools import partial

import streamlit as st

from calc import chart_tables, export, plan
from views import choices, comparisons, controls, data, tables, words
from views.look import INKS, components_of, plain

SHOWN = 16
POINTS = 200

catalogs = data.catalogs()
controls.sidebar(catalogs)
ink = INKS[st.context.theme.type or "light"]
state = st.session_state
market, period = state["market"], state["period"]

frame = plan.scenarios(choices.scenario_choices(catalogs), catalogs, state["layout"])
ranked = plan.rank(frame, market, period)
answer = plan.answer(ranked)
best = answer["row"]
components = components_of(state["work"])

controls.complaints()
if older := words.older_prices(state["link_prices_as_of"], catalogs):
    st.info(older, icon=":material/history:")
st.title(plain(words.heading(answer, catalogs, market, period)), anchor=False)
if answer["state"] == "problem":
    st.error(plain(best["problem"]), icon=":material/block:")
else:
    st.markdown(plain(words.sentence(answer, catalogs)))
    if answer["state"] == "over":
        st.info(
            plain(
                words.ways_out(plan.changes(plan.scenario_of(best), catalogs, market, period), catalogs, market, period)
            ),
            icon=":material/lightbulb:",
        )
    with st.container(horizontal=True):
        for label, value, note in words.metrics(answer, catalogs, market, period):
            tables.metric(label, value, note)
    left, right = st.columns([3, 2])
    with left:
        shown = ranked.head(SHOWN)
        comparisons.stacked(
            shown,
            chart_tables.labels(shown, catalogs),
            catalogs,
            ink,
            components,
            "Memory per GPU by component",
            words.memory_alt(answer),
            "memory",
        )
        if len(ranked) > len(shown):
            st.caption(f"{len(shown)} of {len(ranked):,} scenarios shown, best first.")
    with right:
        comparisons.cost_points(
            ranked.head(POINTS), catalogs, ink, words.usd_title(market, period), words.cost_alt(answer, period)
        )
    comparisons.tabs(ranked, best, catalogs, ink, components, market, period)

st.subheader("Scenarios", anchor=False)
tables.scenarios(ranked.head(1000), catalogs, period)
with st.container(horizontal=True):
    st.download_button(
        f"Scenarios as CSV ({len(frame):,} row{'s' if len(frame) > 1 else ''})",
        data=partial(export.to_csv, frame),
        file_name=words.file_name(best),
        mime="text/csv",
        on_click="ignore",
        icon=":material/download:",
        key="csv",
    )
    with st.popover("Link to this plan", icon=":material/link:"):
        st.code(words.link(st.context.url, state["query"]), language=None, wrap_lines=True)
st.caption(plain(words.price_caption(best, catalogs, market, date.today())))
