"""Charts of Compare choices: a matrix of cells, and a line or bars over a single axis."""

from typing import Any

import altair as alt

from views.charts.base import ROWS, SIZE, finished, once
from views.shared.theme import BLUE, ORANGE, Ink

CELL = "cell"  # the selection, and the column that it names
ROW_HEIGHT, BAR_HEIGHT, LINE_HEIGHT = 64, 34, 220  # pixels
CHEAP, DEAR = "#10896D", "#C93F03"  # of the palette: green is cheap, red is dear
SHADE = 0.22


@once
def matrix(ink: Ink, rows: int) -> dict[str, Any]:
    """Cells of two axes, shaded from cheap to dear, each with its value, time and machine.

    Reads calc.charts.choices.choices_table.
    """
    pick = alt.selection_point(name=CELL, fields=[CELL], empty=False)
    x = alt.X("column:N", sort=alt.EncodingSortField("column_rank", op="min"), title=None).axis(
        orient="top",
        labelAngle=0,
        ticks=False,
        domain=False,
        labelFontSize=SIZE,
        labelLimit=140,
        labelColor=ink.text,
    )
    y = alt.Y("row:N", sort=alt.EncodingSortField("row_rank", op="min"), title=None).axis(
        ticks=False,
        domain=False,
        labelFontSize=SIZE,
        labelLimit=150,
        labelPadding=8,
        labelColor=ink.text,
    )
    place = {"x": x, "y": y}
    shade = alt.Color("value:Q", legend=None).scale(type="log", range=[CHEAP, DEAR])
    cells = (
        ROWS.transform_filter("isValid(datum.value)")
        .mark_rect(cornerRadius=5, opacity=SHADE, cursor="pointer")
        .encode(**place, color=shade, tooltip=_tooltip())
        .add_params(pick)
    )
    empty = (
        ROWS.transform_filter("!isValid(datum.value)")
        .mark_rect(cornerRadius=5, color=ink.track, opacity=0.6)
        .encode(**place, tooltip=_tooltip())
    )
    present = (
        ROWS.transform_filter("datum.mark == 'plan'")
        .mark_rect(cornerRadius=5, filled=False, stroke=BLUE, strokeWidth=3)
        .encode(**place)
    )
    texts: tuple[tuple[str, int, int, Any], ...] = (
        ("headline", -14, SIZE + 3, "bold"),
        ("detail_line", 5, SIZE - 1, "normal"),
        ("machine", 21, SIZE - 1, "normal"),
    )
    lines = [
        ROWS.mark_text(
            dy=dy, fontSize=size, fontWeight=weight, color=ink.text, limit=150, lineBreak="\n"
        ).encode(**place, text=f"{name}:N")
        for name, dy, size, weight in texts
    ]
    chart = alt.layer(cells, empty, present, *lines)
    return finished(chart, "", ink, height=ROW_HEIGHT * rows + 40)


@once
def line(ink: Ink) -> dict[str, Any]:
    """The value at each count, joined by a line; the plan is orange.

    Reads calc.charts.choices.choices_table.
    """
    pick = alt.selection_point(name=CELL, fields=[CELL], empty=False)
    x = alt.X("row:N", sort=alt.EncodingSortField("row_rank", op="min"), title=None).axis(
        labelAngle=0, ticks=False, labelFontSize=SIZE, labelColor=ink.text
    )
    y = alt.Y("value:Q", title=None).axis(None).scale(zero=True, padding=24)
    priced = ROWS.transform_filter("isValid(datum.value)")
    colour = alt.condition("datum.mark == 'plan'", alt.value(ORANGE), alt.value(BLUE))
    layers = [
        priced.mark_line(color=BLUE, strokeWidth=2).encode(x=x, y=y),
        priced.mark_point(filled=True, size=140, opacity=1, cursor="pointer")
        .encode(x=x, y=y, color=colour, tooltip=_tooltip())
        .add_params(pick),
        priced.mark_text(dy=-16, fontSize=SIZE, fontWeight=600, color=ink.text).encode(
            x=x, y=y, text="headline:N"
        ),
        priced.mark_text(dy=18, fontSize=SIZE - 1, color=ink.text, limit=150).encode(
            x=x, y=y, text="machine:N"
        ),
    ]
    return finished(alt.layer(*layers), "", ink, height=LINE_HEIGHT)


@once
def bars(ink: Ink, rows: int) -> dict[str, Any]:
    """A bar for each choice with its value and machine; the plan is orange.

    Reads calc.charts.choices.choices_table.
    """
    pick = alt.selection_point(name=CELL, fields=[CELL], empty=False)
    y = alt.Y("row:N", sort=alt.EncodingSortField("row_rank", op="min"), title=None).axis(
        ticks=False,
        domain=False,
        labelFontSize=SIZE,
        labelLimit=180,
        labelPadding=8,
        labelColor=ink.text,
    )
    x = alt.X("value:Q", title=None).axis(None).scale(zero=True)
    colour = alt.condition("datum.mark == 'plan'", alt.value(ORANGE), alt.value(BLUE))
    layers = [
        ROWS.mark_bar(height=18, cornerRadius=3, cursor="pointer")
        .encode(x=x, y=y, color=colour, tooltip=_tooltip())
        .add_params(pick),
        ROWS.mark_text(align="left", dx=6, fontSize=SIZE, color=ink.text, limit=420).encode(
            x=x, y=y, text="summary:N"
        ),
    ]
    return finished(alt.layer(*layers), "", ink, height=BAR_HEIGHT * rows)


def _tooltip() -> list[alt.Tooltip]:
    """What hovering shows of a cell."""
    names = {"row": " ", "column": " ", "text": "Value", "machine": "On", "detail": "Time"}
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in names.items()]
