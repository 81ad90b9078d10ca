"""Share: what carries the plan away (link, report, minutes, CSV), Redo, and a fresh start."""

from datetime import date
from functools import partial

import streamlit as st

from calc.answers.full_answer import Answer
from calc.catalogs.load import Catalogs
from calc.files.csv import tables as csv_tables
from calc.say.job import job_sentence
from calc.search.board import with_answers
from views.frame import report
from views.session import address, job_state, undo
from views.session.present_plan import present
from views.shared import answer_words, tables
from views.shared.elements import button

TALL, WIDE = 96, 420  # pixels
START_OVER = "The example again; kept answers stay."


def popover(catalogs: Catalogs, today: date) -> None:
    """What is in it is made when it is opened."""
    with st.popover("Share", type="tertiary", on_change="rerun", key="share") as share:
        if share.open:
            with st.container(width=WIDE):
                _contents(present(catalogs).options, catalogs, today)


def _contents(options: Answer, catalogs: Catalogs, today: date) -> None:
    link, first = answer_words.link(st.context.url, address.address().query), options.rows[0]
    st.caption("Copy the link: it opens this plan with its answer")
    st.code(link, language=None, height=TALL, wrap_lines=True)
    st.caption("Copy the minutes, as Markdown")
    st.code(
        report.markdown(options, link, today, catalogs), language=None, height=TALL, wrap_lines=True
    )
    with st.container(horizontal=True, gap="xsmall"):
        name = answer_words.file_name(options, "html")
        page = partial(report.html, options, link, today, catalogs)
        st.download_button(
            "Report (HTML)",
            page,
            name,
            mime="text/html",
            on_click="ignore",
            icon=":material/download:",
            key="report_html",
        )
        if first["answer"]:
            name = answer_words.file_name(options, "csv")
            tables.download("CSV", partial(csv, options, catalogs, today), name, "csv")
    with st.container(horizontal=True, gap="xsmall"):
        button(
            "Redo",
            undo.redo,
            icon="redo",
            disabled=not undo.can_redo(),
            type="tertiary",
            key="redo",
        )
        button(
            "Start over",
            job_state.reset,
            icon="restart_alt",
            help=START_OVER,
            type="tertiary",
            key="reset",
        )


def csv(options: Answer, catalogs: Catalogs, today: date) -> bytes:
    """The answers, then the board, each row with the job in words, every input and result."""
    rows = with_answers(options.answers, options.board)
    return csv_tables.dated_csv(rows, catalogs, today, job_sentence(options.job, catalogs))
