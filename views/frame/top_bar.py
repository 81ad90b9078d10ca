"""The header beside the pages: mark and name, Undo, Share."""

from datetime import date
from pathlib import Path

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from views.frame import share
from views.session import undo
from views.shared.elements import button
from views.shared.texts import TEXTS
from views.shared.theme import INKS

STYLE, MARK = (Path(__file__).with_name(name).read_text("utf-8") for name in ("frame.css", "mark.svg"))
FIELDS = TEXTS["kept"]["fields"]
MOST_NAMED = 6


def draw(catalogs: Catalogs) -> None:
    """The same on every page, in the header, so that nothing below it moves."""
    ink = INKS[st.context.theme.type or "light"]
    st.logo(MARK.replace("currentColor", ink.text), size="large")
    st.html(f"<style>:root {{ --ink: {ink.text}; --faint: {ink.faint}; }}\n{STYLE}</style>")
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="top_bar"):
        button("Undo", undo.undo, disabled=not undo.can_undo(), type="tertiary", help=_undone(undo.changed()), key="undo")
        share.popover(catalogs, date.today())


def _undone(names: list[str]) -> str:
    """What the last change was about."""
    if not names:
        return "Nothing to undo"
    words = [FIELDS.get(name) or (GLOSSARY[name].label.lower() if name in GLOSSARY else name.replace("_", " ")) for name in names]
    return f"Take back: {', '.join(words[:MOST_NAMED])}{' and more' if len(words) > MOST_NAMED else ''}"
