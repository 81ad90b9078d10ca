"""The tab Compare and bill: the kept answers of each job, the ticked ones as a bill."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.plan.budgets import with_gpu_hours
from calc.plan.drift import then_of
from calc.say.numbers import is_missing, with_noun
from calc.studies.differences import FEWEST
from views.compare_and_bill import answers, moves, pay, signing, the_bill
from views.compare_and_bill.bill_charts import answer_charts, screen
from views.compare_and_bill.compared_answers import ComparedAnswers, compared_answers
from views.compare_and_bill.differences import side_by_side
from views.session import catalogs as session_catalogs
from views.session import is_wall, kept_answers
from views.session.present_plan import present
from views.shared import answer_words, drift_words
from views.shared.elements import dialog, expander, halves, theme_ink
from views.shared.markdown import plain

NOTHING_KEPT = (
    "Keep an answer on Plan to compare it. Until then this is the bill of the answer shown there."
)

BILL_WIDTH = 480  # pixels of the bill at least, beside what moves it
NOTHING_TO_BILL = "Nothing is kept, and the job has no plan to bill: change it on Plan."


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    ink = theme_ink()
    if not kept_answers.entries() and is_missing((plan := present(catalogs)).row["memory_bytes"]):
        title.title(plain(answer_words.heading(plan.options, catalogs)), anchor=False)
        title.markdown(NOTHING_TO_BILL)
        return
    every = compared_answers(catalogs)
    bill = with_gpu_hours(every.rows.iloc[every.ticked], catalogs)
    title.title(plain(the_bill.heading(bill, every.money)), anchor=False)
    title.markdown(_count_words(every) if kept_answers.entries() else NOTHING_KEPT)
    if not kept_answers.entries() and every.records[0]["have"]:
        st.markdown(plain(pay.renting(present(catalogs), catalogs)))
    _since_kept(every.records, catalogs)
    if is_wall():
        answer_charts(every, ink, catalogs)
    for job in every.jobs:
        answers.answers_of(job, every.records, every.money, ink, catalogs)
    dialog("Rename the answer", answers.RENAMED, answers.rename)
    if not is_wall():
        answer_charts(every, ink, catalogs)
    left, right = (screen("bill"), screen("moves")) if is_wall() else halves(BILL_WIDTH)
    with left:
        the_bill.draw(bill, every.ticked if kept_answers.entries() else [], every.money)
        moves.decision()
    with right:
        moves.moves_of(bill, every.money, ink, catalogs)
        in_bill = [every.records[place] for place in every.ticked]
        signing.cheaper(in_bill, every.money, catalogs)
        signing.not_in_it(in_bill, every.money, catalogs)
    if len(every.records) >= FEWEST:
        label = "What differs, and every figure side by side"
        expander(
            label,
            "side_by_side_open",
            lambda: side_by_side(every.rows, every.records, every.money, catalogs),
        )


def _count_words(every: ComparedAnswers) -> str:
    """The line below the heading: 2 jobs, 4 kept answers; the ticked one of each job is billed."""
    of = (
        "the ticked one of each job is"
        if len(every.records) > len(every.jobs)
        else "all of them are"
    )
    jobs = with_noun(len(every.jobs), "job")
    answers = with_noun(len(every.records), "kept answer")
    return f"{jobs}, {answers}; {of} in the bill."


def _since_kept(rows: list[Row], catalogs: Catalogs) -> None:
    """Draw what has changed in each answer since it was saved; nothing if all is unchanged."""
    changes = {
        row["scenario"]: drift_words.change_sentences(row | then_of(entry), catalogs)
        for row, entry in zip(rows, kept_answers.entries(), strict=False)
    }
    lines = [
        f"- **{name}**: {' '.join(sentences)}" for name, sentences in changes.items() if sentences
    ]
    if lines:
        st.info(plain("\n".join(["Since they were kept:", "", *lines])), icon=":material/history:")
