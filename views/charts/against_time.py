"""The chart of what a job costs against the time that it takes."""

import altair as alt

from views.charts.base import DOLLARS, POINT, ROWS, SIZE, THREE, Spec, as_spec, log_axis, once
from views.shared.theme import BLUE, ORANGE, Ink

NAMED_AT: Spec = {  # the side of its point on which a name stands
    "right": {"align": "left", "baseline": "bottom", "dx": 7, "dy": -5},
    "left": {"align": "right", "baseline": "top", "dx": -7, "dy": 5},
}


@once
def cost_against_time(
    ink: Ink,
    time_title: str,
    cost_title: str,
    title: str = "Cost against time",
    height: int = 380,
) -> Spec:
    """Cost against time as points; a line joins the least that each time costs.

    Columns: time, cost, label, name, side, kind (other, frontier, now).
    """
    x = log_axis(alt.X("time:Q"), ink, f"{time_title}, log scale", THREE, padding=14)
    y = log_axis(alt.Y("cost:Q"), ink, f"{cost_title}, log scale", DOLLARS, padding=14)
    place = {
        "x": x,
        "y": y,
        "tooltip": [
            alt.Tooltip("label:N", title=" "),
            alt.Tooltip("time:Q", title=time_title, format=THREE),
            alt.Tooltip("cost:Q", title=cost_title, format="$,.2f"),
        ],
    }
    edge = ROWS.transform_filter("datum.kind == 'frontier'")
    present = ROWS.transform_filter("datum.kind == 'now'")
    layers = [
        ROWS.transform_filter("datum.kind == 'other'")
        .mark_point(filled=True, size=24, color=ink.faint, opacity=0.7)
        .encode(**place),
        edge.mark_line(color=BLUE, interpolate="step-after", strokeWidth=1.5).encode(
            x=x, y=y, order=alt.Order("time:Q")
        ),
        edge.mark_point(filled=True, size=POINT, color=BLUE, opacity=1).encode(**place),
        present.mark_point(
            filled=True, size=2 * POINT, color=ORANGE, stroke=ink.text, shape="diamond", opacity=1
        ).encode(**place),
    ]
    return as_spec(alt.layer(*layers, *_names(x, y, ink)), title, ink, height=height)


def _names(x: alt.X | alt.Y, y: alt.X | alt.Y, ink: Ink) -> list[alt.Chart]:
    """The names beside their points, each on a halo of paper."""
    return [
        ROWS.transform_filter(f"datum.name != '' && datum.side == '{side}'")
        .mark_text(**look, fontSize=SIZE, color=color, stroke=stroke, strokeWidth=3)
        .encode(x=x, y=y, text="name:N")
        for side, look in NAMED_AT.items()
        for color, stroke in ((ink.paper, ink.paper), (ink.text, None))
    ]
