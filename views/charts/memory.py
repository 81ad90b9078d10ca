"""Charts of memory per GPU: by component, by phase, against the number of GPUs, and the cards that hold it."""

import altair as alt

from calc.charts.tables import COMPONENT_LABELS
from views.charts.base import POINT, ROWS, SIZE, bar_rows, doublings, finished, once, over_gpus, quantity_axis, tips, verdict_scale
from views.theme import COMPONENT_COLOURS


def _colour_of_component(ink, components, columns=2):
    # Two columns: a third would be cut off on a phone.
    return (
        alt.Color("component:N", title=None)
        .scale(domain=[COMPONENT_LABELS[name] for name in components], range=[COMPONENT_COLOURS[name] for name in components])
        .legend(orient="bottom", columns=columns, symbolStrokeWidth=0, labelLimit=180, labelFontSize=SIZE, labelColor=ink.text)
    )


def _card_rules(ink, axis="x"):
    """Dashed rules at the cards' usable memory (dataset `cards`: card, card_gib, tier), labelled in three tiers."""
    cards = alt.Chart(alt.NamedData("cards"))
    rule = cards.mark_rule(strokeDash=[4, 4], color=ink.faint, strokeWidth=1).encode(**{axis: "card_gib:Q"})
    if axis == "y":
        return (
            rule,
            cards.mark_text(align="left", baseline="bottom", dx=3, dy=-2, color=ink.text, fontSize=SIZE).encode(
                x=alt.value(0), y="card_gib:Q", text="card:N"
            ),
        )
    return (
        rule,
        *(
            cards.transform_filter(alt.datum.tier == tier)
            .mark_text(align="right", baseline="bottom", dx=2, dy=-4 - 13 * tier, color=ink.text, fontSize=SIZE)
            .encode(x="card_gib:Q", y=alt.value(0), text="card:N")
            for tier in range(3)
        ),
    )


@once
def memory_by_component(ink, components, title="Memory per GPU by component"):
    """Reads label, rank, component, order, gib, share_ratio, card_gib, verdict_text, last; cards."""
    bars = ROWS.mark_bar(stroke=ink.paper, strokeWidth=0.7, height=alt.RelativeBandSize(0.72)).encode(
        x=alt.X("gib:Q", stack="zero").axis(quantity_axis(ink, "GiB per GPU", tickCount=8)),
        y=bar_rows(),
        color=_colour_of_component(ink, components),
        order=alt.Order("order:O"),
        tooltip=tips(label="Scenario", component="Component", gib="GiB per GPU", share_ratio="Share", verdict_text="In all"),
    )
    own_card = (
        ROWS.transform_filter(alt.datum.last)
        .mark_tick(color=ink.text, thickness=3, height=alt.RelativeBandSize(0.95))
        .encode(x="card_gib:Q", y=bar_rows(), tooltip=tips())
    )
    totals = (
        ROWS.transform_filter(alt.datum.last)
        .mark_text(align="left", dx=6, color=ink.text, fontSize=SIZE)
        .encode(x=alt.value("width"), y=bar_rows(), text="verdict_text:N")
    )
    return finished(alt.layer(bars, *_card_rules(ink), own_card, totals), title, ink, height=alt.Step(24))


@once
def memory_over_gpus(ink):
    """Reads plan, gpus, gib, usd, verdict; cards. Memory of the busiest GPU against their number."""
    return over_gpus(ink, alt.Y("gib:Q").axis(quantity_axis(ink, "GiB per GPU")), "Memory against GPU count", _card_rules(ink, "y"))


@once
def phases(ink, components):
    """Reads phase, rank, component, order, gib, phase_gib, phase_text, last; cards. What is alive in each phase."""
    x = alt.X("phase:N", sort=alt.EncodingSortField("rank", op="min"), title="Phase, in the order of a step").axis(
        labelAngle=0,
        ticks=False,
        labelFontSize=SIZE,
        labelColor=ink.text,
        titleFontSize=SIZE,
        titleColor=ink.text,
        titleFontWeight="normal",
    )
    bars = ROWS.mark_bar(stroke=ink.paper, strokeWidth=0.7).encode(
        x=x,
        y=alt.Y("gib:Q", stack="zero").axis(quantity_axis(ink, "GiB per GPU")),
        color=_colour_of_component(ink, components),
        order=alt.Order("order:O"),
        tooltip=tips(phase="Phase", component="Component", gib="GiB per GPU"),
    )
    totals = (
        ROWS.transform_filter(alt.datum.last)
        .mark_text(baseline="bottom", dy=-4, fontSize=SIZE, color=ink.text)
        .encode(x=x, y="phase_gib:Q", text="phase_text:N")
    )
    return finished(alt.layer(bars, totals, *_card_rules(ink, "y")), "Allocated memory per GPU by phase", ink, height=330)


@once
def fits_on(ink):
    """Reads label, rank, gpus_needed, verdict, needed_text. How many of each card hold the scenario."""
    x = alt.X("gpus_needed:Q", **doublings(ink, "GPUs needed, log-2 scale"))
    stems = ROWS.mark_rule(color=ink.line, strokeWidth=2).encode(x=x, x2=alt.datum(1), y=bar_rows(200))
    points = ROWS.mark_point(filled=True, size=POINT, opacity=1).encode(
        x=x,
        y=bar_rows(200),
        color=verdict_scale(alt.Color, 3),
        shape=verdict_scale(alt.Shape, 2),
        tooltip=tips(label="Card", needed_text="Needed"),
    )
    words = ROWS.mark_text(align="left", dx=9, color=ink.text, fontSize=SIZE).encode(x=x, y=bar_rows(200), text="needed_text:N")
    return finished(alt.layer(stems, points, words), "Fits on: GPUs needed of each card", ink, height=alt.Step(20))
