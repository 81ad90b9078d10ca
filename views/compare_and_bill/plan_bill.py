"""The plan's bill: kept scenarios with runs and months, sums by market, budget, CSV."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.files.csv import tables as csv_tables
from calc.plan.bill import billed
from calc.plan.plan_bill import PERIOD_MONTHS, PERIODS, against_budget, by_market, plan_bill
from calc.say.numbers import counted, percent, usd
from views.session import SESSION, kept
from views.shared import tables
from views.shared.markdown import plain
from views.shared.tables import NUMBER, TEXT, column, text_table
from views.shared.texts import TEXTS

MONEY = "$%,.0f"
EDITED = ("runs_per_month", "plan_months")
PERIOD_LABELS = {name: f"A {name.removesuffix('_usd')}" for name in PERIODS}
NOTHING_KEPT = TEXTS["plan_bill"]["nothing_kept"]
HOW = TEXTS["plan_bill"]["how"]


def plan(catalogs: Catalogs) -> None:
    """Sums of all that is kept; runs and months can be changed in the table."""
    rows = billed(kept.rows(catalogs), catalogs)
    if not len(rows):
        st.caption(NOTHING_KEPT)
        return
    bill = plan_bill(rows)
    budget, period = _budget()
    st.markdown(plain(_summary(bill, budget, period, against_budget(bill, budget, period) if budget else {})))
    _rows(bill)
    text_table(_market_lines(by_market(bill)), "The plan's bill by market")
    st.caption(HOW)
    tables.download("The plan's bill as CSV", partial(csv_tables.to_csv, bill), "headroom-plan-bill.csv", "plan_bill_csv")


def _budget() -> tuple[float | None, str]:
    """The budget and its period."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        look: dict[str, Any] = {"step": 1000.0, "format": "%.0f", "placeholder": "none", "width": 220}
        budget = st.number_input("Budget, USD", 0.01, value=None, key="budget_usd", **look, **SESSION)
        st.session_state.setdefault("budget_for", "year")
        period = st.segmented_control("For a", list(PERIOD_MONTHS), key="budget_for", required=True, **SESSION)
    return budget, period


def _rows(bill: pd.DataFrame) -> None:
    frame = pd.DataFrame(_lines(bill))
    periods = {name: NUMBER(name, format=MONEY, disabled=True) for name in PERIOD_LABELS.values()}
    key = f"plan_bill_{hash(tuple(map(tuple, bill[['scenario', *EDITED]].astype(str).to_numpy())))}"  # other rows: no edits left over
    st.data_editor(
        frame,
        column_config={
            "Scenario": TEXT(pinned=True, disabled=True),
            "Paid as": TEXT(disabled=True),
            "One run, or month": NUMBER(format="$%,.2f", disabled=True),
            "runs_per_month": column("runs_per_month", min_value=0.01, required=True),
            "plan_months": column("plan_months", min_value=1, max_value=120, step=1, required=True),
            **periods,
        },
        hide_index=True,
        key=key,
        on_change=_edit,
        args=(key,),
    )


def _edit(key: str) -> None:
    """Callback: runs and months as they were written into the table."""
    for index, changed in st.session_state[key]["edited_rows"].items():
        kept.plan(int(index), **{name: value for name, value in changed.items() if name in EDITED and value})


def _summary(bill: pd.DataFrame, budget: float | None, period: str, against: dict[str, float]) -> str:
    """$84,000 a year for 3 scenarios, 70 % of the budget: $36,000 left."""
    unpriced = int(bill["year_usd"].isna().sum())
    missing = f" {counted(unpriced, 'scenario')} without a price {'is' if unpriced == 1 else 'are'} not in it." if unpriced else ""
    if not budget:
        return f"{usd(bill['month_usd'].sum())} in the first month, {usd(bill['year_usd'].sum())} in a year.{missing}"
    left = f"{usd(against['left_usd'])} left" if against["left_usd"] >= 0 else f"**{usd(-against['left_usd'])} over it**"
    return f"{usd(against['usd'])} a {period}, {percent(against['used_ratio'])} of the budget of {usd(budget)}: {left}.{missing}"


def _lines(bill: pd.DataFrame) -> list[Row]:
    """A line per scenario."""
    return [
        {
            "Scenario": row["scenario"],
            "Paid as": MARKETS[row["market"]].title,
            "One run, or month": row["usd"],
            "runs_per_month": row["runs_per_month"],
            "plan_months": row["plan_months"],
            **{label: row[name] for name, label in PERIOD_LABELS.items()},
        }
        for row in bill.to_dict("records")
    ]


def _market_lines(table: pd.DataFrame) -> list[dict[str, str]]:
    """A line per market, and the whole."""
    return [
        {
            "Paid as": "**Together**" if row["market"] == "all" else MARKETS[row["market"]].title,
            "Scenarios": f"{row['scenarios']:,}",
            **{label: plain(usd(row[name])) for name, label in PERIOD_LABELS.items()},
        }
        for row in table.to_dict("records")
    ]
