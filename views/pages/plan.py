"""The Plan page: the answer, four numbers, where the memory goes, what it costs, what holds it, and how it compares."""

from datetime import date
from functools import partial

import streamlit as st

from calc import estimate
from calc.charts import tables as chart_tables
from calc.charts.tables import components_of
from calc.plan import ranking
from calc.scenarios.inputs import inputs_by_name
from views import tables
from views.panels import advice, comparisons, earlier
from views.session import address as session_address
from views.session import catalogs as session_catalogs
from views.session.present_plan import present
from views.sidebar import sidebar
from views.theme import INKS
from views.wording import plan as plan_words
from views.wording.numbers import plain

BARS, POINTS = 16, 200

catalogs = session_catalogs.catalogs()
sidebar.sidebar(catalogs)
ink = INKS[st.context.theme.type or "light"]
address = session_address.address()
now = present(catalogs)
market, period = now.market, "hour"
evaluate = partial(estimate, now.options.board[[name for name in inputs_by_name() if name in now.options.board]], catalogs)
ranked = now.options.board.assign(frontier=False, usd=now.options.board["usd_per_hour"])
sidebar.complaints()
if now.options.problem:
    st.title(f"{catalogs.models.at[now.row['model'], 'name']}: nothing meets what was asked", anchor=False)
    st.error(plain(now.options.problem), icon=":material/block:")
    st.stop()
answer = ranking.answer(ranked.head(1))
best = answer["row"]
names = chart_tables.labels(ranked.head(POINTS), catalogs)
components = components_of(best["work"])

if older := plan_words.older_prices(address.prices_as_of, catalogs, best):
    st.info(plain(older), icon=":material/history:")
st.title(plain(plan_words.heading(answer, catalogs, market, period)), anchor=False)
st.markdown(plain(plan_words.sentence(answer, catalogs)))
with st.container(horizontal=True):
    for label, value, note in plan_words.metrics(answer, catalogs, market, period):
        tables.metric(label, value, note)
left, right = st.columns([3, 2])
with left:
    title, alt = "Memory per GPU by component", plan_words.memory_alt(answer)
    comparisons.stacked(ranked.head(BARS), names[:BARS], catalogs, ink, components, title, alt, "memory")
    st.caption(f"{plan_words.marks()}. {min(BARS, len(ranked))} of {len(ranked):,} scenarios, best first.")
with right:
    alt = plan_words.cost_alt(answer, period)
    comparisons.cost_points(ranked.head(POINTS), names[:POINTS], ink, plan_words.usd_title(market, period), alt)
advice.panel(best, catalogs, market)
comparisons.tabs(evaluate, ranked, best, catalogs, ink, components, market, period)
with st.container(horizontal=True):
    tables.download(
        f"Scenarios as CSV ({len(ranked):,} row{'s' if len(ranked) > 1 else ''})",
        partial(tables.csv, evaluate),
        plan_words.file_name(best),
        "csv",
    )
    with st.popover("Link to this plan", icon=":material/link:"):
        st.code(plan_words.link(st.context.url, address.query), language=None, wrap_lines=True)
    file = earlier.chooser()
earlier.preview(file, catalogs)
st.caption(plain(plan_words.price_caption(best, catalogs, market, date.today())))
