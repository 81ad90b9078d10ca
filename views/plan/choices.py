"""Compare choices: the best plan for each choice, as a chart whose cells are buttons."""

from datetime import date
from functools import lru_cache
from time import perf_counter
from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.choices import choices_table
from calc.cost.job import ends_of
from calc.files.csv.tables import dated_csv
from calc.job.cells import JobRow
from calc.say.choices import TITLES, decision, quality_note
from calc.studies.choices import Cell, Comparison, cell, comparisons
from views.charts import choices as charts
from views.session import SESSION, job_state
from views.session.present_plan import Present
from views.shared.markdown import plain
from views.shared.tables import grid
from views.shared.theme import Ink

MEASURES = {
    "usd": "Cost",
    "hours": "Hours",
    "gpu_hours": "GPU-hours",
    "memory_gib": "Memory per GPU",
}
LINES = ("gpus", "load", "context")  # comparisons over a number
FIRST_SECONDS, NEXT_SECONDS = 0.25, 0.15  # that one run of the page computes cells for
AGAIN_SECONDS = 0.3  # until the next run that computes the rest
KEPT = 16  # comparisons
ABOUT = "The cheapest plan for each choice. Click a cell to plan with it."


def choices(plan: Present, ink: Ink, catalogs: Catalogs) -> None:
    """The comparison that is chosen, its sentence, chart and CSV."""
    several = {one.id: one for one in comparisons(plan.job, plan.row, catalogs)}
    st.header("Compare choices", anchor=False)
    st.caption(ABOUT)
    if st.session_state.get("choices_of") not in several:
        st.session_state["choices_of"] = next(iter(several))
    names = MEASURES if ends_of(plan.row) else {"usd": "Cost", "memory_gib": "Memory per GPU"}
    if st.session_state.get("choices_measure") not in names:
        st.session_state["choices_measure"] = "usd"
    with st.container(horizontal=True, key="choices_head"):
        shown = st.selectbox(
            "Choice",
            list(several),
            format_func=TITLES.__getitem__,
            key="choices_of",
            label_visibility="collapsed",
            **SESSION,
        )
        measure = st.selectbox(
            "Measure",
            list(names),
            format_func=names.__getitem__,
            key="choices_measure",
            label_visibility="collapsed",
            **SESSION,
        )
    comparison = several[shown]
    found = _found(JobRow.of(plan.job), comparison, catalogs.version)
    is_complete = _compute(found, comparison, plan.job, catalogs, FIRST_SECONDS)

    def body() -> None:
        _panel(found, comparison, measure, plan, ink, catalogs, is_complete)

    st.fragment(body, run_every=None if is_complete else AGAIN_SECONDS)()


@lru_cache(maxsize=KEPT)
def _found(_job: JobRow, _comparison: Comparison, _version: str) -> dict[int, Cell]:
    """The cells that are known of a comparison, by number; shared by all sessions."""
    return {}


def _compute(
    found: dict[int, Cell],
    comparison: Comparison,
    job: dict[str, Any],
    catalogs: Catalogs,
    seconds: float,
) -> bool:
    """Compute missing cells for about so many seconds; return whether all are known."""
    until = perf_counter() + seconds
    for number, (row, column) in enumerate(comparison.pairs):
        if number not in found:
            if perf_counter() > until:
                return False
            found[number] = cell(job, row, column, catalogs)
    return True


def _panel(
    found: dict[int, Cell],
    comparison: Comparison,
    measure: str,
    plan: Present,
    ink: Ink,
    catalogs: Catalogs,
    was_complete: bool,
) -> None:
    """Sentence and chart of the cells so far; computes more of them in each run."""
    if not was_complete and _compute(found, comparison, plan.job, catalogs, NEXT_SECONDS):
        st.rerun()
    if st.session_state.pop("choice_taken", False):
        st.rerun()
    cells = [found[number] for number in sorted(found)]
    if was_complete:
        st.markdown(plain(decision(cells, plan.job, plan.row, catalogs)))
    else:
        st.progress(
            len(cells) / len(comparison.pairs),
            text=f"{len(cells)} of {len(comparison.pairs)} plans",
        )
    table = choices_table(cells, measure, plan.job, plan.row, catalogs)
    _draw(table, cells, comparison, ink)
    if was_complete:
        if note := quality_note(cells, plan.row["work"], catalogs):
            st.caption(plain(note))
        _as_table(table, cells, comparison, catalogs)


def _draw(table: pd.DataFrame, cells: list[Cell], comparison: Comparison, ink: Ink) -> None:
    """The chart that suits the axes of the comparison."""
    rows = table["row"].nunique()
    if len(comparison.columns) > 1:
        spec = charts.matrix(ink, rows)
    elif comparison.id in LINES:
        spec = charts.line(ink)
    else:
        spec = charts.bars(ink, rows)
    key = f"choices_{comparison.id}"
    values = "; ".join(table["row"] + " " + table["column"] + " " + table["text"])
    alt = f"{TITLES[comparison.id]}: {values}"
    st.vega_lite_chart(
        table,
        spec,
        alt=alt,
        key=key,
        width="stretch",
        on_select=lambda: _take(key, cells),
        selection_mode=[charts.CELL],
    )


def _take(key: str, cells: list[Cell]) -> None:
    """Callback: the choices of the cell that was clicked are fixed in the job."""
    chosen = st.session_state[key]["selection"][charts.CELL]
    if not chosen:
        return
    taken = cells[int(chosen[0][charts.CELL])]
    if taken.plan is None:
        return
    job_state.choose(**dict((*taken.row.sets, *taken.column.sets)))
    st.session_state["choice_taken"] = True


def _as_table(
    table: pd.DataFrame, cells: list[Cell], comparison: Comparison, catalogs: Catalogs
) -> None:
    """The same figures as a table, and its plans as a CSV of scenarios."""
    shown = table[["row", "column", "text", "detail", "machine"]]
    names = {"row": "Choice", "column": "With", "text": "Value", "detail": "Time", "machine": "On"}
    with st.expander("As a table", key="choices_table", on_change="rerun") as pane:
        if not pane.open:
            return
        grid(shown.rename(columns=names), {}, TITLES[comparison.id], "choices_rows")
        st.download_button(
            f"CSV, {len(cells)} scenarios",
            lambda: dated_csv(
                pd.DataFrame([cell.plan for cell in cells if cell.plan]), catalogs, date.today()
            ),
            file_name=f"headroom-{comparison.id}-{date.today().isoformat()}.csv",
            icon=":material/download:",
            key="choices_csv",
        )
