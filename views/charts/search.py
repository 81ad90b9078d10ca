"""Charts of the search and of a run; built as those of charts.py are."""

import altair as alt

from calc.cost.markets import PLAN_MARKETS
from calc.plan.run_length import run_columns
from views.charts.memory import DOLLARS, POINT, ROWS, THREE, finished, once, quantity_axis
from views.theme import COMPONENT_COLOURS

BLUE, ORANGE, RED = "#0072B2", "#E69F00", "#D55E00"


def _log(channel, ink, title, number=THREE):
    axis = quantity_axis(ink, title, number, tickCount=5)
    axis.gridOpacity = 0.25  # a log axis has ten lines to the decade
    return channel.scale(alt.Scale(type="log", nice=False, padding=28)).axis(axis)


@once
def cost_against_time(ink, time_title, usd_title):
    """Reads time, usd, label, name, side, kind (way, frontier, present). The best way for each time is joined."""
    x, y = _log(alt.X("time:Q"), ink, time_title), _log(alt.Y("usd:Q"), ink, usd_title, DOLLARS)
    tooltip = [
        alt.Tooltip("label:N", title="Plan"),
        alt.Tooltip("time:Q", title=time_title.capitalize(), format=THREE),
        alt.Tooltip("usd:Q", title=usd_title, format="$,.2f"),
    ]
    ways = ROWS.transform_filter("datum.kind == 'way'").mark_point(filled=True, size=22, color=ink.faint, opacity=0.45)
    edge = ROWS.transform_filter("datum.kind == 'frontier'")
    line = edge.mark_line(color=BLUE, interpolate="step-after", strokeWidth=1.5).encode(
        x=x, y=y, order=alt.Order("time:Q")
    )
    points = edge.mark_point(filled=True, size=POINT, color=BLUE, opacity=1)
    present = ROWS.transform_filter("datum.kind == 'present'").mark_point(
        filled=True, size=2 * POINT, color=RED, shape="diamond", opacity=1
    )
    names = [
        ROWS.transform_filter(f"datum.name != '' && datum.side == '{side}'").mark_text(
            align=align, dx=dx, dy=-10, fontSize=11, color=colour, stroke=stroke, strokeWidth=3
        )
        for side, align, dx in (("right", "left", 9), ("left", "right", -9))
        for colour, stroke in ((ink.paper, ink.paper), (ink.text, None))
    ]
    layers = [ways.encode(x=x, y=y, tooltip=tooltip), line]
    layers += [each.encode(x=x, y=y, tooltip=tooltip) for each in (points, present)]
    layers += [each.encode(x=x, y=y, text="name:N") for each in names]
    return finished(alt.layer(*layers), "Cost against time, log scales", ink, height=400)


@once
def cost_over_tokens(ink):
    """Reads tokens, tokens_text, usd, hours, market, now. What the run costs at other lengths; the point is the plan."""
    x = _log(alt.X("tokens:Q"), ink, "billion tokens of the run, log scale", "~g")
    y = _log(alt.Y("usd:Q"), ink, "USD for the run, log scale", DOLLARS)
    colour = (
        alt.Color("market:N", title=None)
        .scale(domain=[run_columns(market)[0] for market in PLAN_MARKETS], range=[BLUE, ORANGE])
        .legend(orient="bottom")
    )
    tooltip = [
        alt.Tooltip("market:N", title="Market"),
        alt.Tooltip("tokens_text:N", title="Tokens"),
        alt.Tooltip("usd:Q", title="USD for the run", format="$,.2f"),
        alt.Tooltip("hours:Q", title="Hours", format=THREE),
    ]
    lines = ROWS.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour)
    points = (
        ROWS.transform_filter(alt.datum.now)
        .mark_point(filled=True, size=POINT, opacity=1)
        .encode(x=x, y=y, color=colour, tooltip=tooltip)
    )
    names = [
        ROWS.transform_filter(f"datum.now && {test}")
        .mark_text(align=align, dx=dx, dy=dy, color=ink.text, fontSize=12)
        .encode(x=x, y=y, text=alt.Text("usd:Q", format=DOLLARS))
        for test, align, dx, dy in (
            ("datum.market == 'on demand'", "right", -9, -8),
            ("datum.market != 'on demand'", "left", 9, 9),
        )
    ]
    return finished(alt.layer(lines, points, *names), "Cost over the tokens of the run", ink, height=360)


@once
def cost_over_concurrency(ink):
    """Reads sequences, usd, milliseconds, verdict, name. A million generated tokens as more are served at once."""
    x = alt.X("sequences:Q", **_doublings(ink))
    y = _log(alt.Y("usd:Q"), ink, "USD per million output tokens", DOLLARS)
    tooltip = [
        alt.Tooltip("sequences:Q", title="Sequences at once", format="d"),
        alt.Tooltip("usd:Q", title="USD per million output tokens", format="$,.3~r"),
        alt.Tooltip("milliseconds:Q", title="Milliseconds per token", format=THREE),
        alt.Tooltip("verdict:N", title="Verdict"),
    ]
    line = ROWS.mark_line(strokeWidth=2, color=BLUE).encode(x=x, y=y)
    points = ROWS.mark_point(filled=True, size=POINT, opacity=1).encode(
        x=x,
        y=y,
        tooltip=tooltip,
        shape=alt.Shape("verdict:N", title=None)
        .scale(domain=["fits", "tight", "does not fit"], range=["circle", "diamond", "cross"])
        .legend(orient="bottom"),
        color=alt.Color("verdict:N", title=None).scale(
            domain=["fits", "tight", "does not fit"], range=[COMPONENT_COLOURS["weights_bytes"], ORANGE, RED]
        ),
    )
    names = ROWS.mark_text(dy=-12, color=ink.text, fontSize=11).encode(x=x, y=y, text="name:N")
    return finished(alt.layer(line, points, names), "Cost over sequences served at once, log scales", ink, height=360)


def _doublings(ink):
    counts = [2**power for power in range(11)]
    axis = quantity_axis(ink, "sequences at once on a replica", "d", values=counts)
    return {"scale": alt.Scale(type="log", base=2, nice=False, padding=14), "axis": axis}
