"""The chart of what two plans have cost since the start, over days."""

import altair as alt

from views.charts.base import DOLLARS, POINT, ROWS, SIZE, TICKS, Spec, as_spec, once, quantity_axis
from views.shared.theme import PALETTE, Ink

HEIGHT = 300


@once
def over_days(ink: Ink) -> Spec:
    """Reads day, usd, line, rank, name and name_y (at its end), even (a crossing), x_ticks."""
    x = (
        alt.X("day:Q")
        .axis(
            quantity_axis(
                ink,
                "days since the start",
                ",d",
                grid=False,
                values=alt.ExprRef(TICKS.format(channel="x")),
            )
        )
        .scale(alt.Scale(nice=False))
    )
    y = (
        alt.Y("usd:Q")
        .axis(quantity_axis(ink, "$ since the start", DOLLARS))
        .scale(alt.Scale(zero=True))
    )
    color = alt.Color(
        "rank:O",
        scale=alt.Scale(domain=list(range(len(PALETTE))), range=list(PALETTE)),
        legend=None,
    )
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
