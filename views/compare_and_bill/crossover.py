"""Own machines beside a price per token, over the tokens of a month."""

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.lines import chart_lines
from calc.evaluate import Row
from calc.mappings import Arguments
from calc.plan.crossover import FEW_POINTS, Purchase, crossings, over_volume
from calc.say.crossover import LINE_WORDS, crossing_sentences
from views.charts.base import DOLLARS, LARGE_COUNT
from views.session import SESSION
from views.shared.elements import points, theme_ink
from views.understand.comparisons import draw_lines

TITLE = "Own machines or paid per token"


def draw(row: Row, catalogs: Catalogs) -> None:
    """The fields of a purchase, the chart, and where its lines cross."""
    purchase = _purchase()
    table = over_volume(row, catalogs, purchase, FEW_POINTS)
    sentences = crossing_sentences(crossings(over_volume(row, catalogs, purchase)))
    if len(table):
        points_table = table.assign(fits=row["fits"], now=False)
        names = {name: words for name, words in LINE_WORDS.items() if name in set(table["line"])}
        ink = theme_ink()
        draw_lines(
            chart_lines(points_table, points_table["tokens"], points_table["usd"], names),
            "A month by its tokens",
            ("generated tokens a month", LARGE_COUNT),
            ("$ a month", DOLLARS),
            " ".join(sentences),
            "crossover",
            ink,
        )
    points(sentences)


def _purchase() -> Purchase | None:
    """Machines that are bought, where a price is typed."""
    look: Arguments = {"width": 230, **SESSION}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        usd = st.number_input(
            "Bought: $ of one instance",
            1.0,
            value=None,
            key="bought_usd",
            placeholder="not bought",
            format="%.0f",
            **look,
        )
        months = st.number_input(
            "Months of its life", 1.0, 240.0, value=36.0, key="bought_months", format="%.0f", **look
        )
        hourly = st.number_input(
            "Power and room, $ an hour", 0.0, value=0.0, key="bought_hour", **look
        )
    return Purchase(usd, months, hourly) if usd else None
