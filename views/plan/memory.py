"""Memory of the shown row: one bar, and its components by name with their size."""

from html import escape

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.evaluate import Row
from calc.memory.fit import HOLDS
from calc.plan.figures import parts_of
from calc.say.cost_of_failure import failure_sentence
from calc.say.numbers import gib, with_capital
from calc.say.verdict import fit_words
from views.charts.tank import tank_html
from views.session import is_phone
from views.shared import row_words
from views.shared.markdown import plain
from views.shared.theme import COMPONENT_COLORS, Ink

# Pixels: height of the tank, of a line of names and of text, width of a name.
TANK, LINE, TEXT_LINE, NAME = 30, 23, 18, 174
WIDE, NARROW = 5, 2  # names on a line of the page, and of half of it or of a phone
WIDE_TEXT, NARROW_TEXT = 2, 3  # lines of text, likewise


def memory(
    row: Row, board: pd.DataFrame, ink: Ink, catalogs: Catalogs, is_narrow: bool = False
) -> None:
    """The memory of what is shown, and how sure it is; what parts are for: Understand."""
    st.header(plain(f"What is in the memory: {row_words.where(row, catalogs)}"), anchor=False)
    contents(row, ink, is_narrow or is_phone())
    if wrong := failure_sentence(row, board):
        st.caption(plain(wrong))


def contents(row: Row, ink: Ink, is_narrow: bool = False) -> None:
    """The tank and the names of its components, in a place of fixed height."""
    parts = parts_of(row)
    lines = -(-len(parts) // (NARROW if is_narrow else WIDE))
    text_lines = NARROW_TEXT if is_narrow else WIDE_TEXT
    with st.container(height=TANK + 16 + LINE * lines + TEXT_LINE * text_lines, border=False):
        bar = tank_html(row, ink, row_words.tank_alt(row), TANK)
        st.html(f"{bar}{_names(row, ink)}{_rests_on(row, ink)}")


def _names(row: Row, ink: Ink) -> str:
    """A name for each component, after its color."""
    items = []
    for name, part_gib, _ in parts_of(row).itertuples(index=False):
        mark = f"<span aria-hidden='true' style='color:{COMPONENT_COLORS[name]}'>■</span>"
        items.append(
            f"<li style='white-space:nowrap;margin:0'>{mark} "
            f"<b>{escape(GLOSSARY[name].label)}</b> {gib(part_gib)}</li>"
        )
    look = (
        f"display:grid;grid-template-columns:repeat(auto-fill,minmax(min({NAME}px,49%),1fr));"
        f"list-style:none;margin:8px 0 0;padding:0;"
        f"font-size:14px;line-height:{LINE}px;color:{ink.text}"
    )
    return f"<ul style='{look}'>{''.join(items)}</ul>"


def _rests_on(row: Row, ink: Ink) -> str:
    """Return how to read the bar, and what memory and time rest on."""
    time = row_words.time_basis(row)
    sure = ""
    if (word := fit_words(row)) and row["fits"] in HOLDS:
        sure = f"{with_capital(word)}. "
    text = (
        f"{sure}Gray: allocator cache. Pale: free. Line: range "
        f"({row['memory_basis']}).{f' Time: {time}.' if time else ''}"
    )
    return (
        f"<div "
        f"style='font-size:13px;line-height:{TEXT_LINE}px;color:{ink.faint}'>{escape(text)}</div>"
    )
