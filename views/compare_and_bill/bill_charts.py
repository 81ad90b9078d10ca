"""Charts of the kept answers, those of the bill darker; on a wall one a screen."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.charts.bills import LINE_BREAK, TITLES, answers_table, measures
from calc.say.numbers import with_noun
from views.charts.bills import BAND, LINE, answer_bars
from views.compare_and_bill.compared_answers import ComparedAnswers
from views.session import SESSION, WALL, is_phone, is_wall
from views.shared.elements import draw
from views.shared.theme import Ink

ABREAST, CHART_WIDTH = 3, 380  # charts side by side, and pixels of one at least
WALL_LETTERS, WALL_STEPS = 32, (2.4, 6.0)  # heights of all bars and of one, in letters
WALL_STYLE = """<style>
:root { font-size: 22px !important; }
[data-testid="stSidebar"] { display: none; }
[data-testid="stMain"] { scroll-snap-type: y proximity; }
h1 { scroll-margin-top: 150px; scroll-snap-align: start; } /* so that the switch stays in reach */
[class*="st-key-screen_"] {
  min-height: calc(100vh - 110px); scroll-margin-top: 110px; scroll-snap-align: start;
}
</style>"""


def wall_switch() -> None:
    """Larger letters on every tab, and charts for a screen that a room looks at."""
    if not is_phone():
        st.toggle("Wall", key=WALL, help="Letters and charts for a whole room", **SESSION)
    if is_wall():
        st.html(WALL_STYLE)


def step(bars: int, usual: float = BAND) -> float:
    """The height of a bar in letters: on a wall the bars fill a screen."""
    least, most = WALL_STEPS
    return min(max(WALL_LETTERS / bars, least), most) if is_wall() else usual


def screen(name: str) -> DeltaGenerator:
    """A part of the page that on a wall is a screen of its own."""
    return st.container(key=f"screen_{name}" if is_wall() else None)


def answer_charts(every: ComparedAnswers, ink: Ink, catalogs: Catalogs) -> None:
    """Cost, time and memory of every kept answer; nothing where there is but one."""
    if len(every.records) < 2:
        return
    names = measures(every.records, catalogs)
    alone = is_wall() or is_phone()
    abreast = 1 if alone else min(len(names), ABREAST)
    with st.grid(abreast, min_column_width=CHART_WIDTH, key="answer_charts"):
        panes = [screen(name) for name in names]
    for name, pane in zip(names, panes, strict=True):
        table = answers_table(every.records, every.ticked, name, every.money, catalogs)
        values = "; ".join(table["name"] + " " + table["text"])
        alt = f"{TITLES[name]} of {with_noun(len(table), 'answer')}: {values}"
        lines = 1 + table["label"].str.count(LINE_BREAK).max()
        height = step(len(table), BAND + LINE * (lines - 1))
        with pane:
            draw(answer_bars(ink, TITLES[name], height), table, alt, f"answers_{name}")
