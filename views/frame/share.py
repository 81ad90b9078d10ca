"""Share: what carries the plan away (link, report, minutes, CSV), Redo, and a fresh start."""

from datetime import date
from functools import partial

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.say.job import job_sentence
from calc.search.board import with_answers
from views.frame import report
from views.session import address, job_state, undo
from views.session.present_plan import Present, present
from views.shared import answer_words, tables
from views.shared.elements import button

TALL, WIDE = 96, 420  # pixels
START_OVER = "The example again; kept answers stay."


def popover(catalogs: Catalogs, today: date) -> None:
    """What is in it is made when it is opened."""
    with st.popover("Share", type="tertiary", on_change="rerun", key="share") as share:
        if share.open:
            with st.container(width=WIDE):
                _contents(present(catalogs), catalogs, today)


def _contents(plan: Present, catalogs: Catalogs, today: date) -> None:
    link, options = answer_words.link(st.context.url, address.address().query), plan.options
    st.caption("Copy the link: it opens this plan with its answer")
    st.code(link, language=None, height=TALL, wrap_lines=True)
    st.caption("Copy the minutes, as Markdown")
    st.code(
        report.markdown(options, link, today, catalogs, plan.row),
        language=None,
        height=TALL,
        wrap_lines=True,
    )
    with st.container(horizontal=True, gap="xsmall"):
        name = answer_words.file_name(options, "html", today)
        page = partial(report.html, options, link, today, catalogs, plan.row)
        st.download_button(
            "Report (HTML)",
            page,
            name,
            mime="text/html",
            on_click="ignore",
            icon=":material/download:",
            key="report_html",
        )
        if options.rows[0]["answer"]:
            rows = with_answers(options.answers, options.board, plan.row)
            name = answer_words.file_name(options, "csv", today)
            job = job_sentence(options.job, catalogs)
            tables.scenarios("CSV", rows, name, "csv", catalogs, job)
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
