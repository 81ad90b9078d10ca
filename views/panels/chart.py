"""A chart on the page: its specification, which is built once, beside the table of this run."""

from typing import Any

import pandas as pd
import streamlit as st


def draw(spec: dict[str, Any], rows: pd.DataFrame, alt: str, key: str, cards: pd.DataFrame | None = None) -> None:
    """A finished specification with its table; the cards' rules come as a second one."""
    if cards is None:
        st.vega_lite_chart(rows, spec, alt=alt, key=key, width="stretch")
    else:
        both = {**spec, "data": {"name": "rows"}, "datasets": {"rows": rows, "cards": cards}}
        st.vega_lite_chart(both, alt=alt, key=key, width="stretch")
