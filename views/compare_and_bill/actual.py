"""The tab What it cost: an invoice compared with the plans in your bill."""

from datetime import date
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.files.bills.bill_reader import bill_of
from calc.files.bills.small import typed_amount
from calc.files.csv.tables import to_csv
from calc.files.door import REFUSALS
from calc.mappings import Arguments
from calc.plan.actual import Actual, actual, runway, runway_of_budget
from calc.plan.bill_lines import BillLines, joined_bills
from calc.plan.figures import records
from calc.plan.matching import NO_PLAN
from calc.say import actual as actual_words
from calc.say.numbers import billed_usd, is_missing, percent
from calc.scenarios.problems import quote_cell
from views.compare_and_bill.compare import NOTHING_TO_BILL
from views.compare_and_bill.teams import known_budgets, plans_in_bill
from views.session import SESSION, kept_answers, reading
from views.session import catalogs as session_catalogs
from views.shared import tables
from views.shared.elements import button, points, show_error
from views.shared.markdown import plain

BILL, ASSIGNED, REFUSAL = "actual_bill", "actual_assigned", "actual_refusal"
NAME = "What it cost"
ABOUT = """Open the bill that you received: an AWS Cost and Usage Report, a FOCUS export (CSV or
Parquet, also gzip), or a CSV from Cost Explorer. Its lines are matched to the plans in your bill by
the tags `plan`, `team` and `project`, or else by instance type and region. The file does not leave
this server and is forgotten with your session. Read files above 5 MB with
`python -m calc actual`."""
KINDS = ["csv", "gz", "parquet"]
NONE_OF_THEM = "None of them"


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    state = st.session_state
    plans = plans_in_bill(catalogs)
    if not len(plans):
        title.title("No plan to compare a bill with", anchor=False)
        title.markdown(NOTHING_TO_BILL)
        return
    bill: BillLines | None = state.get(BILL)
    if bill is None:
        title.title("What did it really cost?", anchor=False)
        st.caption(ABOUT)
        _give(plans, catalogs)
        return
    result = actual(bill, plans, catalogs, date.today(), state.get(ASSIGNED, {}))
    title.title(plain(actual_words.headline(result)), anchor=False)
    title.caption(plain(actual_words.bill_sentence(bill, result)))
    _by_plan(result)
    points([actual_words.plan_sentence(row) for row in records(result.plans_in_bill)])
    _questions(result, catalogs)
    _beside(result, plans)
    _attempts(result, plans)
    with st.container(horizontal=True):
        button("Give another bill", _forget, icon="upload_file", key="actual_forget")
        name = "headroom-actual"
        csv = partial(to_csv, result.table)
        tables.download("Plans and causes as CSV", csv, name, "actual_csv", type="tertiary")


def _give(plans: pd.DataFrame, catalogs: Catalogs) -> None:
    """The fields for files, and for typed dollars and hours."""
    files: Any = st.file_uploader(
        "Files of the bill",
        type=KINDS,
        accept_multiple_files=True,
        key="actual_files",
        label_visibility="collapsed",
    )
    if files:
        _read(files, catalogs)
    if refusal := st.session_state.pop(REFUSAL, ""):
        show_error(refusal)
    st.markdown("Or type what one plan cost, and its hours where you know them:")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = list(plans["scenario"])
        look: Arguments = {"width": 160, "placeholder": "none"}
        st.selectbox("Plan", names, key="actual_plan", width=300)
        st.number_input("Paid, $", 0.0, value=None, key="actual_usd", format="%.2f", **look)
        st.number_input("Hours", 0.0, value=None, key="actual_hours", format="%.1f", **look)
        button("Compare with the plan", _take_typed_bill, key="actual_compare")


def _read(files: list[Any], catalogs: Catalogs) -> None:
    """Read the files as one bill; a file that cannot be read costs one sentence."""
    try:
        with st.spinner("Reading the bill"):
            bills = [
                reading.read(bill_of, file.getvalue(), quote_cell(file.name), catalogs=catalogs)
                for file in files
            ]
    except REFUSALS as error:
        st.session_state[REFUSAL] = str(error)
        return
    st.session_state[BILL] = joined_bills(bills)
    st.rerun()


def _take_typed_bill() -> None:
    """Callback: typed dollars and hours are the bill."""
    state = st.session_state
    if not state["actual_usd"] or not state["actual_plan"]:
        state[REFUSAL] = "Type the dollars that were paid, and choose their plan."
        return
    state[BILL] = typed_amount(
        state["actual_usd"], state["actual_hours"] or 0.0, state["actual_plan"]
    )


def _forget() -> None:
    """Callback: the bill and what was said of its lines are forgotten."""
    for key in (BILL, ASSIGNED):
        st.session_state.pop(key, None)


def _by_plan(result: Actual) -> None:
    """A line for each plan: planned, paid, how they differ, and why."""
    lines = [
        {
            "Plan": plain(row["plan"]),
            "Planned": plain(_money(row["planned_usd"])),
            "Paid": plain(_money(row["actual_usd"])),
            "Paid of planned": "" if is_missing(row["ratio"]) else percent(row["ratio"]),
            "Main cause": actual_words.cause_label(row),
        }
        for row in records(result.table)
    ]
    tables.text_table(pd.DataFrame(lines), "What each plan cost, planned and paid, and why")


def _money(value: float) -> str:
    return "" if is_missing(value) else billed_usd(value)


def _questions(result: Actual, catalogs: Catalogs) -> None:
    """Whose lines they are, where several plans may have caused them."""
    regions = catalogs.regions["name"].to_dict()
    for place, group in enumerate(result.matched.open_groups[: actual_words.MOST_GROUPS]):
        st.selectbox(
            plain(actual_words.open_question(group, regions)),
            [*group.plans, NONE_OF_THEM],
            index=None,
            placeholder="Choose a plan",
            key=f"actual_open_{place}_{group.label}",
            on_change=_assign,
            args=(f"actual_open_{place}_{group.label}", group.label),
            width=420,
        )


def _assign(key: str, label: str) -> None:
    """Callback: a plan for lines that were asked about."""
    state = st.session_state
    if chosen := state[key]:
        plan = NO_PLAN if chosen == NONE_OF_THEM else chosen
        state[ASSIGNED] = {**state.get(ASSIGNED, {}), label: plan}


def _beside(result: Actual, plans: pd.DataFrame) -> None:
    """Draw the cost that no plan has, tax and credits, and the budget."""
    sentences = [
        *actual_words.unplanned_sentences(result),
        *actual_words.beside_sentences(result),
    ]
    if sentences:
        st.caption(plain("  \n".join(sentences)))
    for budget in known_budgets():
        if left := runway_of_budget(result, plans, budget):
            sentence = actual_words.budget_sentence(budget, left, result.first_day)
            st.markdown(plain(sentence))
    amount = st.number_input(
        "Budget that began with this bill, $",
        0.01,
        value=None,
        key="actual_budget",
        step=1000.0,
        format="%.0f",
        placeholder="none",
        width=260,
        **SESSION,
    )
    if amount:
        st.markdown(plain(actual_words.runway_sentence(runway(result, amount))))


def _attempts(result: Actual, plans: pd.DataFrame) -> None:
    """For runs whose hours are worth other attempts than planned: a button that plans with them."""
    for place, row in zip(plans.index, records(result.table), strict=True):
        sentence = actual_words.attempts_sentence(row)
        if not sentence:
            continue
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(plain(sentence), width="content")
            if kept_answers.entries():
                key = f"actual_attempts_{place}"
                plan = partial(kept_answers.plan, int(place), attempts=row["attempts_seen"])
                button("Plan with that", plan, icon="published_with_changes", key=key)
