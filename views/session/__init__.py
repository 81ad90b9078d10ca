"""What a session holds, and how its widgets keep their values from page to page."""

from typing import Any

import streamlit as st

SESSION: dict[str, Any] = {"persist_state": "session"}  # of widgets that are not on every page


def is_phone() -> bool:
    """Whether the browser says that it is a phone's."""
    return "Mobi" in st.context.headers.get("User-Agent", "")
