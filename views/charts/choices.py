"""Charts of Compare choices: a matrix of cells, and a line or bars over a single axis.

A click selects a cell together with the part of it that was pressed: the plan, or its tick.
"""

from typing import Any

import altair as alt

from views.charts.base import ROWS, SIZE, Spec, as_spec, in_lines, once
from views.shared.theme import BLUE, ORANGE, Ink

PICK = "pick"  # the selection
CELL, PART, TICK = "cell", "part", "tick"  # its fields, and the part that is no plan
ROW_HEIGHT, BAR_HEIGHT, LINE_HEIGHT = 62, 34, 210  # pixels
NARROW_ROW, NARROW_HEAD, HEAD = 36, 88, 34  # of a phone; of the names of columns
# Whether a column has no room for the name of its machine; `width` says when to look again.
IS_NARROW = "(0 * width + containerSize()[0]) / length(domain('x')) < 106"
LETTER_PIXELS = 0.46 * (SIZE - 1)  # width of a letter of a cell's lines
# The time and the mark of a cell; the mark alone where a cell has no room for both.
MARK_OR_DETAIL = (
    f"datum.mark && length(datum.detail_line) * {LETTER_PIXELS:.2f} > bandwidth('x') ? "
    "datum.mark : datum.detail_line"
)
TEXT_LINE_PIXELS = 16  # of a line of text in a bar
# What a bar of a phone says, which has no room for one line.
TWO_LINES = (
    "isValid(datum.value) ? [datum.text + ' · ' + datum.detail_line, datum.machine_line] : "
    "datum.summary"
)
BESIDE_TICK = alt.ExprRef("width - 32")
TICK_PLACE = 11  # pixels of a tick from the upper right corner of its cell
LOWEST = "height - 54"  # of a line
IS_SMALL = "(0 * width + containerSize()[0]) < 600"  # a line, likewise
DEAREST = 4  # times the least value, from which on a cell is red
CHEAP, DEAR = "#10896D", "#C93F03"  # of the palette: green is cheap, red is dear
SHADE = 0.22
BEHIND_TEXT = 0.45  # opacity of a line that passes behind figures
GAPS = alt.Scale(paddingInner=0.04)  # between cells
PLANS = ROWS.transform_calculate(part="'plan'")
IS_PLAN = "datum.mark == 'plan'"
WORDS = alt.Description("description:N")  # of a mark, for those who do not see it
TICKS = ROWS.transform_filter("isValid(datum.value)").transform_calculate(
    part="'tick'", tick_words="datum.tick_text + ': ' + datum.description"
)


@once
def matrix(ink: Ink, rows: int, is_narrow: bool = False) -> Spec:
    """Cells of two axes, shaded by how often they cost the least, with value, time and machine.

    Gray cells do not qualify. Where a column is narrow its cells have the value alone; the chart
    follows the window. `is_narrow` makes the rows of a phone low. Reads
    calc.charts.choices.choices_table and `is_kept`.
    """
    x = alt.X("column:N", sort=alt.EncodingSortField("column_rank", op="min"), title=None).axis(
        orient="top",
        labelAngle=_either(IS_NARROW, -90, 0),
        labelAlign=_either(IS_NARROW, "'left'", "'center'"),
        labelBaseline=_either(IS_NARROW, "'middle'", "'bottom'"),
        labelOverlap=False,
        **_look(ink, 140),
    )
    x, y = x.scale(GAPS), _rows(ink, 100 if is_narrow else 150).scale(GAPS)
    place: Spec = {"x": x, "y": y}
    ticks = _ticks(ink, _band("column", 1), _band("row", 0), IS_NARROW, inwards=TICK_PLACE)
    chart = alt.layer(*_cells(ink, place), *_cell_texts(ink, place), ticks)
    height = NARROW_ROW * rows + NARROW_HEAD if is_narrow else ROW_HEIGHT * rows + HEAD
    return as_spec(chart, "", ink, height=height)


def _cells(ink: Ink, place: Spec) -> list[alt.Chart]:
    """Return the rectangles, shaded by cost, and frames around the plan and the least value."""
    shade = alt.Color("times:Q", legend=None).scale(
        type="log", domain=[1, DEAREST], clamp=True, range=[CHEAP, DEAR]
    )
    cells = (
        PLANS.transform_filter("isValid(datum.value)")
        .mark_rect(cornerRadius=5, opacity=SHADE, cursor="pointer", tooltip=_tooltip())
        .encode(
            **place,
            color=alt.condition("datum.qualifies", shade, alt.value(ink.faint)),
            description=WORDS,
        )
        .add_params(_pick())
    )
    empty = (
        PLANS.transform_filter("!isValid(datum.value)")
        .mark_rect(cornerRadius=5, color=ink.track, opacity=0.6, tooltip=_tooltip())
        .encode(**place, description=WORDS)
    )
    frames = [
        PLANS.transform_filter(condition)
        .mark_rect(cornerRadius=5, filled=False, stroke=color, strokeWidth=3, aria=False)
        .encode(**place)
        for condition, color in (("datum.mark && datum.mark != 'plan'", CHEAP), (IS_PLAN, BLUE))
    ]
    return [cells, empty, *frames]


def _cell_texts(ink: Ink, place: Spec) -> list[alt.Chart]:
    """Return three lines of text in a wide cell, or one figure in a narrow one."""
    room = alt.ExprRef("bandwidth('x') - 4")
    value = _text(
        ink,
        dy=_either(IS_NARROW, 0, -15),
        fontSize=_either(IS_NARROW, SIZE - 2, SIZE + 3),
        fontWeight="bold",
        limit=room,
        text=_either(IS_NARROW, "datum.figure", "datum.cell_text"),
    )
    lines = [
        _text(
            ink,
            dy=dy,
            fontSize=SIZE - 1,
            opacity=_either(IS_NARROW, 0, 1),
            limit=room,
            text=alt.ExprRef(text),
        )
        for dy, text in ((4, MARK_OR_DETAIL), (19, "datum.machine_line"))
    ]
    return [text.encode(**place) for text in (value, *lines)]


@once
def line(ink: Ink) -> Spec:
    """The value at each count, joined by a line; the plan is orange. A count may have no plan.

    Reads calc.charts.choices.choices_table and `is_kept`.
    """
    x = alt.X("row:N", sort=alt.EncodingSortField("row_rank", op="min"), title=None).axis(
        labelAngle=_either(IS_SMALL, -45, 0),
        labelAlign=_either(IS_SMALL, "'right'", "'center'"),
        labelBaseline=_either(IS_SMALL, "'middle'", "'top'"),
        labelOverlap=False,
        labelLimit=200,
        ticks=False,
        labelFontSize=SIZE,
        labelColor=ink.text,
    )
    # The ticks stand below the names of the machines, which stand below the lowest point.
    y = alt.Y("value:Q", title=None).axis(None).scale(zero=True, range=[alt.ExprRef(LOWEST), 26])
    layers = [*_points(ink, x, y), *_point_texts(ink, x, y)]
    layers.append(_ticks(ink, x, alt.value(alt.ExprRef("height - 12")), IS_SMALL))
    return as_spec(alt.layer(*layers), "", ink, height=LINE_HEIGHT)


def _points(ink: Ink, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return the line, a point on each plan, and words where a count has none."""
    points = PLANS.transform_filter("isValid(datum.value)")
    return [
        points.mark_line(color=BLUE, strokeWidth=2, opacity=BEHIND_TEXT, aria=False).encode(
            x=x, y=y
        ),
        points.mark_point(filled=True, size=140, opacity=1, cursor="pointer", tooltip=_tooltip())
        .encode(x=x, y=y, color=_color(ink), description=WORDS)
        .add_params(_pick()),
        PLANS.transform_filter("!isValid(datum.value)")
        .mark_text(color=ink.text, fontSize=SIZE - 1, tooltip=_tooltip())
        .encode(x=x, y=alt.value(alt.ExprRef(LOWEST)), text="text:N", description=WORDS),
    ]


def _point_texts(ink: Ink, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return value and machine at each point; in a small chart the figure alone."""
    shown = _either(IS_SMALL, 0, 1)
    values: tuple[tuple[str, Any], ...] = (
        ("timed", shown),
        ("figure", _either(IS_SMALL, 1, 0)),
    )
    return [
        *(
            _text(ink, -16, fontSize=SIZE, fontWeight=600, opacity=opacity, has_price=True).encode(
                x=x, y=y, text=f"{name}:N"
            )
            for name, opacity in values
        ),
        _text(ink, 18, fontSize=SIZE - 1, limit=150, opacity=shown, has_price=True).encode(
            x=x, y=y, text="machine_line:N"
        ),
    ]


@once
def bars(ink: Ink, rows: int, is_narrow: bool = False) -> Spec:
    """A bar for each choice with its value and machine; the plan is orange.

    Reads calc.charts.choices.choices_table and `is_kept`.
    """
    y = _rows(ink, 110 if is_narrow else 180, ", " if is_narrow else "")
    x = alt.X("value:Q", title=None).axis(None).scale(zero=True)
    color = _color(ink)
    lines = 2 if is_narrow else 1
    text = _text(
        ink,
        dy=(1 - lines) * TEXT_LINE_PIXELS // 2,
        align="left",
        fontSize=SIZE,
        lineHeight=TEXT_LINE_PIXELS,
        limit=BESIDE_TICK,
    ).transform_calculate(lines=TWO_LINES if is_narrow else "datum.summary")
    layers = [
        PLANS.mark_bar(
            height=18 * lines, cornerRadius=3, cursor="pointer", opacity=0.55, tooltip=_tooltip()
        )
        .encode(x=x, y=y, color=color, description=WORDS)
        .add_params(_pick()),
        text.encode(x=alt.value(28), y=y, text="lines:N"),
        _ticks(ink, alt.value(13), y),
    ]
    height = BAR_HEIGHT + TEXT_LINE_PIXELS * (lines - 1)
    return as_spec(alt.layer(*layers), "", ink, height=height * rows)


def _color(ink: Ink) -> Any:
    """Orange is the plan, blue another choice, gray one that does not qualify."""
    plan = alt.when(IS_PLAN).then(alt.value(ORANGE))
    return plan.when("datum.qualifies").then(alt.value(BLUE)).otherwise(alt.value(ink.faint))


def _pick() -> alt.Parameter:
    """The selection of a part of a cell; every click changes it, so that every click is heard."""
    return alt.selection_point(name=PICK, fields=[CELL, PART], empty=False, toggle="true")


def _rows(ink: Ink, label_width: int, divider: str = "") -> alt.Y:
    """The names of the rows, in the order of the table; `divider` stands between their lines."""
    in_parts = in_lines(divider, SIZE) if divider else {}
    return alt.Y("row:N", sort=alt.EncodingSortField("row_rank", op="min"), title=None).axis(
        labelPadding=8, **_look(ink, label_width), **in_parts
    )


def _look(ink: Ink, label_width: int) -> Spec:
    """The look of an axis whose labels are the choices."""
    return {
        "ticks": False,
        "domain": False,
        "labelFontSize": SIZE,
        "labelLimit": label_width,
        "labelColor": ink.text,
    }


def _text(ink: Ink, dy: Any = 0, has_price: bool = False, **look: Any) -> alt.Chart:
    """A line of text in or beside a mark, whose description says it too."""
    rows = PLANS.transform_filter("isValid(datum.value)") if has_price else PLANS
    return rows.mark_text(dy=dy, color=ink.text, aria=False, **look)


def _band(name: str, share: float) -> Any:
    """A place within the band of a row or a column."""
    channel = alt.X if name == "column" else alt.Y
    sort = alt.EncodingSortField(f"{name}_rank", op="min")
    return channel(f"{name}:N", sort=sort, bandPosition=share)


def _either(condition: str, then: Any, otherwise: Any) -> alt.ExprRef:
    """A value, or an expression, that follows the size of the chart."""
    return alt.ExprRef(f"{condition} ? {then} : {otherwise}")


def _ticks(ink: Ink, x: Any, y: Any, hidden: str = "false", inwards: int = 0) -> alt.Chart:
    """A box on each plan, filled where it is kept for Compare; none where `hidden` holds."""
    fill = alt.condition("datum.is_kept", alt.value(BLUE), alt.value(ink.paper))
    tip = [alt.Tooltip("tick_text:N", title=" ")]
    words = alt.Description("tick_words:N")
    return TICKS.mark_square(
        size=_either(hidden, 0, 130),
        opacity=_either(hidden, 0, 1),
        stroke=ink.faint,
        strokeWidth=1,
        cursor="pointer",
        xOffset=-inwards,
        yOffset=inwards,
    ).encode(x=x, y=y, color=fill, tooltip=tip, description=words)


def _tooltip() -> alt.ExprRef:
    """The facts that a cell has, under its name; `none` is no column, so its line is left out."""
    lines = {
        "title": "datum.row + (datum.column ? ', ' + datum.column : '')",
        "Value": "datum.text",
        "On": "datum.machine || datum.none",
        "Layout": "datum.layout || datum.none",
        "Time or cost": "datum.detail || datum.none",
        "Problem": "datum.why || datum.none",
        "Quality": "datum.quality || datum.none",
    }
    return alt.ExprRef(f"{{{', '.join(f'{title!r}: {fact}' for title, fact in lines.items())}}}")
