"""One function per chart: the colours of a theme in, a Vega-Lite specification out, built once per process.

A specification holds no data. The page sends its table beside it (`st.vega_lite_chart(frame, spec)`), so a rerun costs
the table and no Altair objects. The columns that a chart reads are named in its first line; calc/plan/plan.py makes them.
"""

from functools import lru_cache

import altair as alt

from views.theme import COMPONENT_COLOURS, COMPONENT_LABELS, FITS

THREE = ",.3~r"
DOLLARS = "$,.3~r"
POINT = 90
PADDING = {"left": 0, "top": 0, "right": 8, "bottom": 4}  # Streamlit's own leaves 20 px below a legend
ROWS = alt.Chart(alt.NamedData("rows"))
once = lru_cache(maxsize=256)


def quantity_axis(ink, title, number=THREE, **more):
    """A quantitative axis with its unit in the title."""
    return alt.Axis(
        title=title, format=number, grid=True, gridColor=ink.line, gridOpacity=0.6, titleFontWeight="normal", **more
    )


NUMBERS = {"gib": THREE, "phase_gib": THREE, "card_gib": THREE, "usd": DOLLARS, "hours": THREE, "gpus": "d",
           "share_ratio": ".0%", "error_ratio": "+.1%", "measured": THREE, "predicted": THREE}  # fmt: skip


def tips(**titles):
    """What hovering shows: each column under its title, numbers with three digits."""
    return [
        alt.Tooltip(f"{name}:Q", title=title, format=NUMBERS[name])
        if name in NUMBERS
        else alt.Tooltip(f"{name}:N", title=title)
        for name, title in titles.items()
    ]


def _doublings(ink, title):
    """The log-2 axis of GPU counts."""
    counts = [2**power for power in range(12)]
    return {"scale": alt.Scale(type="log", base=2, nice=False), "axis": quantity_axis(ink, title, "d", values=counts)}


def bar_rows(label_width=250):
    """One bar or row per label, in the order of the table."""
    return alt.Y("label:N", sort=alt.EncodingSortField("rank", op="min"), title=None).axis(
        labelOverlap=False, labelLimit=label_width, ticks=False, domain=False, labelPadding=8
    )


def _colour_of_component(components, columns=2):
    # Two columns: a third would be cut off on a phone.
    return (
        alt.Color("component:N", title=None)
        .scale(
            domain=[COMPONENT_LABELS[name] for name in components],
            range=[COMPONENT_COLOURS[name] for name in components],
        )
        .legend(orient="bottom", columns=columns, symbolStrokeWidth=0, labelLimit=160)
    )


def _verdicts(channel, index):
    """Shape or colour of a verdict, one legend for both."""
    words = [row[0] for row in FITS.values()]
    return (
        channel("verdict:N", title=None)
        .scale(domain=words, range=[row[index] for row in FITS.values()])
        .legend(orient="bottom", values=words[:3], symbolSize=POINT, symbolOpacity=1)
    )


def _card_rules(ink, axis="x"):
    """Dashed rules at the cards' usable memory (dataset `cards`: card, card_gib, tier), labelled in three tiers."""
    cards = alt.Chart(alt.NamedData("cards"))
    rule = cards.mark_rule(strokeDash=[4, 4], color=ink.faint, strokeWidth=1).encode(**{axis: "card_gib:Q"})
    if axis == "y":
        return (
            rule,
            cards.mark_text(align="left", baseline="bottom", dx=3, dy=-2, color=ink.text, fontSize=11).encode(
                x=alt.value(0), y="card_gib:Q", text="card:N"
            ),
        )
    return (
        rule,
        *(
            cards.transform_filter(alt.datum.tier == tier)
            .mark_text(align="right", baseline="bottom", dx=2, dy=-4 - 13 * tier, color=ink.text, fontSize=11)
            .encode(x="card_gib:Q", y=alt.value(0), text="card:N")
            for tier in range(3)
        ),
    )


def finished(chart, title, ink, **size):
    """The plain dictionary that Streamlit takes: layers of `rows` read the table sent beside the specification."""
    spec = chart.properties(title=alt.Title(title, anchor="start", color=ink.text, offset=14), **size).to_dict()
    layers = [{key: value for key, value in layer.items() if value != {"name": "rows"}} for layer in spec["layer"]]
    fit = {"type": "fit-x" if isinstance(spec["height"], dict) else "fit", "contains": "padding"}
    size = {"height": spec["height"], "autosize": fit, "padding": PADDING}
    return {"title": spec["title"], **size, "layer": layers}


@once
def memory_by_component(ink, components, title="Memory per GPU by component"):
    """Reads label, rank, component, order, gib, share_ratio, card_gib, verdict_text, last; cards."""
    bars = ROWS.mark_bar(stroke=ink.paper, strokeWidth=0.7, height=alt.RelativeBandSize(0.72)).encode(
        x=alt.X("gib:Q", stack="zero").axis(quantity_axis(ink, "GiB per GPU", tickCount=8)),
        y=bar_rows(),
        color=_colour_of_component(components),
        order=alt.Order("order:O"),
        tooltip=tips(
            label="Scenario", component="Component", gib="GiB per GPU", share_ratio="Share", verdict_text="In all"
        ),
    )
    own_card = (
        ROWS.transform_filter(alt.datum.last)
        .mark_tick(color=ink.text, thickness=3, height=alt.RelativeBandSize(0.95))
        .encode(x="card_gib:Q", y=bar_rows(), tooltip=tips())
    )
    totals = (
        ROWS.transform_filter(alt.datum.last)
        .mark_text(align="left", dx=6, color=ink.text, fontSize=12)
        .encode(x=alt.value("width"), y=bar_rows(), text="verdict_text:N")
    )
    return finished(alt.layer(bars, *_card_rules(ink), own_card, totals), title, ink, height=alt.Step(24))


@once
def cost_against_memory(ink, usd_title):
    """Reads usd, gib, verdict, label, name, frontier. What each scenario costs and holds; the best joined and named."""
    place = {
        "x": alt.X("usd:Q")
        .scale(zero=False, nice=False, padding=40)
        .axis(quantity_axis(ink, usd_title, DOLLARS, tickCount=5, labelBound=True)),
        "y": alt.Y("gib:Q")
        .scale(zero=False, nice=False, padding=26)
        .axis(quantity_axis(ink, "GiB per GPU", alt.Undefined, tickCount=6)),  # as many digits as its steps need
    }
    line = (
        ROWS.transform_filter(alt.datum.frontier)
        .mark_line(color=ink.faint, strokeWidth=1.2)
        .encode(**place, order=alt.Order("usd:Q"))
    )
    points = ROWS.mark_point(filled=True, size=POINT, opacity=1).encode(
        **place,
        color=_verdicts(alt.Color, 3),
        shape=_verdicts(alt.Shape, 2),
        tooltip=tips(label="Scenario", usd=usd_title, gib="GiB per GPU", verdict="Verdict"),
    )
    names = ROWS.mark_text(align="center", baseline="bottom", dy=-9, color=ink.text, fontSize=11).encode(
        **place, text="name:N"
    )
    return finished(alt.layer(line, points, names), "Cost against memory", ink, height=360)


def _over_gpus(ink, y, title, rules):
    """A line per plan over the number of GPUs; the shape of a point is its verdict."""
    x = alt.X("gpus:Q", **_doublings(ink, "GPUs, log-2 scale"))
    colour = (
        alt.Color("plan:N", title=None)
        .scale(range=list(COMPONENT_COLOURS.values()))
        .legend(orient="bottom", columns=2, labelLimit=260)
    )
    lines = ROWS.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour)
    points = ROWS.mark_point(filled=True, size=POINT, opacity=1).encode(
        x=x,
        y=y,
        color=colour,
        shape=_verdicts(alt.Shape, 2).legend(None),
        tooltip=tips(plan="Plan", gpus="GPUs", gib="GiB per GPU", usd="USD", verdict="Verdict"),
    )
    return finished(alt.layer(lines, points, *rules), title, ink, height=340)


@once
def memory_over_gpus(ink):
    """Reads plan, gpus, gib, usd, verdict; cards. Memory of the busiest GPU against their number."""
    return _over_gpus(
        ink, alt.Y("gib:Q").axis(quantity_axis(ink, "GiB per GPU")), "Memory against GPU count", _card_rules(ink, "y")
    )


@once
def cost_over_gpus(ink, usd_title):
    """Reads plan, gpus, gib, usd, verdict. What the whole instances cost that hold this number of GPUs."""
    return _over_gpus(
        ink,
        alt.Y("usd:Q")
        .scale(type="log", nice=False, padding=12)
        .axis(quantity_axis(ink, f"{usd_title}, log scale", DOLLARS, tickCount=6)),
        "Cost against GPU count",
        (),
    )


@once
def phases(ink, components):
    """Reads phase, rank, component, order, gib, phase_gib, phase_text, last; cards. What is alive in each phase."""
    x = alt.X("phase:N", sort=alt.EncodingSortField("rank", op="min"), title="Phase, in the order of a step").axis(
        labelAngle=0, ticks=False
    )
    bars = ROWS.mark_bar(stroke=ink.paper, strokeWidth=0.7).encode(
        x=x,
        y=alt.Y("gib:Q", stack="zero").axis(quantity_axis(ink, "GiB per GPU")),
        color=_colour_of_component(components),
        order=alt.Order("order:O"),
        tooltip=tips(phase="Phase", component="Component", gib="GiB per GPU"),
    )
    totals = (
        ROWS.transform_filter(alt.datum.last)
        .mark_text(baseline="bottom", dy=-4, color=ink.text)
        .encode(x=x, y="phase_gib:Q", text="phase_text:N")
    )
    return finished(
        alt.layer(bars, totals, *_card_rules(ink, "y")), "Allocated memory per GPU by phase", ink, height=330
    )


@once
def fits_on(ink):
    """Reads label, rank, gpus_needed, verdict, needed_text. How many of each card hold the scenario."""
    x = alt.X("gpus_needed:Q", **_doublings(ink, "GPUs needed, log-2 scale"))
    stems = ROWS.mark_rule(color=ink.line, strokeWidth=2).encode(x=x, x2=alt.datum(1), y=bar_rows(200))
    points = ROWS.mark_point(filled=True, size=POINT, opacity=1).encode(
        x=x,
        y=bar_rows(200),
        color=_verdicts(alt.Color, 3),
        shape=_verdicts(alt.Shape, 2),
        tooltip=tips(label="Card", needed_text="Needed"),
    )
    words = ROWS.mark_text(align="left", dx=9, color=ink.text, fontSize=12).encode(
        x=x, y=bar_rows(200), text="needed_text:N"
    )
    return finished(alt.layer(stems, points, words), "Fits on: GPUs needed of each card", ink, height=alt.Step(20))
