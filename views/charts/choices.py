"""Charts of Compare choices: a matrix of cells, and a line or bars over a single axis.

A click selects a cell together with the part of it that was pressed: the plan, or its tick.
"""

from typing import Any

import altair as alt

from views.charts.base import ROWS, SIZE, Spec, as_spec, once
from views.shared.theme import BLUE, ORANGE, Ink

PICK = "pick"  # the selection
CELL, PART, TICK = "cell", "part", "tick"  # its fields, and the part that is no plan
ROW_HEIGHT, BAR_HEIGHT, LINE_HEIGHT = 62, 34, 210  # pixels
NARROW_ROW, NARROW_HEAD, HEAD = 36, 88, 34  # of a phone; of the names of columns
CHEAP, DEAR = "#10896D", "#C93F03"  # of the palette: green is cheap, red is dear
SHADE = 0.22
GAPS = alt.Scale(paddingInner=0.04)  # between cells
PLANS = ROWS.transform_calculate(part="'plan'")
TICKS = ROWS.transform_filter("isValid(datum.value)").transform_calculate(part="'tick'")


@once
def matrix(ink: Ink, rows: int, is_narrow: bool = False) -> Spec:
    """Cells of two axes, shaded from cheap to dear, each with its value, time and machine.

    A narrow one has the value alone. Reads calc.charts.choices.choices_table and `is_kept`.
    """
    x = alt.X("column:N", sort=alt.EncodingSortField("column_rank", op="min"), title=None).axis(
        orient="top",
        labelAngle=-90 if is_narrow else 0,
        **_look(ink, NARROW_HEAD if is_narrow else 140),
    )
    x, y = x.scale(GAPS), _rows(ink, 100 if is_narrow else 150).scale(GAPS)
    place: Spec = {"x": x, "y": y}
    shade = alt.Color("value:Q", legend=None).scale(type="log", range=[CHEAP, DEAR])
    cells = (
        PLANS.transform_filter("isValid(datum.value)")
        .mark_rect(cornerRadius=5, opacity=SHADE, cursor="pointer")
        .encode(**place, color=shade, tooltip=_tooltip())
        .add_params(_pick())
    )
    empty = (
        PLANS.transform_filter("!isValid(datum.value)")
        .mark_rect(cornerRadius=5, color=ink.track, opacity=0.6)
        .encode(**place, tooltip=_tooltip())
    )
    present = (
        PLANS.transform_filter("datum.mark == 'plan'")
        .mark_rect(cornerRadius=5, filled=False, stroke=BLUE, strokeWidth=3)
        .encode(**place)
    )
    wide: tuple[tuple[str, int, int, Any], ...] = (
        ("headline", -13, SIZE + 3, "bold"),
        ("detail_line", 6, SIZE - 1, "normal"),
        ("machine", 21, SIZE - 1, "normal"),
    )
    texts = (("figure", 0, SIZE - 2, "bold"),) if is_narrow else wide
    lines = [
        _text(ink, dy=dy, fontSize=size, fontWeight=weight, limit=44 if is_narrow else 150).encode(
            **place, text=f"{name}:N"
        )
        for name, dy, size, weight in texts
    ]
    ticks = [] if is_narrow else [_ticks(ink, _band("column", 0.93), _band("row", 0.17))]
    chart = alt.layer(cells, empty, present, *lines, *ticks)
    height = NARROW_ROW * rows + NARROW_HEAD if is_narrow else ROW_HEIGHT * rows + HEAD
    return as_spec(chart, "", ink, height=height)


@once
def line(ink: Ink, is_narrow: bool = False) -> Spec:
    """The value at each count, joined by a line; the plan is orange.

    Reads calc.charts.choices.choices_table and `is_kept`.
    """
    x = alt.X("row:N", sort=alt.EncodingSortField("row_rank", op="min"), title=None).axis(
        labelAngle=-45 if is_narrow else 0, ticks=False, labelFontSize=SIZE, labelColor=ink.text
    )
    y = alt.Y("value:Q", title=None).axis(None).scale(zero=True, padding=24)
    priced = PLANS.transform_filter("isValid(datum.value)")
    colour = alt.condition("datum.mark == 'plan'", alt.value(ORANGE), alt.value(BLUE))
    names = [] if is_narrow else [_text(ink, 18, fontSize=SIZE - 1, limit=150, priced=True)]
    layers = [
        priced.mark_line(color=BLUE, strokeWidth=2).encode(x=x, y=y),
        priced.mark_point(filled=True, size=140, opacity=1, cursor="pointer")
        .encode(x=x, y=y, color=colour, tooltip=_tooltip())
        .add_params(_pick()),
        _text(ink, -16, fontSize=SIZE - 2 * is_narrow, fontWeight=600, priced=True).encode(
            x=x, y=y, text="figure:N" if is_narrow else "headline:N"
        ),
        *(text.encode(x=x, y=y, text="machine:N") for text in names),
    ]
    if not is_narrow:
        layers.append(_ticks(ink, x, alt.value(LINE_HEIGHT - 40)))
    return as_spec(alt.layer(*layers), "", ink, height=LINE_HEIGHT)


@once
def bars(ink: Ink, rows: int, is_narrow: bool = False) -> Spec:
    """A bar for each choice with its value and machine; the plan is orange.

    Reads calc.charts.choices.choices_table and `is_kept`.
    """
    y = _rows(ink, 110 if is_narrow else 180)
    x = alt.X("value:Q", title=None).axis(None).scale(zero=True)
    colour = alt.condition("datum.mark == 'plan'", alt.value(ORANGE), alt.value(BLUE))
    layers = [
        PLANS.mark_bar(height=18, cornerRadius=3, cursor="pointer", opacity=0.55)
        .encode(x=x, y=y, color=colour, tooltip=_tooltip())
        .add_params(_pick()),
        _text(ink, align="left", fontSize=SIZE, limit=240 if is_narrow else 520).encode(
            x=alt.value(28), y=y, text="figure:N" if is_narrow else "summary:N"
        ),
    ]
    if not is_narrow:
        layers.append(_ticks(ink, alt.value(13), y))
    return as_spec(alt.layer(*layers), "", ink, height=BAR_HEIGHT * rows)


def _pick() -> alt.Parameter:
    """The selection of a part of a cell; every click changes it, so that every click is heard."""
    return alt.selection_point(name=PICK, fields=[CELL, PART], empty=False, toggle="true")


def _rows(ink: Ink, label_width: int) -> alt.Y:
    """The names of the rows, in the order of the table."""
    return alt.Y("row:N", sort=alt.EncodingSortField("row_rank", op="min"), title=None).axis(
        labelPadding=8, **_look(ink, label_width)
    )


def _look(ink: Ink, label_width: int) -> Spec:
    return {
        "ticks": False,
        "domain": False,
        "labelFontSize": SIZE,
        "labelLimit": label_width,
        "labelColor": ink.text,
    }


def _text(ink: Ink, dy: int = 0, priced: bool = False, **look: Any) -> alt.Chart:
    """A line of text in or beside a mark."""
    rows = PLANS.transform_filter("isValid(datum.value)") if priced else PLANS
    return rows.mark_text(dy=dy, color=ink.text, **look)


def _band(name: str, share: float) -> Any:
    """A place within the band of a row or a column."""
    channel = alt.X if name == "column" else alt.Y
    sort = alt.EncodingSortField(f"{name}_rank", op="min")
    return channel(f"{name}:N", sort=sort, bandPosition=share)


def _ticks(ink: Ink, x: Any, y: Any) -> alt.Chart:
    """A box on each plan, filled where it is kept for Compare."""
    fill = alt.condition("datum.is_kept", alt.value(BLUE), alt.value(ink.paper))
    tip = [alt.Tooltip("tick_text:N", title=" ")]
    return TICKS.mark_square(
        size=130, opacity=1, stroke=ink.faint, strokeWidth=1, cursor="pointer"
    ).encode(x=x, y=y, color=fill, tooltip=tip)


def _tooltip() -> list[alt.Tooltip]:
    """What hovering shows of a cell."""
    names = {
        "row": " ",
        "column": " ",
        "text": "Value",
        "machine": "On",
        "layout": "Layout",
        "detail": "Time",
        "quality": "Quality",
    }
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in names.items()]
