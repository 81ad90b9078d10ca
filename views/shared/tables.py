"""Tables and metrics, whose columns take name, meaning and format from the glossary."""

from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.catalogs.strict_yaml import read_strictly
from calc.charts import result_tables
from calc.columns import GLOSSARY
from calc.evaluate import Row
from calc.files.csv.tables import dated_csv, people_csv
from calc.mappings import Arguments
from calc.scenarios.inputs import CATALOG_OF
from views.session import is_phone
from views.shared.markdown import plain

ALL_COLUMNS = (
    "Every input and result, in place of the 18 columns that people read. Either file can be "
    "opened again."
)
NUMBER = st.column_config.NumberColumn
TEXT = st.column_config.TextColumn
KINDS: Arguments = {
    "tick": st.column_config.CheckboxColumn,
    "progress": st.column_config.ProgressColumn,
    "image": st.column_config.ImageColumn,
}
FILE = Path(__file__).with_name("table_columns.yaml")
TABLES = read_strictly(FILE.read_text("utf-8"), FILE.name)


def metric(label: str, value: str, note: str, border: bool = True) -> None:
    """A number with a gray note under it, which is no change and wears no arrow."""
    st.metric(
        label, plain(value), delta=plain(note), delta_color="off", delta_arrow="off", border=border
    )


def file_name(name: str, end: str) -> str:
    """A name of a file with today's date: headroom-bill-2026-11-28.csv."""
    return f"{name}-{date.today().isoformat()}.{end}"


def download(label: str, csv: Callable, name: str, key: str, **look: Any) -> None:
    """A button that gives a CSV, named with today's date; `csv` makes its text when pressed."""
    st.download_button(
        label,
        csv,
        file_name(name, "csv"),
        mime="text/csv",
        on_click="ignore",
        icon=":material/download:",
        key=key,
        **look,
    )


def scenarios(
    label: str, rows: pd.DataFrame, name: str, key: str, catalogs: Catalogs, job: str = ""
) -> None:
    """A button that gives scenarios as the CSV that people read, or with all columns."""
    every = st.toggle("All columns", key=f"{key}_all", help=ALL_COLUMNS, persist_state="session")
    write = dated_csv if every else people_csv
    arguments = (rows, catalogs, date.today(), job) if every else (rows, catalogs, job)
    download(label, partial(write, *arguments), name, key)


def column(name: str, label: str | None = None, kind: Callable = NUMBER, **more: Any) -> Any:
    """Return the settings of a quantity's column, with its meaning as help text."""
    entry = GLOSSARY.get(name) or GLOSSARY[name.removesuffix("_gib") + "_bytes"]
    return kind(label or entry.label, help=entry.meaning, **more)


def columns_of(table: str, **labels: str) -> Row:
    """The columns of a table in table_columns.yaml; `labels` are those that the job decides."""
    looks = {name: {"label": label} for name, label in labels.items()}
    return {name: _column(**entry, **looks.get(name, {})) for name, entry in TABLES[table].items()}


def with_cents(column: Row) -> Row:
    """A column of money with cents, as the bill writes amounts under ten dollars."""
    return column | {"type_config": column["type_config"] | {"format": "$%,.2f"}}


def filled_columns(columns: Arguments, table: pd.DataFrame) -> Row:
    """The columns that a table has, without those of which no row knows anything."""
    return {
        name: look
        for name, look in columns.items()
        if name in table and not (table[name].isna() | (table[name] == "")).all()
    }


def _column(kind: str = "", **look: Any) -> Any:
    """The column of an entry: of its kind, or a number if it has a format, else a text."""
    if kind:
        return KINDS[kind](**look)
    return NUMBER(**look) if "format" in look else TEXT(**look)


def meanings(name: str, values: pd.Series, catalogs: Catalogs) -> None:
    """Draw the meaning of each value of a choice and its cost in quality, from the catalog."""
    catalog = getattr(catalogs, CATALOG_OF[name]).loc[list(values)]
    show(
        catalog[[column for column in ("name", "meaning", "quality_note") if column in catalog]],
        {
            "name": TEXT(name.capitalize(), pinned=True),
            "meaning": TEXT("What it is", width="large"),
            "quality_note": TEXT("Quality", width="medium"),
        },
        f"What each {name} means",
        f"meanings_{name}",
    )


def show(rows: pd.DataFrame, columns: Arguments, alt: str, key: str, **more: Any) -> None:
    """Draw the named columns of the rows, and no others."""
    table = result_tables.for_screen(rows, columns)
    grid(table[list(columns)], columns, alt, key, **more)


def grid(table: Any, columns: Arguments, alt: str, key: str, **look: Any) -> None:
    """A table to sort and scroll; a cell of a value that is not known shows a dash.

    Names of rows stay in sight on a phone alone: Streamlit writes pinned cells in a gray that is
    too light.
    """
    if not is_phone():
        pinned_columns = [
            name
            for name, column in columns.items()
            if isinstance(column, dict) and column.get("pinned")
        ]
        columns = columns | {name: {**columns[name], "pinned": False} for name in pinned_columns}
    st.dataframe(
        table, column_config=columns, hide_index=True, alt=alt, key=key, placeholder="–", **look
    )


def text_table(rows: Any, alt: str, **look: Any) -> None:
    """A table of texts that is read as the page is, in Markdown."""
    st.table(rows, border="horizontal", hide_index=True, alt=alt, **look)


def of_rows(key: str, what: list[str] | tuple[Any, ...]) -> None:
    """Before a table with ticks is drawn: one of other rows than the last has nothing ticked.

    The table keeps its one key, so that the browser fills it anew and does not build it anew.
    """
    state = st.session_state
    rows_hash = hash(repr(what))
    if state.get(f"{key}_rows") != rows_hash:
        state[f"{key}_rows"] = rows_hash
        state[key] = {"selection": {"rows": [], "columns": [], "cells": []}}


def chosen_in(key: str, kind: str = "rows") -> list[Any]:
    """Return the selection in a table: numbers of rows, or cells as (row, column)."""
    return st.session_state.get(key, {}).get("selection", {}).get(kind, [])
