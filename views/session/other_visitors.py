"""Other visitors' questions, which go before work that can wait."""

from time import monotonic
from uuid import uuid4

import streamlit as st

RECENT_SECONDS = 2.0
_asked_at: dict[str, float] = {}  # the moment of each visitor's last question


def note_question() -> None:
    """Note that this visitor's page is drawn for a job."""
    now = monotonic()
    for visitor, moment in list(_asked_at.items()):
        if now - moment > RECENT_SECONDS:
            _asked_at.pop(visitor, None)
    _asked_at[_this_visitor()] = now


def others_ask() -> bool:
    """Return whether another visitor's page was drawn in the last moments."""
    now = monotonic()
    this = _this_visitor()
    return any(
        visitor != this and now - moment < RECENT_SECONDS
        for visitor, moment in list(_asked_at.items())
    )


def _this_visitor() -> str:
    visitor: str = st.session_state.setdefault("visitor", uuid4().hex)
    return visitor
