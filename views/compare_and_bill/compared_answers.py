"""The answers compared: the saved ones as billed rows with their jobs, or the present one."""

from typing import NamedTuple

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.plan.bill import bill_rows
from calc.plan.figures import records
from calc.plan.plan_bill import JobAnswers, answers_by_job, plan_bill
from calc.say.answer_name import answer_name
from calc.say.cases import Money, money_of
from calc.say.job import short_job
from calc.say.numbers import is_missing
from views.session import kept_answers
from views.session.present_plan import present

DECISION = "decision"  # of the meeting, in one line
CONTINGENCY = "contingency_percent"  # on top of the high case
BUDGET_USD, BUDGET_FOR = "budget_usd", "budget_for"  # of the bill, and its period


class ComparedAnswers(NamedTuple):
    """The answers as billed rows, the same as records, and their jobs with the ticks."""

    rows: pd.DataFrame
    records: list[Row]
    jobs: list[JobAnswers]

    @property
    def ticked(self) -> list[int]:
        """The places of the answers in the bill."""
        return [job.ticked for job in self.jobs]

    @property
    def money(self) -> Money:
        """Return how all amounts are written, beside the bill of a year."""
        return money_of(self.rows["usd"].tolist(), self.rows["year_usd"].iloc[self.ticked].sum())


def budget_period() -> str:
    """Return the period of the bill's budget, by default a year."""
    return str(st.session_state.setdefault(BUDGET_FOR, "year"))


def compared_answers(catalogs: Catalogs) -> ComparedAnswers:
    """Return the saved answers, or the present answer alone."""
    rows = plan_bill(kept_answers.rows(catalogs) if kept_answers.entries() else _present(catalogs))
    jobs = answers_by_job(rows["job"].tolist(), (rows["in_bill"] == "yes").tolist())
    ticked_places = {job.ticked for job in jobs}
    rows["in_bill"] = ["yes" if place in ticked_places else "no" for place in range(len(rows))]
    if decision := st.session_state.get(DECISION):
        rows = rows.assign(decision=decision)
    if budget_usd := st.session_state.get(BUDGET_USD):
        rows = rows.assign(budget_usd=budget_usd, budget_for=budget_period())
    if contingency := st.session_state.get(CONTINGENCY):
        rows = rows.assign(contingency_percent=contingency)
    return ComparedAnswers(rows, records(rows), jobs)


def _present(catalogs: Catalogs) -> pd.DataFrame:
    """The answer shown on Plan as the one row; a run of it once."""
    plan = present(catalogs)
    is_estimated = not is_missing(plan.row["memory_bytes"])
    of_job = {
        "market": plan.market,
        "job": short_job(plan.job, catalogs),
        "have": plan.job.get("have") or "",
        "in_bill": "yes",
    }
    row = (
        plan.row
        | of_job
        | {"scenario": answer_name(plan.row, catalogs) if is_estimated else plan.row["model"]}
    )
    row |= {"plan_months": 1} if ends_of(row) else {}
    return bill_rows(pd.DataFrame([row]), catalogs)
