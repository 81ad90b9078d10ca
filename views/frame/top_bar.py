"""The header beside the pages: mark and name, Undo, Share."""

from datetime import date
from pathlib import Path

import streamlit as st

from calc.catalogs.load import Catalogs
from views.frame import share
from views.session import undo
from views.shared.elements import button
from views.shared.theme import INKS

STYLE = Path(__file__).with_name("frame.css").read_text("utf-8")
MARK = Path(__file__).with_name("mark.svg").read_text("utf-8")
REDRAW = Path(__file__).with_name("redraw_in_theme.js").read_text("utf-8")


def draw(catalogs: Catalogs, page: str) -> None:
    """Draw the top bar on every page."""
    theme = st.context.theme.type or "light"
    ink = INKS[theme]
    st.logo(MARK.replace("currentColor", ink.text), size="large")
    st.html(
        f"<style>:root {{ --ink: {ink.text}; --faint: {ink.faint}; --link: {ink.link}; "
        f"}}\n{STYLE}</style>"
    )
    # Its style moves it a little way up.
    place = st.container(height=1, border=False, horizontal=True, horizontal_alignment="right")
    with (
        place,
        st.container(
            horizontal=True,
            vertical_alignment="center",
            gap="xsmall",
            width="content",
            key="top_bar",
        ),
    ):
        button("Undo", undo.undo, disabled=not undo.can_undo(), type="tertiary", key="undo")
        share.popover(catalogs, date.today(), page)
        _redraw_in_theme(theme)


def _redraw_in_theme(theme: str) -> None:
    """Draw an unseen button, and the script that presses it when the theme changes."""
    with st.container(key="redraw_in_theme"):
        st.html(f"<script>{REDRAW.replace('THEME', theme)}</script>", unsafe_allow_javascript=True)
        st.button("Redraw", key="redraw")
