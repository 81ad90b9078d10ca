"""The plans of Compare choices as a table: to read, to tick, to plan with, and as a CSV.

It has whatever the chart has for a pointer, for those who use a keyboard or a screen reader.
"""

from functools import partial

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.say.choices import TITLES, cell_name
from calc.say.place import place
from calc.studies.choices import Cell, Comparison, fixed_by, freed_by
from views.session import job_state, kept_answers
from views.session.owners import with_owners
from views.session.present_plan import look_at
from views.shared.elements import button, expander, use_in_plan
from views.shared.tables import TEXT, chosen_in, grid, of_rows, scenarios

KEY = "choices_rows"
TAKEN = "choice_taken"  # a cell was taken or kept: the page is to be drawn anew
NAMES = {
    "row": "Choice",
    "column": "With",
    "text": "Value",
    "detail": "Time or cost",
    "why": "Problem",
    "machine": "On",
    "layout": "Layout",
    "quality": "Quality",
}


def _kept_name(cell: Cell, catalogs: Catalogs) -> str:
    """The name under which the plan of a cell is kept: Pure bf16 with Adafactor · g6e.xlarge."""
    return f"{cell_name(cell, catalogs)} · {place(cell.plan or {}, counts_one=False)}"


def plan_with(cell: Cell) -> None:
    """Callback: the choices of a cell are fixed in the job, and its cheapest plan is shown."""
    fixed = fixed_by(cell.row, cell.column)
    job_state.release(*freed_by(fixed, job_state.current().job))
    if "prompt_tokens" in fixed:  # the answer keeps its length, which a context may have given
        fixed["answer_tokens"] = int(cell.job["answer_tokens"])
    job_state.choose(**fixed)
    look_at(None)
    st.session_state[TAKEN] = True


def keep_cells(several: list[Cell], catalogs: Catalogs) -> None:
    """Callback: keep the plans of cells for Compare."""
    plans = [cell.plan for cell in several if cell.plan]
    kept_answers.keep_all(plans, [_kept_name(cell, catalogs) for cell in several if cell.plan])
    st.session_state[TAKEN] = True


def as_table(
    table: pd.DataFrame, cells: list[Cell], comparison: Comparison, catalogs: Catalogs
) -> None:
    """Draw the same figures as a table in a closed expander."""
    draw = partial(_table, table, cells, comparison, catalogs)
    expander("As a table: plan, tick, CSV", "choices_table", draw)


def _table(
    table: pd.DataFrame, cells: list[Cell], comparison: Comparison, catalogs: Catalogs
) -> None:
    """Draw the cells of a comparison as a table, and what plans with one or keeps the ticked."""
    used_columns = table[[name for name in NAMES if table[name].ne("").any()]]
    of_rows(KEY, (comparison.id, used_columns.to_csv()))
    grid(
        used_columns.rename(columns=NAMES),
        {"Layout": TEXT(width="large")},
        TITLES[comparison.id],
        KEY,
        on_select="rerun",
        selection_mode="multi-row",
    )
    ticked_cells = [cells[number] for number in chosen_in(KEY) if cells[number].plan]
    plans = pd.DataFrame([cell.plan for cell in cells if cell.plan])
    names = {number: _kept_name(cell, catalogs) for number, cell in enumerate(cells) if cell.plan}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        use_in_plan(names, "choices_plan", lambda number: plan_with(cells[number]))
        button(
            f"Keep ticked ({len(ticked_cells)})" if ticked_cells else "Keep ticked",
            keep_cells,
            ticked_cells,
            catalogs,
            icon="bookmark_add",
            disabled=not ticked_cells,
            key="choices_keep",
        )
        name = f"headroom-{comparison.id}"
        scenarios(f"CSV, {len(plans)} scenarios", with_owners(plans), name, "choices_csv", catalogs)
