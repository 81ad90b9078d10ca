"""State of a session, and the way its widgets keep their values from page to page."""

import streamlit as st

from calc.mappings import Arguments

SESSION: Arguments = {"persist_state": "session"}  # of widgets that are not on every page
WALL = "wall"  # the switch of a page that a whole room looks at


def is_wall() -> bool:
    """Return whether the page is shown on a wall."""
    return bool(st.session_state.get(WALL))


def is_phone() -> bool:
    """Return whether the browser says that it is a phone's."""
    return "Mobi" in st.context.headers.get("User-Agent", "")
