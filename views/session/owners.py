"""The team, owner and project of this session's plan, which change no estimate."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from calc.files.link.kept_answers import linkable
from calc.plan.ownership import LONGEST_OWNER, OWNERSHIP


def owners() -> dict[str, str]:
    """The team, owner and project of the present plan that are set."""
    texts = {name: linkable(st.session_state.get(name) or "", LONGEST_OWNER) for name in OWNERSHIP}
    return {name: text for name, text in texts.items() if text}


def take(cells: Mapping[str, str]) -> None:
    """Set the team, owner and project that a text names; the others stay."""
    st.session_state.update({name: cells[name] for name in OWNERSHIP if name in cells})


def with_owners(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the present plan with its team, owner and project."""
    return rows.assign(**owners())
