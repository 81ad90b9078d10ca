"""Bars of memory, each with its name and values on a line above it."""

from typing import Any

import altair as alt

from calc.charts.tables import COMPONENT_LABELS
from views.charts.base import ROWS, SIZE, finished, once, quantity_axis, tips, titled
from views.theme import COMPONENT_COLOURS, Ink

STEP, BAR = 44, 15  # pixels from row to row, and of a bar


def component_colours(ink: Ink, components: tuple[str, ...]) -> tuple[alt.Fill, alt.Stroke]:
    """Fill and stroke, one colour per component; the legend has two columns to fit a phone."""
    legend = alt.Legend(orient="bottom", columns=2, symbolStrokeWidth=0, labelFontSize=SIZE, labelColor=ink.text, labelLimit=180)
    scale = alt.Scale(domain=[COMPONENT_LABELS[name] for name in components], range=[COMPONENT_COLOURS[name] for name in components])
    return alt.Fill("component:N", title=None, scale=scale, legend=legend), alt.Stroke(
        "component:N", title=None, scale=scale, legend=legend
    )


def memory(ink: Ink, components: tuple[str, ...], title: str) -> dict[str, Any]:
    """A stacked bar of memory by component for each row, all on one scale.

    Columns: rank, label, value_text, component, order, gib, share_ratio, card_gib, fits, last.
    """
    return titled(_memory(ink, components), title)


@once
def _memory(ink: Ink, components: tuple[str, ...]) -> dict[str, Any]:
    up = alt.Y("rank:O", axis=None)
    across = alt.X("gib:Q", stack="zero").axis(quantity_axis(ink, "GiB per GPU", tickCount=6))
    last = ROWS.transform_filter("datum.last")
    fill, stroke = component_colours(ink, components)
    bar: dict[str, Any] = {
        "x": across,
        "y": up,
        "order": alt.Order("order:O"),
        "tooltip": tips(label=" ", component="Component", gib="GiB per GPU", share_ratio="Share"),
    }
    size: dict[str, Any] = {"height": BAR, "yOffset": 8}
    layers = [
        last.mark_bar(color=ink.track, height=BAR + 4, yOffset=8).encode(x=alt.X("card_gib:Q"), y=up),
        ROWS.transform_filter("datum.fits != 'no'").mark_bar(stroke=ink.paper, strokeWidth=0.7, **size).encode(**bar, fill=fill),
        ROWS.transform_filter("datum.fits == 'no'")
        .mark_bar(fillOpacity=0.15, strokeWidth=1.4, **size)
        .encode(**bar, fill=fill, stroke=stroke),
        last.mark_tick(color=ink.text, thickness=1.6, height=BAR + 4, yOffset=8).encode(x="card_gib:Q", y=up),
        last.mark_text(align="left", baseline="bottom", dy=-4, fontSize=SIZE, color=ink.text).encode(x=alt.value(0), y=up, text="label:N"),
        last.mark_text(align="right", baseline="bottom", dy=-4, fontSize=SIZE, color=ink.text).encode(
            x=alt.value("width"), y=up, text="value_text:N"
        ),
    ]
    return finished(alt.layer(*layers), "Memory", ink, height=alt.Step(STEP))
