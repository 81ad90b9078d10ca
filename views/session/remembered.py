"""What this session worked out last, by name: made again only where what it was made of has changed."""

import streamlit as st


def remembered(name, key, make):
    """The last result under a name if it was made of the same key; else made now and remembered."""
    held, key = st.session_state.get(f"remembered_{name}"), repr(key)
    if held is None or held[0] != key:
        held = st.session_state[f"remembered_{name}"] = (key, make())
    return held[1]
