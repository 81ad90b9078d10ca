"""The Run and month page: what the plan costs from the first token to the last, on spot as it is, or a month."""

from datetime import date
from functools import partial

import pandas as pd
import streamlit as st

from calc.cost import offers
from calc.doors import csv_tables
from calc.plan import run_length
from views import tables
from views.charts import cost as cost_charts
from views.panels.chart import draw
from views.session import catalogs as session_catalogs
from views.session.present_plan import present
from views.sidebar import assumptions, sidebar
from views.theme import INKS, verdict_words
from views.wording import run as run_words
from views.wording.numbers import count, plain, usd

catalogs = session_catalogs.catalogs()
sidebar.sidebar(catalogs)
ink = INKS[st.context.theme.type or "light"]
now = present(catalogs)
row = now.row
st.title(plain(run_words.heading(row, catalogs)), anchor=False)
if row["problem"]:
    st.error(plain(row["problem"]), icon=":material/block:")
    assumptions.editor(row, catalogs)
    st.stop()
if run_words.fits_note(row):
    st.warning(run_words.fits_note(row))

trains = row["work"] == "training"
with st.container(horizontal=True):
    for label, value, note in run_words.run(row) if trains else run_words.serving(row):
        tables.metric(label, value, note)
left, right = st.columns([3, 2])
if trains:
    with left:
        table = run_length.over_tokens(now.scenario, catalogs)
        if len(table):
            alt = f"{usd(row['run_usd_on_demand'])} on demand, {usd(row['run_usd_spot'])} on spot"
            said = [f"{count(each)} tokens" for each in table["tokens"]]
            table = table.assign(tokens_text=said)
            draw(cost_charts.cost_over_tokens(ink), table, alt, "over_tokens")
        else:
            st.info("The run has no price: choose an instance that is sold in this region.")
    with right:
        st.subheader("Spot and its interruptions", anchor=False)
        with st.container(horizontal=True):
            for label, value, note in run_words.spot(row):
                tables.metric(label, value, note)
        st.markdown(plain(run_words.lost(row)))
        st.caption(plain(run_words.SOURCES))
else:
    with left:
        table = run_length.over_concurrency(now.scenario, now.market, catalogs)
        if len(table):
            table = table.assign(verdict=verdict_words(table["fits"]), name=table["now"].map({True: "this plan", False: ""}))
            alt = f"{usd(row['usd_per_million_output_tokens'])} per million output tokens at {row['batch']:.0f} at once"
            draw(cost_charts.cost_over_concurrency(ink), table, alt, "over_concurrency")
    with right:
        st.subheader("A month", anchor=False)
        with st.container(horizontal=True):
            for label, value, note in run_words.month(row):
                tables.metric(label, value, note)
        st.caption(run_words.load_note(row))

st.subheader("Prices used", anchor=False)
prices = pd.DataFrame(run_words.prices(row, catalogs))
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
assumptions.editor(row, catalogs)
tables.download(
    "This bill as CSV", partial(csv_tables.to_csv, pd.DataFrame([row])), f"headroom-bill-{row['model']}-{row['work']}.csv", "bill_csv"
)
