"""Tabs of which only the open one computes and draws."""

from collections.abc import Callable

import streamlit as st


def open_tabs(bodies: dict[str, Callable], first: str, key: str) -> None:
    """`bodies`: title -> what draws the tab; the others wait until they are opened."""
    panes = st.tabs(list(bodies), default=first, on_change="rerun", key=key)
    for body, pane in zip(bodies.values(), panes, strict=True):
        if pane.open:
            with pane:
                body()
