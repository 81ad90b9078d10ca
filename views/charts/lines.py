"""A chart of named lines on log axes, with the present point ringed."""

import altair as alt

from views.charts.base import (
    LARGE_COUNT,
    POINT,
    ROWS,
    SIZE,
    THREE,
    Spec,
    as_spec,
    log_axis,
    once,
    rank_colors,
    with_title,
)
from views.shared.theme import FITS, Ink

HEIGHT = 260


def over(ink: Ink, title: str, x: tuple[str, str], y: tuple[str, str]) -> Spec:
    """Lines over a quantity; `x` and `y` are the title and number format of an axis.

    Columns: line, part, rank (-1: a rule), x, y, fits, verdict, now, name, name_y, both ticks.
    """
    return with_title(_over(ink, x, y), title)


@once
def _over(ink: Ink, x: tuple[str, str], y: tuple[str, str]) -> Spec:
    """Lines over a logarithmic axis, with named ends, values and rules."""
    across = log_axis(alt.X("x:Q"), ink, *x, padding=8)
    up = log_axis(alt.Y("y:Q"), ink, *y)
    color = rank_colors()
    place = {"x": across, "y": up, "color": color}
    tooltip = [
        alt.Tooltip("line:N", title=" "),
        alt.Tooltip("x:Q", title=x[0], format=THREE if x[1] == LARGE_COUNT else x[1]),
        alt.Tooltip("y:Q", title=y[0], format=y[1]),
        alt.Tooltip("verdict:N", title="Verdict"),
    ]
    shape = alt.Shape(
        "fits:N",
        scale=alt.Scale(domain=list(FITS), range=[row[2] for row in FITS.values()]),
        legend=None,
    )
    mark = {**place, "shape": shape, "tooltip": tooltip}
    points = ROWS.transform_filter("datum.rank >= 0")
    layers = [
        ROWS.transform_filter("datum.rank < 0")
        .mark_rule(strokeDash=[5, 4], color=ink.text, strokeWidth=1.2)
        .encode(y=up),
        points.mark_line(strokeWidth=2).encode(**place, detail="part:N"),
        ROWS.transform_filter("datum.name != ''")
        .mark_rule(color=ink.line, strokeDash=[2, 2])
        .encode(x=across, y=up, x2=alt.value("width"), y2="name_y:Q"),
        points.transform_filter("datum.fits == 'no'")
        .mark_point(filled=False, size=POINT, opacity=1, fill=ink.paper, strokeWidth=1.6)
        .encode(**mark),
        points.transform_filter("datum.fits != 'no'")
        .mark_point(filled=True, size=POINT, opacity=1)
        .encode(**mark),
        ROWS.transform_filter("datum.now")
        .mark_point(size=3 * POINT, color=ink.text, strokeWidth=1.2, opacity=1)
        .encode(x=across, y=up),
    ]
    return as_spec(alt.layer(*layers, *_names(color, ink)), x[0], ink, height=HEIGHT)


def _names(color: alt.Color, ink: Ink) -> list[alt.Chart]:
    """The names at the right end of the chart, those of lines with a square of their color."""
    names = ROWS.transform_filter("datum.name != ''")
    end = {"y": alt.Y("name_y:Q"), "x": alt.value("width")}
    return [
        names.transform_filter("datum.rank >= 0")
        .mark_point(shape="square", filled=True, size=60, opacity=1, xOffset=6)
        .encode(**end, color=color),
        names.mark_text(align="left", dx=14, fontSize=SIZE, color=ink.text).encode(
            **end, text="name:N"
        ),
    ]
