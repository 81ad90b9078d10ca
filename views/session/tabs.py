"""The open tab of each page with tabs: in the session, and as `view` in the link."""

import streamlit as st

from calc.evaluate import Row

TABS = {  # address of the page -> the ids of its tabs, the first one open at first
    "compare": ("compare", "pay", "tuned", "team", "load", "teams", "actual", "shelf"),
    "understand": ("step", "explore", "method"),
    "catalog": ("instances", "models", "prices", "accuracy"),
}


def key_of(page: str) -> str:
    """The session's key of a page's open tab."""
    return f"tab_{page}"


def open_tab(tab: str) -> None:
    """Open a tab on its page, wherever the visitor is."""
    st.session_state[key_of(page_of(tab))] = tab


def page_of(tab: str) -> str:
    """The address of the page that has a tab."""
    return next(page for page, tabs in TABS.items() if tab in tabs)


def view(page: str) -> Row:
    """The open tab of a page as the link says it; empty on a page without tabs."""
    return {"view": st.session_state.get(key_of(page)) or TABS[page][0]} if page in TABS else {}
