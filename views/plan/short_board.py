"""Near ties: a table of the types whose cost is alike; the full board in an expander."""

from html import escape

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.say.near_ties import how_sure, near_ties_heading
from calc.say.numbers import about, duration, span
from calc.say.place import market_phrase
from calc.say.speed import pace_seconds, paced_by
from calc.studies.near_ties import near_ties
from calc.studies.stricter_limits import load_limit
from views.charts.tank import tank_html
from views.plan import board
from views.session import is_phone, job_state
from views.session.present_plan import Present
from views.session.recent_results import recent_result
from views.session.worker import in_worker
from views.shared import row_words, sources
from views.shared.markdown import plain
from views.shared.theme import BLUE, Ink

ROW, HEAD = 33, 30  # pixels
TALL_ROW = 60  # on a phone, of a row whose name says how it is paid
MEMORY, QUOTA = "Memory", "Quota, vCPUs"
TEXT_HEADS = ("Type, at its best", MEMORY, QUOTA)


def short_board(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Draw the heading, at most six types, and the full board in an expander."""
    options = plan.options
    job = job_state.current().job
    has_machines = bool(options.job.get("have"))
    if has_machines and len(options.board) < 2:
        return
    types = near_ties(options)
    load = recent_result(
        "load_limit",
        (job, catalogs.version),
        lambda: in_worker(job, catalogs, load_limit, job, options),
    )
    st.header(near_ties_heading(types, options), anchor=False)
    if sure := how_sure(types, load, options.ways, catalogs):
        st.caption(plain(sure))
    height = HEAD + sum(_height(row) for row in types.rows) + 4
    with st.container(height=height, border=False):
        st.html(_table(types.rows, plan.row, has_machines, ink, catalogs))
    with st.expander("All types: sort, tick, keep", on_change="rerun", key="all_types") as pane:
        if pane.open:
            board.board(options, ink, catalogs)
            sources.to_method(
                "to_sources", label="Formulas and sources of the plan", type="tertiary"
            )


def _table(
    rows: list[Row], present_row: Row, has_machines: bool, ink: Ink, catalogs: Catalogs
) -> str:
    """The rows as a table of HTML, that of what is shown below tinted."""
    ends = bool(ends_of(rows[0]))
    money, pace = ("Cost", "Time") if ends else ("A month", _pace_head(rows[0], catalogs))
    first = ["Type, at its best", MEMORY]
    heads = [*first, pace] if has_machines else [*first, money, pace, QUOTA]
    head = "".join(
        f"<th scope='col'{_class(name)} "
        f"style='{_cell(name)};font-weight:400;color:{ink.faint}'>{name}</th>"
        for name in heads
    )
    body = "".join(_row(row, present_row, ends, heads, ink, catalogs) for row in rows)
    look = f"width:100%;border-collapse:collapse;font-size:14px;line-height:1.3;color:{ink.text}"
    return (
        f"<table style='{look}'><thead><tr "
        f"style='height:{HEAD}px'>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _pace_head(row: Row, catalogs: Catalogs) -> str:
    """The head of the times of a service: A token; A batch; 30 s of sound."""
    unit = paced_by(row, catalogs)
    return unit if unit[0].isdigit() else f"A {unit}"


def _row(
    row: Row, present_row: Row, ends: bool, heads: list[str], ink: Ink, catalogs: Catalogs
) -> str:
    """A row of the board as HTML; the one on view is tinted."""
    is_here = all(row[name] == present_row[name] for name in ("instance", "market", "gpus"))
    pace = span(row["hours"]) if ends else duration(pace_seconds(row, catalogs))
    money = about(row["usd"])
    tank = tank_html(row, ink, row_words.tank_alt(row), 12)
    quota = escape(row_words.quota(row, catalogs))
    cells = {
        MEMORY: tank,
        "Cost": money,
        "A month": money,
        QUOTA: quota,
    }
    written = "".join(
        f"<td{_class(name)} style='{_cell(name)}'>{cells.get(name, pace)}</td>"
        for name in heads[1:]
    )
    where = escape(row_words.where(row, catalogs))
    look = f"{_cell(heads[0], _height(row) == ROW)};font-weight:600"
    name = f"<th scope='row' style='{look}'>{where}</th>"
    tint = f";background:{BLUE}1f" if is_here else ""
    look = f"height:{_height(row)}px;border-top:1px solid {ink.line}{tint}"
    return f"<tr style='{look}'>{name}{written}</tr>"


def _height(row: Row) -> int:
    """Pixels of a row; a phone has no room for how it is paid beside the name of its type."""
    return TALL_ROW if is_phone() and market_phrase(row) else ROW


def _class(head: str) -> str:
    """The class of a column for which a narrow screen has no room; the style sheet hides it."""
    return " class='wide-only'" if head == QUOTA else ""


def _cell(head: str, is_one_line: bool = True) -> str:
    """The look of a column's cells: numbers on the right, the tank as wide as there is room."""
    line = ";white-space:nowrap" if is_one_line else ""
    wide = ";width:38%" if head == MEMORY else line
    return f"padding:0 8px;border:0;text-align:{'left' if head in TEXT_HEADS else 'right'}{wide}"
