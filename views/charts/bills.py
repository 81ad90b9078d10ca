"""Charts of Compare & bill: an answer a bar, and what moves the bill as a tornado.

`step` is the height of a bar, in letters.
"""

import altair as alt

from views.charts.base import PADDING, ROWS, SIZE, Spec, as_spec, in_lines, once
from views.shared.theme import BLUE, ORANGE, Ink

BAND, LINE = 2.4, 0.9  # times the SIZE of the letters: a bar; each further line of its name
NARROW, WIDE = 12, 17  # widths of the names, likewise


@once
def answer_bars(ink: Ink, title: str, step: float) -> Spec:
    """A bar for each answer, those of the bill darker, with the range as a line.

    Reads calc.charts.bills.answers_table.
    """
    y = _labels(ink, NARROW)
    x = alt.X("value:Q", title=None, stack=None).axis(None).scale(zero=True)
    opacity = alt.condition("datum.is_ticked", alt.value(0.85), alt.value(0.35))
    layers = [
        ROWS.mark_bar(height=1.1 * SIZE, cornerRadius=3, color=BLUE).encode(
            x=x, y=y, opacity=opacity
        ),
        ROWS.mark_rule(color=ink.text, strokeWidth=SIZE / 8).encode(
            x=_place("low"), x2="high:Q", y=y
        ),
        ROWS.mark_text(align="left", dx=8, fontSize=SIZE, fontWeight=600, color=ink.text).encode(
            x=_place("high"), y=y, text="text:N"
        ),
    ]
    return _with_margin(as_spec(alt.layer(*layers), title, ink, height={"step": step * SIZE}))


@once
def tornado(ink: Ink, title: str, step: float) -> Spec:
    """The bill with each factor at its two ends, around the line of today's.

    Reads calc.charts.bills.moves_table.
    """
    y = _labels(ink, WIDE)
    x = alt.X("low:Q", title=None).axis(None).scale(zero=False, padding=5 * SIZE)
    bar = ROWS.mark_bar(height=1.1 * SIZE, cornerRadius=3)
    layers = [
        bar.encode(x=x, x2="base:Q", y=y, color=alt.value(BLUE)),
        bar.encode(x=_place("base"), x2="high:Q", y=y, color=alt.value(ORANGE)),
        ROWS.mark_rule(color=ink.text).encode(x=_place("base")),
        ROWS.mark_text(align="right", dx=-6, fontSize=SIZE, color=ink.text).encode(
            x=_place("low"), y=y, text="low_text:N"
        ),
        ROWS.mark_text(align="left", dx=6, fontSize=SIZE, color=ink.text).encode(
            x=_place("high"), y=y, text="high_text:N"
        ),
    ]
    return _with_margin(as_spec(alt.layer(*layers), title, ink, height={"step": step * SIZE}))


def _with_margin(spec: Spec) -> Spec:
    """The specification with a margin at the right for the last letter."""
    title = {**spec["title"], "fontSize": SIZE + 2}
    return {**spec, "title": title, "padding": {**PADDING, "right": SIZE}}


def _place(column: str) -> alt.X:
    """A place on the axis that is not drawn; Vega needs to be told so in every layer."""
    return alt.X(f"{column}:Q", title=None).axis(None)


def _labels(ink: Ink, width: int) -> alt.Y:
    """The names of the bars, in the order of the table."""
    return alt.Y("label:N", sort=alt.EncodingSortField("rank", op="min"), title=None).axis(
        **in_lines("\\n", SIZE),
        labelFontSize=SIZE,
        labelLimit=width * SIZE,
        labelColor=ink.text,
        labelPadding=8,
        ticks=False,
        domain=False,
    )
