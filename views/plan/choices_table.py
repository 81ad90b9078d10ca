"""The plans of Compare choices as a table: to read, to tick, and to take away as a CSV."""

from functools import partial

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.say.choices import TITLES, cell_name
from calc.say.place import place
from calc.studies.choices import Cell, Comparison
from views.session import kept_answers
from views.session.owners import with_owners
from views.shared.elements import button, expander
from views.shared.tables import TEXT, chosen_in, grid, of_rows, scenarios

KEY = "choices_rows"
NAMES = {
    "row": "Choice",
    "column": "With",
    "text": "Value",
    "detail": "Time",
    "why": "In the way",
    "machine": "On",
    "layout": "Layout",
    "quality": "Quality",
}


def kept_name(cell: Cell, catalogs: Catalogs) -> str:
    """The name under which the plan of a cell is kept: Pure bf16 with Adafactor · g6e.xlarge."""
    return f"{cell_name(cell, catalogs)} · {place(cell.plan or {}, counts_one=False)}"


def as_table(
    table: pd.DataFrame, cells: list[Cell], comparison: Comparison, catalogs: Catalogs
) -> None:
    """Draw the same figures as a table in a closed expander."""
    draw = partial(_table, table, cells, comparison, catalogs)
    expander("As a table: tick to keep, CSV", "choices_table", draw)


def _table(
    table: pd.DataFrame, cells: list[Cell], comparison: Comparison, catalogs: Catalogs
) -> None:
    """Draw the cells of a comparison as a table, with buttons that keep the ticked ones."""
    shown = table[[name for name in NAMES if table[name].ne("").any()]]
    of_rows(KEY, (comparison.id, shown.to_csv()))
    grid(
        shown.rename(columns=NAMES),
        {"Layout": TEXT(width="large")},
        TITLES[comparison.id],
        KEY,
        on_select="rerun",
        selection_mode="multi-row",
    )
    ticked = [cells[number] for number in chosen_in(KEY) if cells[number].plan]
    plans = pd.DataFrame([cell.plan for cell in cells if cell.plan])
    with st.container(horizontal=True, vertical_alignment="center"):
        button(
            f"Keep ticked ({len(ticked)})" if ticked else "Keep ticked",
            kept_answers.keep_all,
            [cell.plan for cell in ticked],
            [kept_name(cell, catalogs) for cell in ticked],
            icon="bookmark_add",
            disabled=not ticked,
            key="choices_keep",
        )
        name = f"headroom-{comparison.id}"
        scenarios(f"CSV, {len(plans)} scenarios", with_owners(plans), name, "choices_csv", catalogs)
