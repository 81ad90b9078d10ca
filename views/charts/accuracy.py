"""The charts of the Accuracy page: predicted against true, and the error by family."""

import altair as alt

from views.charts.base import ROWS, Spec, as_spec, bar_rows, once, quantity_axis, tips
from views.shared.theme import COMPONENT_COLORS, Ink

# One more than there are colors, so that color and shape never repeat together; the last is a
# star.
STAR = "M0,-1L.3,-.3L1,0L.3,.3L0,1L-.3,.3L-1,0L-.3,-.3Z"
SHAPES = (
    "circle",
    "square",
    "cross",
    "diamond",
    "triangle-up",
    "triangle-down",
    "triangle-right",
    "triangle-left",
    STAR,
)
TICKS = (-0.1, -0.03, -0.01, -0.001, 0, 0.001, 0.01, 0.03, 0.1)


@once
def predicted_against_truth(ink: Ink, unit: str, truth: str, title: str) -> Spec:
    """A point for each case on log axes: predicted against measured memory.

    Columns: measured, predicted, group, case, model, error_ratio.
    """
    log = alt.Scale(type="log", nice=False, padding=12)
    x = alt.X("measured:Q").scale(log).axis(quantity_axis(ink, f"{truth}, {unit}", tickCount=6))
    y = alt.Y("predicted:Q").scale(log).axis(quantity_axis(ink, f"predicted, {unit}", tickCount=6))
    agreement = ROWS.mark_line(color=ink.faint, strokeDash=[5, 4]).encode(
        x=x, y=alt.Y("measured:Q").scale(log)
    )
    kinds = (
        alt.Color("group:N", title=None)
        .scale(range=list(COMPONENT_COLORS.values()))
        .legend(orient="bottom", columns=3, symbolOpacity=1, labelLimit=0)
    )
    points = ROWS.mark_point(size=40, opacity=1).encode(
        x=x,
        y=y,
        color=kinds,
        shape=alt.Shape("group:N", title=None).scale(range=list(SHAPES)),
        tooltip=tips(
            case="Case",
            model="Model",
            group="Group",
            measured=f"True, {unit}",
            predicted=f"Predicted, {unit}",
            error_ratio="Error",
        ),
    )
    return as_spec(alt.layer(agreement, points), title, ink, height=420)


@once
def error_by_family(ink: Ink) -> Spec:
    """The signed error of each case by family; the scale is finest near zero.

    Columns: label, rank, error_ratio, case, group, model.
    """
    scale = alt.Scale(type="symlog", constant=0.0005, nice=False, padding=10)
    axis = quantity_axis(
        ink, "estimate over truth, less one; scale finer near zero", "+.1~%", values=list(TICKS)
    )
    zero = ROWS.mark_rule(color=ink.faint).encode(x=alt.datum(0))
    marks = ROWS.mark_point(filled=True, size=45, opacity=0.5, color=ink.text).encode(
        x=alt.X("error_ratio:Q").scale(scale).axis(axis),
        y=bar_rows(ink, 130),
        tooltip=tips(case="Case", model="Model", group="Group", error_ratio="Error"),
    )
    return as_spec(
        alt.layer(zero, marks),
        "Error of the estimate by family of models",
        ink,
        height=alt.Step(22),
    )
