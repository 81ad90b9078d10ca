"""Charts of the kept answers, those of the bill darker; on a wall one below the other."""

import streamlit as st

from calc.charts.bills import TITLES, answers_table, measures
from calc.say.numbers import with_noun
from views.charts.base import SIZE
from views.charts.bills import answer_bars
from views.compare_and_bill.compared_answers import ComparedAnswers
from views.session import SESSION, is_phone
from views.shared.elements import draw
from views.shared.theme import Ink

ABREAST = 3  # charts
WALL = "wall"
WALL_SIZE = 24  # pixels of letters that are read at four meters
WALL_STYLE = """<style>
:root { font-size: 22px !important; }
[data-testid="stSidebar"] { display: none; }
</style>"""


def wall_switch() -> None:
    """Larger letters and charts for a screen that a room looks at."""
    if not is_phone():
        st.toggle("Wall", key=WALL, help="Letters and charts for a whole room", **SESSION)


def is_wall() -> bool:
    """Return whether the page is shown on a wall."""
    return bool(st.session_state.get(WALL))


def letters() -> int:
    """Pixels of the letters in a chart."""
    return WALL_SIZE if is_wall() else SIZE


def answer_charts(every: ComparedAnswers, ink: Ink) -> None:
    """Cost, time and memory of every kept answer; nothing where there is but one."""
    if is_wall():
        st.html(WALL_STYLE)
    if len(every.records) < 2:
        return
    names = measures(every.records)
    alone = is_wall() or is_phone()
    with st.grid(1 if alone else min(len(names), ABREAST), key="answer_charts"):
        panes = [st.container() for _ in names]
    for name, pane in zip(names, panes, strict=True):
        table = answers_table(every.records, every.ticked, name)
        values = "; ".join(table["label"] + " " + table["text"])
        alt = f"{TITLES[name]} of {with_noun(len(table), 'answer')}: {values}"
        with pane:
            draw(answer_bars(ink, TITLES[name], letters()), table, alt, f"answers_{name}")
