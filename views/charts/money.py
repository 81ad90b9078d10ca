"""The chart of what two plans have cost since the start, over days."""

import altair as alt

from views.charts.base import (
    DOLLARS,
    POINT,
    ROWS,
    SIZE,
    TICKS,
    Spec,
    as_spec,
    once,
    quantity_axis,
    rank_colors,
)
from views.shared.theme import Ink

HEIGHT = 300


@once
def over_days(ink: Ink) -> Spec:
    """Lines of USD over days, with a dashed rule on the day from which one line costs less.

    Columns: day, usd, line, rank, name and name_y (at its end), even (a crossing), x_ticks.
    """
    days = quantity_axis(
        ink,
        "days since the start",
        ",d",
        grid=False,
        values=alt.ExprRef(TICKS.format(channel="x")),
    )
    x = alt.X("day:Q").axis(days).scale(alt.Scale(nice=False))
    usd = quantity_axis(ink, "$ since the start", DOLLARS)
    y = alt.Y("usd:Q").axis(usd).scale(alt.Scale(zero=True))
    color = rank_colors()
    dash = alt.StrokeDash(
        "rank:O", scale=alt.Scale(domain=[0, 1], range=[[1, 0], [6, 4]]), legend=None
    )
    tooltip = [
        alt.Tooltip("line:N", title=" "),
        alt.Tooltip("day:Q", title="Day"),
        alt.Tooltip("usd:Q", title="Cost", format="$,.0f"),
    ]
    layers = [
        ROWS.mark_line(strokeWidth=2).encode(
            x=x, y=y, color=color, strokeDash=dash, tooltip=tooltip
        ),
        ROWS.transform_filter("datum.even")
        .mark_rule(color=ink.text, strokeDash=[2, 3])
        .encode(x=x),
        ROWS.transform_filter("datum.even")
        .mark_point(size=3 * POINT, color=ink.text, opacity=1)
        .encode(x=x, y=y),
        ROWS.transform_filter("datum.name != ''")
        .mark_text(align="left", dx=8, fontSize=SIZE, color=ink.text)
        .encode(x=alt.value("width"), y=alt.Y("name_y:Q"), text="name:N"),
    ]
    return as_spec(alt.layer(*layers), "Cost since the start", ink, height=HEIGHT)
