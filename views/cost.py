"""The Run and month page: what the plan costs from the first token to the last, on spot as it is, or a month."""

from datetime import date
from functools import partial

import pandas as pd
import streamlit as st

from calc import chart_tables, export, offers, run
from views import assumptions, charts_search, comparisons, controls, cost_words, data, search_words, tables
from views.look import INKS, count, plain, usd, word
from views.present import of_row, present

SHOWN = 16

assumptions.settle()
catalogs = data.catalogs()
controls.sidebar(catalogs)
ink = INKS[st.context.theme.type or "light"]
now = present(catalogs)
sound = now.ranked[now.ranked["problem"] == ""].head(SHOWN)

title = st.container()
if len(sound) > 1:
    names = chart_tables.labels(sound, catalogs)
    at = st.selectbox("Scenario", range(len(sound)), format_func=names.__getitem__, key="billed", help="Best first.")
    now = of_row(sound.iloc[at], now.state, now.market, now.assumes_tokens, now.ranked)
row = now.row
title.title(plain(cost_words.heading(row, catalogs)), anchor=False)
if row["problem"]:
    st.error(plain(row["problem"]), icon=":material/block:")
    assumptions.editor(row)
    st.stop()
if cost_words.fits_note(row):
    st.warning(cost_words.fits_note(row))
if now.assumes_tokens:
    st.caption(search_words.tokens_note(now))

trains = row["work"] == "training"
with st.container(horizontal=True):
    for label, value, note in cost_words.run(row) if trains else cost_words.serving(row):
        tables.metric(label, value, note)
left, right = st.columns([3, 2])
if trains:
    with left:
        table = run.over_tokens(now.scenario, catalogs)
        if len(table):
            alt = f"{usd(row['run_usd_on_demand'])} on demand, {usd(row['run_usd_spot'])} on spot"
            said = [f"{count(each)} tokens" for each in table["tokens"]]
            table = table.assign(tokens=table["tokens"] / 1e9, tokens_text=said)
            comparisons.draw(charts_search.cost_over_tokens(ink), table, alt, "over_tokens")
        else:
            st.info("The run has no price: choose an instance that is sold in this region.")
    with right:
        st.subheader("Spot and its interruptions", anchor=False)
        with st.container(horizontal=True):
            for label, value, note in cost_words.spot(row):
                tables.metric(label, value, note)
        st.markdown(plain(cost_words.lost(row)))
        st.caption(plain(cost_words.SOURCES))
else:
    with left:
        table = run.over_concurrency(now.scenario, now.market, catalogs)
        if len(table):
            table = table.assign(verdict=table["fits"].map(word), name=table["now"].map({True: "this plan", False: ""}))
            alt = f"{usd(row['usd_per_million_output_tokens'])} per million output tokens at {row['batch']:.0f} at once"
            comparisons.draw(charts_search.cost_over_concurrency(ink), table, alt, "over_concurrency")
    with right:
        st.subheader("A month", anchor=False)
        with st.container(horizontal=True):
            for label, value, note in cost_words.month(row):
                tables.metric(label, value, note)
        st.caption(cost_words.load_note(row))

st.subheader("Prices used", anchor=False)
prices = pd.DataFrame(cost_words.prices(row, catalogs))
if len(prices):
    days = [offers.days_since(day[:10], date.today()) if day else 0 for day in prices["Of"]]
    st.dataframe(
        prices.assign(**{"Check price": [each > offers.OLD_DAYS for each in days]}),
        column_config={"USD per instance-hour": st.column_config.NumberColumn(format="$%,.4f")},
        hide_index=True,
        placeholder="–",
        alt="Prices used, what they rest on, and of when",
        key="prices_used",
    )
    st.caption(
        f"{row['instance']} in {row['region']}, Linux, shared tenancy, before tax, storage and traffic. Published: "
        "read from AWS or a named source. Derived: from another region's price. Observed spot: the median of what the "
        "zones asked. Estimated spot: from the Spot Advisor's saving. Check price: older than 90 days."
    )
else:
    st.info(f"No price of {row['instance'] or 'a card alone'} is known in {row['region']}.")
assumptions.editor(row)
st.download_button(
    "This bill as CSV",
    data=partial(export.to_csv, pd.DataFrame([row])),
    file_name=f"headroom-bill-{row['model']}-{row['work']}.csv",
    mime="text/csv",
    on_click="ignore",
    icon=":material/download:",
    key="bill_csv",
)
