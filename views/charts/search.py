"""The chart of a search: what the ways cost against the time that they take."""

import altair as alt

from views.charts.base import DOLLARS, POINT, ROWS, THREE, finished, log_axis, once
from views.theme import BLUE, RED


@once
def cost_against_time(ink, time_title, usd_title):
    """Reads time, usd, label, name, side, kind (way, frontier, present). The best way for each time is joined."""
    x, y = log_axis(alt.X("time:Q"), ink, time_title), log_axis(alt.Y("usd:Q"), ink, usd_title, DOLLARS)
    tooltip = [
        alt.Tooltip("label:N", title="Plan"),
        alt.Tooltip("time:Q", title=time_title.capitalize(), format=THREE),
        alt.Tooltip("usd:Q", title=usd_title, format="$,.2f"),
    ]
    ways = ROWS.transform_filter("datum.kind == 'way'").mark_point(filled=True, size=22, color=ink.faint, opacity=0.45)
    edge = ROWS.transform_filter("datum.kind == 'frontier'")
    line = edge.mark_line(color=BLUE, interpolate="step-after", strokeWidth=1.5).encode(x=x, y=y, order=alt.Order("time:Q"))
    points = edge.mark_point(filled=True, size=POINT, color=BLUE, opacity=1)
    present = ROWS.transform_filter("datum.kind == 'present'").mark_point(
        filled=True, size=2 * POINT, color=RED, shape="diamond", opacity=1
    )
    names = [
        ROWS.transform_filter(f"datum.name != '' && datum.side == '{side}'").mark_text(
            align=align, dx=dx, dy=-10, fontSize=11, color=colour, stroke=stroke, strokeWidth=3
        )
        for side, align, dx in (("right", "left", 9), ("left", "right", -9))
        for colour, stroke in ((ink.paper, ink.paper), (ink.text, None))
    ]
    layers = [ways.encode(x=x, y=y, tooltip=tooltip), line]
    layers += [each.encode(x=x, y=y, tooltip=tooltip) for each in (points, present)]
    layers += [each.encode(x=x, y=y, text="name:N") for each in names]
    return finished(alt.layer(*layers), "Cost against time, log scales", ink, height=400)
