"""The chart of what an instance asked over the days, a step line for each market."""

import altair as alt

from views.charts.base import (
    DOLLARS,
    POINT,
    ROWS,
    SIZE,
    Spec,
    as_spec,
    once,
    quantity_axis,
    rank_colors,
)
from views.shared.theme import Ink

HEIGHT = 240


@once
def price_history(ink: Ink) -> Spec:
    """Reads day (ISO), usd, line, rank, source, name and name_y (at the newest of its line)."""
    x = (
        alt.X("day:T")
        .axis(quantity_axis(ink, "seen on", "%b %Y", grid=False))
        .scale(alt.Scale(padding=14))
    )
    y = (
        alt.Y("usd:Q")
        .axis(quantity_axis(ink, "USD per instance-hour", DOLLARS))
        .scale(alt.Scale(zero=True))
    )
    color = rank_colors()
    tooltip = [
        alt.Tooltip("line:N", title=" "),
        alt.Tooltip("usd:Q", title="USD per hour", format="$,.4~f"),
        alt.Tooltip("day:T", title="Seen on", format="%Y-%m-%d"),
        alt.Tooltip("source:N", title="Source"),
    ]
    place = {"x": x, "y": y, "color": color}
    layers = [
        ROWS.mark_line(interpolate="step-after", strokeWidth=2).encode(**place),
        ROWS.mark_point(filled=True, size=POINT, opacity=1).encode(**place, tooltip=tooltip),
        ROWS.transform_filter("datum.name != ''")
        .mark_text(align="left", dx=8, fontSize=SIZE, color=ink.text)
        .encode(x=alt.value("width"), y=alt.Y("name_y:Q"), text="name:N"),
    ]
    return as_spec(alt.layer(*layers), "Its price over the days", ink, height=HEIGHT)
