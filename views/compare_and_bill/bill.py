"""The Bill page: what the job costs, how sure that is, what it leaves out, other markets."""

from datetime import date
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.files.csv import tables as csv_tables
from calc.plan import bill, break_even, run_length
from calc.plan.bill import billed
from views.compare_and_bill import bill_panels as panel
from views.compare_and_bill import bill_words
from views.compare_and_bill import plan_bill as plan_panel
from views.compare_and_bill import ways_words as ways
from views.session import catalogs as session_catalogs
from views.session.present_plan import present
from views.shared import answer_words as plan_words
from views.shared import tables
from views.shared.markdown import plain
from views.shared.theme import INKS
from views.sidebar import assumptions


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    ink = INKS[st.context.theme.type or "light"]
    plan = present(catalogs)
    if not bill_words.is_billed(plan.row):
        title.title(plain(bill_words.heading(plan.row, plan.job, catalogs)), anchor=False)
        st.error(plain(plan.row["problem"]), icon=":material/block:")
        assumptions.editor(plan.row, catalogs)
        return

    if plan.job.get("have"):
        title.title(plain(bill_words.owned(plan.row, plan.job, catalogs)), anchor=False)
        st.markdown(plain(plan_words.without_place(plan.row["why"], plan.row, catalogs) + bill_words.if_rented(plan.row)))
        return

    row = billed(pd.DataFrame([plan.row]).assign(market=plan.market), catalogs).iloc[0].to_dict()
    markets = bill.on_markets(row, catalogs)
    market_line = markets[markets["market"] == plan.market].iloc[0].to_dict()
    ends, trains = bool(ends_of(row)), row["work"] == "training"

    title.title(plain(bill_words.heading(row, plan.job, catalogs)), anchor=False)
    if row["misses"]:
        st.warning(plain(bill_words.outside(row, plan.options.problem)), icon=":material/rule:")
    if market_line["basis"]:
        st.markdown(plain(bill_words.summary(row, market_line)))
        panel.paid(bill_words.paid(row, bill.lines(row), catalogs))
        st.markdown(plain(ways.signed(market_line)))
        st.caption(plain(bill_words.idle(row)))
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader("How sure it is", anchor=False)
        panel.points(bill_words.how_sure(row, market_line, date.today()))
    with right:
        st.subheader("What is not in it", anchor=False)
        panel.points(ways.not_in_it(row))
    with st.expander("Storage and traffic, each by itself", key="small_lines"):
        panel.small(bill.small_lines(row, catalogs))

    st.subheader("Other prices for the same job", anchor=False)
    st.markdown(plain(ways.cheapest(markets, plan.market, ends)))
    panel.markets(ways.other_markets(markets), markets["market"], date.today())
    st.caption(ways.no_commitments(markets))
    with st.expander("From which use on each pays off", key="break_even"):
        panel.over_use(row, break_even.over_use(row, markets), ink)
    panel.use_market(markets[markets["usd"].notna()]["market"], plan, catalogs)

    if market_line["basis"] and not MARKETS[plan.market].work:
        sentence, questions = ways.obtainable(row, market_line, catalogs)
        with st.expander("Can it be had", key="can_be_had"):
            st.markdown(plain(sentence))
            quota = ways.quota_of(row, catalogs)
            panel.points(ways.answered(bill.answers_of_aws(row, quota.code, catalogs), quota))
            st.code("\n".join(questions), language="bash", wrap_lines=True)
            st.caption(ways.ASKED)

    if ends:
        st.subheader("A longer or shorter run", anchor=False)
        panel.over_tokens(row, run_length.over_tokens(plan.scenario, catalogs), ink)
    if trains:
        with st.expander("Spot and its interruptions", key="spot_details"):
            panel.details(bill_words.spot_details(row))
            st.caption(plain(bill_words.SOURCES))
    elif not ends:
        st.subheader("How fast it answers, and what tokens cost", anchor=False)
        with st.container(horizontal=True):
            for label, value, note in bill_words.serving(row):
                tables.metric(label, value, note)
        panel.over_concurrency(row, run_length.over_concurrency(plan.scenario, plan.market, catalogs), ink)
        st.markdown(plain(ways.per_token(row, bill.endpoint_facts(row, catalogs))))
        if row["endpoint_usd_per_million_tokens"] > 0:
            panel.over_load(row, break_even.over_load(row), ink)
        st.caption(bill_words.load(row))

    st.subheader("The plan's bill", anchor=False)
    plan_panel.plan(catalogs)

    assumptions.editor(row, catalogs)
    name = f"headroom-bill-{row['model']}-{row['work']}"
    with st.container(horizontal=True):
        tables.download(
            "This bill as CSV", partial(csv_tables.dated_csv, pd.DataFrame([row]), catalogs, date.today()), f"{name}.csv", "bill_csv"
        )
        tables.download(
            "Every way to pay as CSV",
            partial(csv_tables.dated_csv, bill.as_rows(row, markets), catalogs, date.today()),
            f"{name}-ways.csv",
            "ways_csv",
        )
