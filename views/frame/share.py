"""Share: what carries the plan away (link, report, minutes, CSV), Redo, and a fresh start."""

from collections.abc import Callable
from datetime import date
from functools import partial

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.files.link.short import shorten
from calc.say.job import job_sentence
from calc.search.board import with_answers
from views.compare_and_bill import the_bill
from views.compare_and_bill.compared_answers import compared_answers
from views.frame import meeting, report
from views.session import address, job_state, kept_answers, undo
from views.session.present_plan import Present, present
from views.shared import answer_words, tables
from views.shared.elements import button

COMPARE = "compare"  # the page of kept answers
TALL, WIDE = 96, 420  # pixels
START_OVER = "The example again; kept answers stay."


def popover(catalogs: Catalogs, today: date, page: str) -> None:
    """Draw the content of the share popover when it is opened."""
    with st.popover("Share", type="tertiary", on_change="rerun", key="share") as share:
        if share.open:
            with st.container(width=WIDE):
                link = answer_words.link(st.context.url, shorten(address.address().query))
                if page == COMPARE and kept_answers.entries():
                    _of_meeting(link, catalogs, today)
                else:
                    _of_plan(present(catalogs), link, catalogs, today)
                _redo_and_start_over()


def _of_meeting(link: str, catalogs: Catalogs, today: date) -> None:
    """The comparison, its bill and the decision."""
    every = compared_answers(catalogs)
    sentences = the_bill.said_of(every.rows.iloc[every.ticked], every.money)
    _copy_fields(link, meeting.markdown(every, sentences, link, today, catalogs))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        name = "headroom-compare"
        _report(partial(meeting.html, every, sentences, link, today, catalogs), name)
        tables.scenarios("CSV", every.rows, name, "csv", catalogs)


def _copy_fields(link: str, minutes: str) -> None:
    """The link and the minutes."""
    st.caption("Copy the link: it opens what you see, with its answers")
    st.code(link, language=None, height=TALL, wrap_lines=True)
    st.caption("Copy the minutes, as Markdown")
    st.code(minutes, language=None, height=TALL, wrap_lines=True)


def _report(page: Callable[[], str], name: str) -> None:
    """Draw the button that downloads the report."""
    st.download_button(
        "Report (HTML)",
        page,
        tables.file_name(name, "html"),
        mime="text/html",
        on_click="ignore",
        icon=":material/download:",
        key="report_html",
    )


def _of_plan(plan: Present, link: str, catalogs: Catalogs, today: date) -> None:
    """The plan with the row that is shown."""
    options = plan.options
    _copy_fields(link, report.markdown(options, link, today, catalogs, plan.row))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        name = answer_words.file_name(options)
        page = partial(report.html, options, link, today, catalogs, plan.row)
        _report(page, name)
        if options.rows[0]["answer"]:
            rows = with_answers(options.answers, options.board, plan.row)
            job = job_sentence(options.job, catalogs)
            tables.scenarios("CSV", rows, name, "csv", catalogs, job)


def _redo_and_start_over() -> None:
    """Draw the buttons that redo a step and that start over."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
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
