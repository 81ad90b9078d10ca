"""The chart of a service's machines by hour of the day or the week."""

import altair as alt
import pandas as pd

from calc.mappings import Arguments
from calc.units import DAY_HOURS
from views.charts.base import ROWS, Spec, as_spec, once, quantity_axis
from views.shared.theme import PALETTE, Ink

HEIGHT = 240
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
NOON = DAY_HOURS // 2


def place_hours(table: pd.DataFrame) -> pd.DataFrame:
    """The hours of a day or a week with their place in it."""
    return table.assign(place=range(len(table)))


@once
def by_hour(ink: Ink, period: str) -> Spec:
    """A bar of instances for each hour of a period, a day or a week.

    Columns: place, day, hour, load_ratio, units, instances.
    """
    ticks: Arguments = {"title": "hour of the day"}
    if period == "week":
        day_name = f"[{', '.join(repr(day) for day in DAYS)}][floor(datum.value / {DAY_HOURS})]"
        noons = [day * DAY_HOURS + NOON for day in range(len(DAYS))]
        ticks = {"title": None, "values": noons, "labelExpr": day_name}
    x = alt.X("place:O").axis(alt.Axis(labelAngle=0, labelColor=ink.text, **ticks))
    y = alt.Y("instances:Q").axis(quantity_axis(ink, "instances", ",d", tickMinStep=1))
    tooltip = [
        alt.Tooltip("day:O", title="Day"),
        alt.Tooltip("hour:O", title="Hour"),
        alt.Tooltip("load_ratio:Q", title="Load, of the peak", format=".0%"),
        alt.Tooltip("instances:Q", title="Instances", format=",d"),
    ]
    bars = ROWS.mark_bar(color=PALETTE[0]).encode(x=x, y=y, tooltip=tooltip)
    return as_spec(alt.layer(bars), "Instances by hour", ink, height=HEIGHT)
