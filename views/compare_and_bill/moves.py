"""The three cases of the bill, what moves it, and the decision of the meeting."""

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.bills import moves_table
from calc.mappings import Arguments
from calc.plan.cases import cases, moves
from calc.say.cases import HOW_CASES, Money, range_words, summands
from views.charts.bills import tornado
from views.compare_and_bill.bill_charts import step
from views.compare_and_bill.compared_answers import CONTINGENCY, DECISION
from views.session import SESSION
from views.session.recent_results import recent_result
from views.shared.elements import draw
from views.shared.markdown import plain
from views.shared.theme import Ink

PERIOD = "year_usd"
LONGEST_DECISION = 160
PLACEHOLDER = "What, because of what, by whom, against which budget"


def cases_of(bill: pd.DataFrame, column: str, money: Money) -> None:
    """The bill of a period as a range, with a contingency on top."""
    look: Arguments = {"step": 5.0, "format": "%g", "placeholder": "0", "width": 150}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        percent = st.number_input(
            "Contingency, %", 0.1, 100.0, value=None, key=CONTINGENCY, **look, **SESSION
        )
        bill_cases = cases(bill, column, percent or 0.0)
        words = range_words(bill_cases, bill[column].tolist(), money)
        st.markdown(plain(f"**Low to high: {words}**"), help=HOW_CASES, width="content")


def moves_of(bill: pd.DataFrame, money: Money, ink: Ink, catalogs: Catalogs) -> None:
    """Draw the change of the 12-month bill that each factor alone makes."""
    names = ("scenario", "usd", "market", "paid_ratio", PERIOD, "have")
    table = recent_result(
        "moves",
        (bill[list(names)].to_csv(), money, catalogs.version),
        lambda: moves_table(moves(bill, PERIOD, catalogs), bill[PERIOD], money),
    )
    if not len(table):
        return
    st.header("What moves it", anchor=False)
    ends = "; ".join(
        f"{row['label']} {row['low_text']} {row['high_text']}" for row in table.to_dict("records")
    )
    base = summands(bill[PERIOD].tolist(), money)[1]
    spec = tornado(ink, f"12 months, {base} as planned", step(len(table)))
    draw(spec, table, f"What moves the bill: {ends}", "moves")


def decision() -> None:
    """Draw the field of the decision, which report, minutes, link and shelf repeat."""
    st.text_input(
        "Decision",
        key=DECISION,
        max_chars=LONGEST_DECISION,
        placeholder=PLACEHOLDER,
        **SESSION,
    )
