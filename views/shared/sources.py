"""The source of a selected figure: who says it, of which day, in which catalog."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.catalogs.sources import Source, sources_of
from calc.charts.result_tables import for_screen
from calc.evaluate import Row
from calc.mappings import Arguments, Cells
from calc.say.addresses import with_addresses
from calc.say.numbers import day_text
from views.session.present_plan import look_at
from views.session.tabs import open_tab
from views.shared.markdown import plain
from views.shared.tables import chosen_in, grid

HOW = "Select a figure to open its source."
Entries = Mapping[str, tuple[str, Cells]]


def source_table(
    rows: pd.DataFrame,
    columns: Arguments,
    alt: str,
    key: str,
    entries: Callable[[int], Entries] | str,
    catalogs: Catalogs,
    row_selection: str = "",
    **look: Any,
) -> str:
    """Draw a table of catalog figures, and below it the source of the figure that is selected.

    `entries` gives the catalog entries behind a row, or names the catalog of all rows, whose ids
    come first. `row_selection` is a selection mode of Streamlit for whole rows, besides cells.
    Return the selected column if no catalog has its source; otherwise "".
    """
    table = for_screen(rows, list(columns))
    modes = [row_selection, "single-cell"] if row_selection else ["single-cell"]
    grid(table, columns, alt, key, on_select="rerun", selection_mode=modes, **look)
    cells = chosen_in(key, "cells")
    if not cells or cells[0][0] >= len(table) or cells[0][1] not in columns:
        st.caption(HOW)
        return ""
    number, column = cells[0]
    row = rows.iloc[number]
    sources = sources_of(
        column,
        {entries: (str(row.iloc[0]), row)} if isinstance(entries, str) else entries(number),
        catalogs,
    )
    if not sources:
        return str(column)
    label = columns[column] if isinstance(columns[column], str) else columns[column]["label"]
    head = f"**{plain(label)}**, {plain(str(table.iloc[number, 0]))}"
    st.markdown("\n".join([head, *(f"- {sentence(source)}" for source in sources)]))
    return ""


def to_method(key: str, row: Row | None = None, label: str = "Open in Method", **look: Any) -> None:
    """The way from a figure of a job to its formulas, and to the source of what they read."""
    if st.button(
        label,
        on_click=look_at if row else None,
        args=(row,) if row else None,
        icon=":material/function:",
        key=key,
        **look,
    ):
        open_tab("method")
        st.switch_page("views/understand/page.py")


def sentence(source: Source) -> str:
    """Published: karpenter, commit 6fc13b5, of 20 July 2026 (catalogs/edited/prices.yaml)."""
    basis = f"{source.basis.capitalize()}: " if source.basis else ""
    day = f", of {day_text(source.day)}" if source.day else ""
    return f"{basis}{with_links(source.text)}{day} ({plain(source.place)})"


def with_links(text: str) -> str:
    """The words of a source as Markdown, its addresses as links."""
    return "".join(
        f"[{plain(words)}]({address})" if address else plain(words)
        for words, address in with_addresses(text)
    )
