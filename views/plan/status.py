"""Around the heading: changes since a link was made, prices, link, set-ups, report, CSV."""

from datetime import date
from functools import partial

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.csv import tables as csv_tables
from calc.files.link import link
from calc.files.setups import setups
from calc.search.board import with_answers
from calc.search.options import Options
from views.frame import report as report_words
from views.session import address, job_state, kept, opened_plan
from views.session import catalogs as session_catalogs
from views.shared import aged_words, tables
from views.shared import answer_words as plan_words
from views.shared.elements import button
from views.shared.markdown import plain
from views.shared.theme import Ink


def line(options: Options, first: Row, ink: Ink, catalogs: Catalogs, today: date) -> None:
    """What the answer rests on, and how to carry it away; the CSV's first row is the first card."""
    age, is_old = ("", False) if options.job.get("have") else plan_words.price_age(first, catalogs, today)
    aged = f':color[:material/warning: {plain(age)}]{{foreground="{ink.amber}"}}' if is_old else plain(age)
    facts = filter(None, (aged, plain(plan_words.tried(options))))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="status"):
        st.markdown(f":small[{' · '.join(facts)}]", width="content")
        with st.popover("Copy link", icon=":material/link:", type="tertiary"):
            st.code(plan_words.link(st.context.url, address.address().query), language=None, wrap_lines=True)
        _setups()
        if first["answer"]:
            name = plan_words.file_name(first)
            _report(options, first, catalogs, today)
            tables.download("CSV", partial(_csv, options, catalogs, today), name, "csv", help=plan_words.CSV_HELP, type="tertiary")


def _report(options: Options, first: Row, catalogs: Catalogs, today: date) -> None:
    """The answer to take along: a page that opens offline, and a table for the minutes."""
    with st.popover("Report", icon=":material/description:", type="tertiary", on_change="rerun", key="report") as report:
        if not report.open:
            return
        parts = (options, plan_words.link(st.context.url, address.address().query), today, catalogs)
        name = report_words.file_name(first, "html")
        st.download_button(
            "HTML, opens offline and prints",
            partial(report_words.html, *parts),
            name,
            mime="text/html",
            on_click="ignore",
            icon=":material/download:",
            key="report_html",
        )
        st.caption("For the minutes, as Markdown:")
        st.code(report_words.markdown(*parts), language=None, wrap_lines=True)


def _csv(options: Options, catalogs: Catalogs, today: date) -> bytes:
    return csv_tables.dated_csv(with_answers(options.answers, options.board), catalogs, today)


def _setups() -> None:
    """Ready set-ups: a click on one replaces the plan, Undo restores it."""
    with st.popover("Set-ups", icon=":material/list_alt:", type="tertiary", on_change="rerun", key="setups") as popover:
        if popover.open:
            st.caption("Each becomes the plan; what is kept stays, and Undo goes back.")
            with st.container(gap=None):
                for index, setup in enumerate(setups()):
                    button(setup.name, _start, setup.query, help=plain(setup.about), type="tertiary", key=f"setup_{index}")


def _start(query: dict[str, list[str]]) -> None:
    """Callback: the job of the set-up on a fresh plan."""
    job_state.start(link.parse(query, session_catalogs.catalogs())[0])
    st.session_state.pop("looked", None)


def since_then(first: Row, catalogs: Catalogs) -> None:
    """Changes of the link's answer and kept scenarios; older links have only price days."""
    if changes := st.session_state["link_changes"]:
        st.info(plain(changes), icon=":material/history:")
    row = opened_plan.then_row(catalogs)
    if row is None:
        if older := plan_words.older_prices(address.address().prices_as_of, catalogs, first):
            st.info(plain(older), icon=":material/history:")
    elif text := aged_words.opened(row, catalogs, opened_plan.is_same(row, first)):
        st.info(plain(text), icon=":material/history:")
        with st.container(horizontal=True):
            button("Keep it as it was", kept.keep, row, icon="bookmark_add", key="keep_then")
            button("Dismiss", opened_plan.forget, type="tertiary", key="dismiss_then")
