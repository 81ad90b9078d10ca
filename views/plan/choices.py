"""Compare choices: the best plan for each choice, as a chart whose cells are buttons."""

from itertools import count

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.choices import choices_table, takeaway
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.mappings import Arguments
from calc.say.choices import TITLES, mark_words
from calc.studies.choices import Cell, Comparison, comparisons
from views.charts import choices as charts
from views.plan.choices_cells import KnownCells, known_cells
from views.plan.choices_table import TAKEN, as_table, keep_cells, plan_with
from views.plan.speed_against_money import has_speeds, speed_against_money
from views.session import SESSION, is_phone, kept_answers
from views.session.other_visitors import note_question, others_ask
from views.session.present_plan import Present
from views.shared.markdown import with_lead
from views.shared.theme import Ink

MEASURES = {
    "usd": "Cost",
    "hours": "Hours",
    "gpu_hours": "GPU-hours",
    "memory_gib": "Memory per GPU",
}
LINES = ("gpus", "load", "context", "batch")  # comparisons over a number
SPEED = "speed"  # the frontier of a service, which the answer already holds
AGAIN_SECONDS, LATER_SECONDS = 0.25, 2.0  # until the next look for cells; while others ask
PHONE_COLUMNS = 2  # whose cells have room for their machines on a phone
WIDE = 480  # pixels of the two lists


def choices(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """The comparison that is chosen, its sentence, chart and table."""
    several = {one.id: one for one in comparisons(plan.job, plan.row, catalogs)}
    comparison, measure = _head([*several, *([SPEED] if has_speeds(plan) else [])], plan)
    if comparison == SPEED:
        speed_against_money(plan, ink, catalogs)
        return
    known_of_job = known_cells(plan.job, several[comparison], catalogs.version)
    known_of_job.collect(catalogs)
    note_question()
    was_complete = not known_of_job.missing(plan.row)
    runs = count()

    def body() -> None:
        if not was_complete and next(runs):  # none in the first, so that nothing below waits
            _continue(known_of_job, plan, catalogs)
            if not known_of_job.missing(plan.row):
                st.rerun()
        _panel(known_of_job, measure, plan, ink, catalogs)

    again_seconds = LATER_SECONDS if others_ask() else AGAIN_SECONDS
    st.fragment(body, run_every=None if was_complete else again_seconds)()


def begin(plan: Present, catalogs: Catalogs) -> None:
    """Have workers compute cells of the comparison on view while the page is drawn.

    While others ask, their pages come first, and cells only once this one stays in view.
    """
    if others_ask():
        return
    several = {one.id: one for one in comparisons(plan.job, plan.row, catalogs)}
    comparison_id = str(st.session_state.get("choices_of", ""))
    if comparison_id == SPEED and has_speeds(plan):
        return
    comparison = several.get(comparison_id) or next(iter(several.values()))
    known = known_cells(plan.job, comparison, catalogs.version)
    known.begin(plan.row, catalogs, is_drawing=True, others_ask=False)


def _continue(known: KnownCells, plan: Present, catalogs: Catalogs) -> None:
    """Collect what is computed and begin more; without a worker, compute some here."""
    known.collect(catalogs)
    known.begin(plan.row, catalogs, is_drawing=False, others_ask=others_ask())
    if not known.underway:
        known.compute(plan.row, catalogs)


def _head(ids: list[str], plan: Present) -> tuple[str, str]:
    """The heading with what is compared and in which unit."""
    state = st.session_state
    if state.get("choices_of") not in ids:
        state["choices_of"] = ids[0]
    measures = MEASURES if ends_of(plan.row) else {"usd": "Cost", "memory_gib": "Memory per GPU"}
    if state.get("choices_measure") not in measures:
        state["choices_measure"] = "usd"
    look: Arguments = {"label_visibility": "collapsed", **SESSION}
    with st.container(horizontal=True, vertical_alignment="center", key="choices_head"):
        st.header("Compare choices", anchor=False, width="content")
        with st.container(horizontal=True, wrap=False, gap="xsmall", width=WIDE):
            comparison_id = st.selectbox(
                "Choice", ids, format_func=TITLES.__getitem__, key="choices_of", **look
            )
            if comparison_id == SPEED:
                return comparison_id, "usd"
            measure = st.selectbox(
                "Measure",
                list(measures),
                format_func=measures.__getitem__,
                key="choices_measure",
                **look,
            )
    return comparison_id, measure


def _panel(known: KnownCells, measure: str, plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """Sentence and chart of the cells so far."""
    if st.session_state.pop(TAKEN, False):
        st.rerun()
    comparison, cells = known.comparison, known.cells(plan.row)
    missing = len(known.missing(plan.row))
    if not missing:
        words = mark_words(cells, plan.row["work"], catalogs)
        sentence = takeaway(cells, measure, plan.job, plan.row, catalogs)
        st.markdown(with_lead(" ".join(filter(None, (sentence, words)))))
    else:
        count_found = len(cells) - missing
        sentence = f"{count_found} of {len(cells)} plans"
        st.progress(count_found / len(cells), text=sentence)
    table = choices_table(cells, measure, plan.job, plan.row, catalogs)
    _draw(table, sentence, cells, comparison, ink, catalogs)
    as_table(table, cells, comparison, catalogs)


def _draw(
    table: pd.DataFrame,
    sentence: str,
    cells: list[Cell],
    comparison: Comparison,
    ink: Ink,
    catalogs: Catalogs,
) -> None:
    """The chart of all cells, of which some may come later: nothing moves then."""
    spec = _spec(comparison, ink)
    key = f"choices_{comparison.id}"
    if key not in st.session_state:  # a chart that is drawn anew has nothing pressed
        st.session_state.pop(f"{key}_pressed", None)
    is_kept = [one.plan is not None and kept_answers.is_kept(one.plan) for one in cells]
    with st.container(height=spec["height"], border=False):
        st.vega_lite_chart(
            table.assign(
                is_kept=is_kept,
                tick_text=["Kept for Compare" if one else "Keep for Compare" for one in is_kept],
            ),
            spec,
            alt=f"{TITLES[comparison.id]}: {sentence}",
            key=key,
            width="stretch",
            on_select=lambda: _take(key, cells, catalogs),
            selection_mode=[charts.PICK],
        )


def _spec(comparison: Comparison, ink: Ink) -> Row:
    """The chart that suits the axes of the comparison."""
    rows = len(comparison.rows)
    if len(comparison.columns) > 1:
        return charts.matrix(ink, rows, is_phone() and len(comparison.columns) > PHONE_COLUMNS)
    if comparison.id in LINES:
        return charts.line(ink)
    return charts.bars(ink, rows, is_phone())


def _take(key: str, cells: list[Cell], catalogs: Catalogs) -> None:
    """Callback: the pressed cell becomes the plan, or its plan is kept or let go again."""
    number, part = _cell_pressed(key) or (len(cells), "")
    cell = cells[number] if number < len(cells) else None
    if cell is None or cell.plan is None:
        return
    if part != charts.TICK:
        plan_with(cell)
    elif (place := kept_answers.place_of(cell.plan)) is not None:
        kept_answers.remove(place)
        st.session_state[TAKEN] = True
    else:
        keep_cells([cell], catalogs)


def _cell_pressed(key: str) -> tuple[int, str] | None:
    """The number of the cell just selected or deselected, and its part; None if none was."""
    state = st.session_state
    now = {
        (int(one[charts.CELL]), str(one[charts.PART]))
        for one in state[key]["selection"][charts.PICK]
    }
    before = state.get(f"{key}_pressed", set())
    state[f"{key}_pressed"] = now
    return next(iter((now - before) or (before - now)), None)
