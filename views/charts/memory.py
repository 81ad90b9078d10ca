"""Charts of memory per GPU: bars by component, and phases with the cards that hold them."""

import altair as alt

from calc.charts.result_tables import COMPONENT_LABELS
from views.charts.base import (
    ROWS,
    SIZE,
    Spec,
    as_spec,
    card_rules,
    legend_of,
    once,
    phases_axis,
    quantity_axis,
    tips,
    with_title,
)
from views.shared.theme import COMPONENT_COLORS, Ink

STEP, BAR = 44, 15  # pixels from row to row, and of a bar


def _component_colors(ink: Ink, components: tuple[str, ...]) -> Spec:
    """One color per component; the legend has two columns, since a third is cut off on a phone."""
    return legend_of(
        ink,
        {COMPONENT_LABELS[name]: COMPONENT_COLORS[name] for name in components},
        2,
        labelLimit=180,
    )


@once
def phases(ink: Ink, components: tuple[str, ...]) -> Spec:
    """The components alive in each phase as stacked bars, with the cards as rules.

    Columns: phase, rank, component, order, gib, phase_gib, phase_text, last; cards.
    """
    x = phases_axis(ink)
    bars = ROWS.mark_bar(stroke=ink.paper, strokeWidth=0.7).encode(
        x=x,
        y=alt.Y("gib:Q", stack="zero").axis(quantity_axis(ink, "GiB per GPU")),
        color=alt.Color("component:N", **_component_colors(ink, components)),
        order=alt.Order("order:O"),
        tooltip=tips(phase="Phase", component="Component", gib="GiB per GPU"),
    )
    totals = (
        ROWS.transform_filter(alt.datum.last)
        .mark_text(baseline="bottom", dy=-4, fontSize=SIZE, color=ink.text)
        .encode(x=x, y="phase_gib:Q", text="phase_text:N")
    )
    return as_spec(
        alt.layer(bars, totals, *card_rules(ink)),
        "Allocated memory per GPU by phase",
        ink,
        height=330,
    )


def bars(ink: Ink, components: tuple[str, ...], title: str) -> Spec:
    """A stacked bar of memory by component for each row, all on one scale.

    Columns: rank, label, value_text, component, order, gib, share_ratio, card_gib, fits, last.
    """
    return with_title(_bars(ink, components), title)


@once
def _bars(ink: Ink, components: tuple[str, ...]) -> Spec:
    """Stacked bars on the track of the card; hollow where the memory does not fit."""
    up = alt.Y("rank:O", axis=None)
    across = alt.X("gib:Q", stack="zero").axis(quantity_axis(ink, "GiB per GPU", tickCount=6))
    last = ROWS.transform_filter("datum.last")
    look = _component_colors(ink, components)
    fill = alt.Fill("component:N", **look)
    stroke = alt.Stroke("component:N", **look)
    bar: Spec = {
        "x": across,
        "y": up,
        "order": alt.Order("order:O"),
        "tooltip": tips(label=" ", component="Component", gib="GiB per GPU", share_ratio="Share"),
    }
    size: Spec = {"height": BAR, "yOffset": 8}
    layers = [
        last.mark_bar(color=ink.track, height=BAR + 4, yOffset=8).encode(
            x=alt.X("card_gib:Q"), y=up
        ),
        ROWS.transform_filter("datum.fits != 'no'")
        .mark_bar(stroke=ink.paper, strokeWidth=0.7, **size)
        .encode(**bar, fill=fill),
        ROWS.transform_filter("datum.fits == 'no'")
        .mark_bar(fillOpacity=0.15, strokeWidth=1.4, **size)
        .encode(**bar, fill=fill, stroke=stroke),
        last.mark_tick(color=ink.text, thickness=1.6, height=BAR + 4, yOffset=8).encode(
            x="card_gib:Q", y=up
        ),
        last.mark_text(
            align="left", baseline="bottom", dy=-4, fontSize=SIZE, color=ink.text
        ).encode(x=alt.value(0), y=up, text="label:N"),
        last.mark_text(
            align="right", baseline="bottom", dy=-4, fontSize=SIZE, color=ink.text
        ).encode(x=alt.value("width"), y=up, text="value_text:N"),
    ]
    return as_spec(alt.layer(*layers), "Memory", ink, height=alt.Step(STEP))
