"""Charts of memory per GPU by phase, with the cards that hold it."""

from typing import Any

import altair as alt

from calc.charts.tables import COMPONENT_LABELS
from views.charts.base import ROWS, SIZE, finished, once, quantity_axis, tips
from views.theme import COMPONENT_COLOURS, Ink


def _colour_of_component(ink: Ink, components: tuple[str, ...], has_legend: bool, columns: int = 2) -> alt.Color:
    # Two columns: a third would be cut off on a phone.
    look: dict[str, Any] = {"columns": columns, "symbolStrokeWidth": 0, "labelLimit": 180, "labelFontSize": SIZE, "labelColor": ink.text}
    return (
        alt.Color("component:N", title=None)
        .scale(domain=[COMPONENT_LABELS[name] for name in components], range=[COMPONENT_COLOURS[name] for name in components])
        .legend(alt.Legend(orient="bottom", **look) if has_legend else None)
    )


def _card_rules(ink: Ink) -> tuple[alt.Chart, alt.Chart]:
    """Dashed rules at the usable memory of the cards, named above their left end."""
    cards = alt.Chart(alt.NamedData("cards"))
    return (
        cards.mark_rule(strokeDash=[4, 4], color=ink.faint, strokeWidth=1).encode(y="card_gib:Q"),
        cards.mark_text(align="left", baseline="bottom", dx=3, dy=-2, color=ink.text, fontSize=SIZE).encode(
            x=alt.value(0), y="card_gib:Q", text="card:N"
        ),
    )


@once
def phases(ink: Ink, components: tuple[str, ...], has_legend: bool = True) -> dict[str, Any]:
    """The components alive in each phase as stacked bars, with the cards as rules.

    Columns: phase, rank, component, order, gib, phase_gib, phase_text, last; cards.
    Without its legend where a list beside it names the colours.
    """
    x = alt.X("phase:N", sort=alt.EncodingSortField("rank", op="min"), title=None).axis(
        labelAngle=0, labelOverlap=False, ticks=False, labelFontSize=SIZE, labelColor=ink.text
    )
    bars = ROWS.mark_bar(stroke=ink.paper, strokeWidth=0.7).encode(
        x=x,
        y=alt.Y("gib:Q", stack="zero").axis(quantity_axis(ink, "GiB per GPU")),
        color=_colour_of_component(ink, components, has_legend),
        order=alt.Order("order:O"),
        tooltip=tips(phase="Phase", component="Component", gib="GiB per GPU"),
    )
    totals = (
        ROWS.transform_filter(alt.datum.last)
        .mark_text(baseline="bottom", dy=-4, fontSize=SIZE, color=ink.text)
        .encode(x=x, y="phase_gib:Q", text="phase_text:N")
    )
    return finished(alt.layer(bars, totals, *_card_rules(ink)), "Allocated memory per GPU by phase", ink, height=330 if has_legend else 260)
