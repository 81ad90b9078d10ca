"""The bare page with which the dashboard is compared.

A dozen widgets, six numbers, three charts and a table, without any calculation.
"""

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

TEAMS = [f"Team {number}" for number in range(10)]
KINDS = ["build", "run", "licenses", "other"]


@st.cache_resource
def tables():
    """Rows of the three charts and of the table, the same for everybody."""
    draw = np.random.default_rng(7)
    bars = pd.DataFrame(
        {"team": TEAMS * 4, "kind": np.repeat(KINDS, 10), "usd": draw.uniform(5, 50, 40)}
    )
    line = pd.DataFrame({"day": np.arange(200), "usd": draw.normal(0, 1, 200).cumsum() + 50})
    dots = pd.DataFrame(
        {
            "effort": draw.gamma(2, 10, 150),
            "usd": draw.gamma(3, 8, 150),
            "team": draw.choice(TEAMS, 150),
        }
    )
    rows = pd.DataFrame(
        {"item": [f"Item {number}" for number in range(100)], "usd": draw.uniform(9, 20, 100)}
    )
    return bars, line, dots, rows


st.set_page_config(page_title="Floor", layout="wide")
with st.sidebar:
    chosen = [
        TEAMS.index(st.selectbox(f"Team {number}", TEAMS, key=f"team_{number}"))
        for number in range(4)
    ]
    chosen += [
        st.number_input(f"Rate {number}", 1, 500, 90, key=f"rate_{number}") for number in range(4)
    ]
    chosen += [st.toggle(f"Part {number}", key=f"part_{number}") for number in range(4)]
factor = 1 + sum(chosen) / 1000
st.title("Floor")
for number, column in enumerate(st.columns(6)):
    column.metric(f"Number {number}", f"{1000 * factor * (number + 1):,.0f}")
bars, line, dots, rows = (table.assign(usd=table["usd"] * factor) for table in tables())
st.altair_chart(
    alt.Chart(bars).mark_bar().encode(x="team:N", y="sum(usd):Q", color="kind:N"), key="bars"
)
left, right = st.columns(2)
left.altair_chart(alt.Chart(line).mark_line().encode(x="day:Q", y="usd:Q"), key="line")
right.altair_chart(
    alt.Chart(dots).mark_circle().encode(x="effort:Q", y="usd:Q", color="team:N"), key="dots"
)
st.dataframe(rows, key="rows", hide_index=True)
