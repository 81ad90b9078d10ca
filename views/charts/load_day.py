"""The chart of a service's machines by hour of the day."""

import altair as alt

from views.charts.base import ROWS, Spec, as_spec, once, quantity_axis
from views.shared.theme import PALETTE, Ink

HEIGHT = 240


@once
def by_hour(ink: Ink) -> Spec:
    """Reads hour, load_ratio, units and instances."""
    x = alt.X("hour:O").axis(alt.Axis(title="hour of the day", labelAngle=0, labelColor=ink.text))
    y = alt.Y("instances:Q").axis(quantity_axis(ink, "instances", ",d", tickMinStep=1))
    tooltip = [
        alt.Tooltip("hour:O", title="Hour"),
        alt.Tooltip("load_ratio:Q", title="Load, of the peak", format=".0%"),
        alt.Tooltip("instances:Q", title="Instances", format=",d"),
    ]
    bars = ROWS.mark_bar(color=PALETTE[0]).encode(x=x, y=y, tooltip=tooltip)
    return as_spec(alt.layer(bars), "Instances by hour", ink, height=HEIGHT)
