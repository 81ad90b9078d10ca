"""Conversations of several turns: what the prefix cache still has, and what that saves."""

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.mappings import Arguments
from calc.plan.sessions import LEAST_TURNS, MOST_TURNS, Sessions, session_plan
from calc.say.numbers import percent, short_duration, usd
from calc.say.sessions import session_sentences
from calc.scenarios.problems import TableError
from views.session import SESSION
from views.shared import tables
from views.shared.elements import points, show_error
from views.shared.markdown import plain

TITLE = "Conversations of several turns"
VARIATIONS = {0.5: "regular", 1.0: "random", 2.0: "breaks and bursts"}  # of times: deviations
USUAL_TURNS = 4


def draw(row: Row, catalogs: Catalogs) -> None:
    """The fields of a conversation, what is reused, and the same for other sizes of the cache."""
    look: Arguments = {"width": 200, **SESSION}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        turns = st.number_input(
            "Turns", LEAST_TURNS, MOST_TURNS, value=_turns(row), key="session_turns", **look
        )
        usual = float(row["think_seconds"])
        think = st.number_input(
            "Seconds between turns", 1.0, value=usual, key="session_think", format="%.0f", **look
        )
        variation = st.selectbox(
            "Times between turns",
            list(VARIATIONS),
            index=1,
            format_func=VARIATIONS.__getitem__,
            key="session_variation",
            width=200,
        )
    try:
        plan = session_plan(row, Sessions(int(turns), think, variation), catalogs)
    except TableError as error:
        show_error(error)
        return
    points(session_sentences(plan))
    lines = [
        {
            "Cache, tokens": f"{size['pool_tokens']:,.0f}",
            "Of today's": f"{size['pool_ratio']:g} ×",
            "Turns that find theirs": percent(size["hit_ratio"]),
            "First token": short_duration(size["first_token_seconds"]),
            "$ per million answer tokens": plain(usd(size["usd_per_million_output_tokens"])),
        }
        for size in plan.by_pool.to_dict("records")
    ]
    tables.text_table(pd.DataFrame(lines), "Reuse, time and cost by the size of the cache")


def _turns(row: Row) -> int:
    """The turns of the plan; of a plan of single requests a usual number."""
    return int(row["turns"]) if row["turns"] > 1 else USUAL_TURNS
