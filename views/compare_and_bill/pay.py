"""The tab Other ways to pay: every price of the answer on Plan, and what it rests on."""

from datetime import date
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.files.csv import tables as csv_tables
from calc.plan import bill, break_even, run_length
from calc.plan.bill import bill_row
from calc.say.job import short_job
from calc.say.numbers import billed_usd, is_missing, usd
from views.compare_and_bill import bill_lines, neuron, prices, quota, usage
from views.session import catalogs as session_catalogs
from views.session.present_plan import Present, present
from views.shared import answer_words as plan_words
from views.shared import row_words, tables
from views.shared.elements import expander, points, show_error, theme_ink
from views.shared.markdown import plain
from views.shared.theme import Ink
from views.sidebar import assumptions


def draw(title: DeltaGenerator) -> None:
    """Draw the tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    plan = present(catalogs)
    job = short_job(plan.job, catalogs)
    is_refused = is_missing(plan.row["memory_bytes"])
    machines = "" if is_refused else row_words.where(plan.row, catalogs, True)
    title.title(
        plain(heading(plan.row, job, machines if plan.job.get("have") else "")), anchor=False
    )
    if is_refused:
        show_error(row_words.on_screen(plan.row["problem"]))
        assumptions.editor(plan.row, catalogs)
        return
    title.markdown(plain(f"The answer shown on Plan: {machines}."))
    if plan.job.get("have"):
        st.markdown(plain(renting(plan, catalogs)))
        return

    row = bill_row({**plan.row, "market": plan.market}, catalogs)
    markets = bill.on_markets(row, catalogs)
    market_line = markets[markets["market"] == plan.market].iloc[0].to_dict()
    _prices(row, plan, markets, market_line, catalogs)
    _details(row, plan, markets, market_line, catalogs)
    assumptions.editor(row, catalogs)
    _downloads(row, markets, catalogs)


def _prices(
    row: Row, plan: Present, markets: pd.DataFrame, market_line: Row, catalogs: Catalogs
) -> None:
    """Every price of the machines, how certain it is, and what it leaves out."""
    today = date.today()
    if row["misses"]:
        st.warning(plain(outside(row, plan.options.problem)), icon=":material/rule:")
    st.header("Every price of these machines", anchor=False)
    st.markdown(plain(prices.cheapest(markets, plan.market, bool(ends_of(row)))))
    prices.markets(markets, today)
    if missing := prices.no_commitments(markets):
        st.caption(missing)
    prices.use_market(markets[markets["usd"].notna()]["market"], plan, catalogs)
    left, right = st.columns(2, gap="large")
    with left:
        st.header("How sure it is", anchor=False)
        points(bill_lines.how_sure(row, market_line, today, catalogs))
    with right:
        st.header("Not in the price", anchor=False)
        points([*prices.not_in_it(row), prices.energy(row, catalogs)])


def _details(
    row: Row, plan: Present, markets: pd.DataFrame, market_line: Row, catalogs: Catalogs
) -> None:
    """The panels that are closed at first; which ones there are depends on the job."""
    ink = theme_ink()
    if market_line["basis"]:
        draw_lines = partial(_run_panel, row, market_line, catalogs)
        expander("What is paid, line by line", "paid_lines", draw_lines)
    over_use = partial(break_even.over_use, row, markets)
    expander("When signing pays", "break_even", lambda: usage.over_use(row, over_use(), ink))
    if market_line["basis"] and not MARKETS[plan.market].work:
        draw_quota = partial(quota.draw, row, market_line, catalogs)
        expander("Quota and availability", "availability", draw_quota)
    small_lines = partial(bill.small_lines, row, catalogs)
    expander("Storage and traffic", "small_lines", lambda: prices.small(small_lines()))
    if ends_of(row):
        over_tokens = partial(run_length.over_tokens, plan.scenario, catalogs)
        expander(
            "A longer or shorter run",
            "run_length",
            lambda: usage.over_tokens(row, over_tokens(), ink, catalogs),
        )
    if row["work"] == "training":
        expander("Spot and its interruptions", "spot_details", partial(usage.spot, row))
    elif not ends_of(row):
        draw_service = partial(_service_panel, row, plan, catalogs, ink)
        expander("Speed, and what tokens cost", "token_costs", draw_service)
    expander(neuron.TITLE, "neuron_open", partial(neuron.draw, row))


def _downloads(row: Row, markets: pd.DataFrame, catalogs: Catalogs) -> None:
    """The bill and every price as CSV."""
    name = f"headroom-bill-{row['model']}-{row['work']}"
    csvs = {
        "This bill as CSV": ("bill_csv", pd.DataFrame([row]), name),
        "Every price as CSV": ("ways_csv", bill.row_per_market(row, markets), f"{name}-ways"),
    }
    with st.container(horizontal=True):
        for label, (key, rows, file) in csvs.items():
            csv = partial(csv_tables.dated_csv, rows, catalogs, date.today())
            tables.download(label, csv, file, key)


def _run_panel(row: Row, market_line: Row, catalogs: Catalogs) -> None:
    st.markdown(plain(bill_lines.summary(row, market_line)))
    bill_lines.line_by_line(row, bill.lines(row), catalogs)
    st.markdown(plain(prices.commitment_words(market_line)))
    st.caption(plain(bill_lines.idle(row)))


def _service_panel(row: Row, plan: Present, catalogs: Catalogs, ink: Ink) -> None:
    """Draw what a service costs by concurrency and by load, and against an endpoint."""
    usage.serving(row, catalogs)
    usage.over_concurrency(
        row, run_length.over_concurrency(plan.scenario, plan.market, catalogs), ink
    )
    st.markdown(plain(usage.per_token(row, bill.endpoint_facts(row, catalogs), catalogs)))
    if row["endpoint_usd_per_million_tokens"] > 0:
        usage.over_load(row, break_even.over_load(row), ink)
    st.caption(usage.load(row))


def heading(row: Row, job: str, machines: str = "") -> str:
    """Return the line About $49 once: fine-tune Llama 3.1 8B; or why the cost is not known."""
    if is_missing(row["memory_bytes"]):
        return f"No bill as it is set: {job}"
    if machines:
        return f"Nothing is paid on {machines}, which you have: {job}"
    if is_missing(row["usd"]):
        return f"No price is known: {job}"
    attempts = "once" if row["attempts"] == 1 else f"for {row['attempts']:g} attempts"
    return f"About {billed_usd(row['usd'])} {attempts if ends_of(row) else 'a month'}: {job}"


def outside(row: Row, problem: str) -> str:
    """Which limit of the job this row misses; `problem` says it where no row keeps every limit."""
    if row["answer"] == "nearest":
        return problem
    return f"Outside a limit of the job: {row['misses']}."


def renting(plan: Present, catalogs: Catalogs) -> str:
    """Return why this answer, and what renting would cost if known, for your own machines."""
    row, hourly = plan.row, plan.row["usd_per_hour_on_demand"]
    why = plan_words.why_without_place(plan.options, catalogs) if row["why"] else ""
    if is_missing(hourly):
        return why
    total = f"{usd(hourly * row['hours'])} {'for this run' if ends_of(row) else 'a month'}"
    return (
        f"{why} On demand, {row['instances_needed']:.0f} × {row['instance']} cost {usd(hourly)} "
        f"an hour: {total}."
    )
