"""The tab Compare and bill: the kept answers of each job, the ticked ones as a bill."""

from typing import NamedTuple

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.plan.aged import then_of
from calc.plan.bill import billed
from calc.plan.figures import records
from calc.plan.plan_bill import JobAnswers, answers_by_job, plan_bill
from calc.say.answer_name import answer_name
from calc.say.job import short_job
from calc.say.numbers import counted, is_missing
from calc.studies.differences import FEWEST
from views.compare_and_bill import answers, pay, signing, the_bill
from views.compare_and_bill.differences import side_by_side
from views.session import catalogs as session_catalogs
from views.session import kept
from views.session.present_plan import present
from views.shared import aged_words as aged
from views.shared import answer_words
from views.shared.elements import closed, dialog
from views.shared.markdown import plain
from views.shared.theme import INKS

NOTHING_KEPT = (
    "Keep an answer on Plan to compare it. Until then this is the bill of the answer shown there."
)

NOTHING_TO_BILL = "Nothing is kept, and the job has no plan to bill: change it on Plan."


class Compared(NamedTuple):
    """The answers as billed rows, the same as records, and their jobs with the ticks."""

    rows: pd.DataFrame
    records: list[Row]
    jobs: list[JobAnswers]

    @property
    def ticked(self) -> list[int]:
        """The places of the answers in the bill."""
        return [job.ticked for job in self.jobs]


def compared(catalogs: Catalogs) -> Compared:
    """What is kept, or the present answer alone."""
    rows = plan_bill(kept.rows(catalogs) if kept.kept() else _present(catalogs))
    jobs = answers_by_job(rows["job"].tolist(), (rows["in_bill"] == "yes").tolist())
    ticked = {job.ticked for job in jobs}
    rows["in_bill"] = ["yes" if place in ticked else "no" for place in range(len(rows))]
    return Compared(rows, records(rows), jobs)


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
    return billed(pd.DataFrame([row]), catalogs)


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs, ink = session_catalogs.catalogs(), INKS[st.context.theme.type or "light"]
    if not kept.kept() and is_missing((plan := present(catalogs)).row["memory_bytes"]):
        title.title(plain(answer_words.heading(plan.options, catalogs)), anchor=False)
        title.markdown(NOTHING_TO_BILL)
        return
    every = compared(catalogs)
    bill = every.rows.iloc[every.ticked]
    title.title(plain(the_bill.heading(bill)), anchor=False)
    title.markdown(_counted(every) if kept.kept() else NOTHING_KEPT)
    if not kept.kept() and every.records[0]["have"]:
        st.markdown(plain(pay.renting(present(catalogs), catalogs)))
    _since_kept(every.records, catalogs)
    for job in every.jobs:
        answers.answers_of(job, every.records, ink, catalogs)
    dialog("Rename the answer", answers.RENAMED, answers.rename)
    left, right = st.columns(2, gap="large")
    with left:
        the_bill.draw(bill, every.ticked if kept.kept() else [])
    with right:
        in_bill = [every.records[place] for place in every.ticked]
        signing.cheaper(in_bill, catalogs)
        signing.not_in_it(in_bill)
    if len(every.records) >= FEWEST:
        label = "What differs, and every figure side by side"
        closed(
            label, "side_by_side_open", lambda: side_by_side(every.rows, every.records, catalogs)
        )


def _counted(every: Compared) -> str:
    """2 jobs, 4 kept answers; the ticked one of each job is in the bill."""
    of = (
        "the ticked one of each job is"
        if len(every.records) > len(every.jobs)
        else "all of them are"
    )
    return (
        f"{counted(len(every.jobs), 'job')}, {counted(len(every.records), 'kept answer')}; {of} "
        f"in the bill."
    )


def _since_kept(rows: list[Row], catalogs: Catalogs) -> None:
    """What has changed of each answer since it was kept; nothing where all is as it was."""
    changes = {
        row["scenario"]: aged.changed(row | then_of(entry), catalogs)
        for row, entry in zip(rows, kept.kept(), strict=False)
    }
    lines = [
        f"- **{name}**: {' '.join(sentences)}" for name, sentences in changes.items() if sentences
    ]
    if lines:
        st.info(plain("\n".join(["Since they were kept:", "", *lines])), icon=":material/history:")
