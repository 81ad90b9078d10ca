"""The Plan page: the answer, four numbers, where the memory goes, what it costs, what holds it, and how it compares."""

from datetime import date
from functools import partial

import streamlit as st

from calc import chart_tables, plan
from views import advice, choices, comparisons, controls, data, tables, uploaded, words
from views.look import INKS, components_of, plain

BARS, POINTS = 16, 200

catalogs = data.catalogs()
controls.sidebar(catalogs)
ink = INKS[st.context.theme.type or "light"]
state = st.session_state
market, period = state["market"], state["period"]

evaluate = partial(plan.scenarios, choices.scenario_choices(catalogs), catalogs, state["layout"])
frame = evaluate(solve=False)
ranked = plan.rank(frame, market, period)
answer = plan.answer(ranked)
best = answer["row"]
names = chart_tables.labels(ranked.head(POINTS), catalogs)
components = components_of(state["work"])

controls.complaints()
if older := words.older_prices(state["link_prices_as_of"], catalogs, best):
    st.info(plain(older), icon=":material/history:")
st.title(plain(words.heading(answer, catalogs, market, period)), anchor=False)
if answer["state"] == "problem":
    st.error(plain(best["problem"]), icon=":material/block:")
else:
    st.markdown(plain(words.sentence(answer, catalogs)))
    if answer["state"] == "over":
        changes = plan.changes(plan.scenario_of(best), catalogs, market, period)
        st.info(plain(words.ways_out(changes, catalogs, market, period)), icon=":material/lightbulb:")
    with st.container(horizontal=True):
        for label, value, note in words.metrics(answer, catalogs, market, period):
            tables.metric(label, value, note)
    left, right = st.columns([3, 2])
    with left:
        title, alt = "Memory per GPU by component", words.memory_alt(answer)
        comparisons.stacked(ranked.head(BARS), names[:BARS], catalogs, ink, components, title, alt, "memory")
        st.caption(f"{words.marks()}. {min(BARS, len(ranked))} of {len(ranked):,} scenarios, best first.")
    with right:
        alt = words.cost_alt(answer, period)
        comparisons.cost_points(ranked.head(POINTS), names[:POINTS], ink, words.usd_title(market, period), alt)
advice.panel(best, catalogs, market)
comparisons.tabs(evaluate, ranked, best, catalogs, ink, components, market, period)
with st.container(horizontal=True):
    st.download_button(
        f"Scenarios as CSV ({len(frame):,} row{'s' if len(frame) > 1 else ''})",
        data=partial(tables.csv, evaluate),
        file_name=words.file_name(best),
        mime="text/csv",
        on_click="ignore",
        icon=":material/download:",
        key="csv",
    )
    with st.popover("Link to this plan", icon=":material/link:"):
        st.code(words.link(st.context.url, state["query"]), language=None, wrap_lines=True)
    file = uploaded.chooser()
uploaded.results(file, catalogs, market, period)
st.caption(plain(words.price_caption(best, catalogs, market, date.today())))
