"""Charts of money: prices side by side, cost against memory and GPUs, a run over its tokens, serving over its users."""

import altair as alt

from calc.cost.markets import MARKETS, PLAN_MARKETS
from calc.plan.run_length import run_columns
from views.charts.base import (
    DOLLARS,
    POINT,
    ROWS,
    THREE,
    bar_rows,
    doublings,
    finished,
    log_axis,
    once,
    over_gpus,
    quantity_axis,
    tips,
    verdict_scale,
)
from views.theme import BLUE, FITS, ORANGE


@once
def prices(ink, usd_title, title):
    """Reads label, rank, market, usd. On demand and spot joined by a rule, one row per instance or region."""
    x = alt.X("usd:Q").scale(zero=True).axis(quantity_axis(ink, usd_title, DOLLARS))
    markets = {"domain": [MARKETS[market].label for market in PLAN_MARKETS]}
    spans = ROWS.mark_line(color=ink.line, strokeWidth=2).encode(x=x, y=bar_rows(), detail="label:N")
    points = ROWS.mark_point(filled=True, size=POINT, opacity=1).encode(
        x=x,
        y=bar_rows(),
        color=alt.Color("market:N", title=None).scale(range=[BLUE, ORANGE], **markets).legend(orient="bottom"),
        shape=alt.Shape("market:N", title=None).scale(range=["circle", "diamond"], **markets),
        tooltip=tips(label="Row", market="Market", usd=usd_title),
    )
    return finished(alt.layer(spans, points), title, ink, height=alt.Step(20))


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
    line = ROWS.transform_filter(alt.datum.frontier).mark_line(color=ink.faint, strokeWidth=1.2).encode(**place, order=alt.Order("usd:Q"))
    points = ROWS.mark_point(filled=True, size=POINT, opacity=1).encode(
        **place,
        color=verdict_scale(alt.Color, 3),
        shape=verdict_scale(alt.Shape, 2),
        tooltip=tips(label="Scenario", usd=usd_title, gib="GiB per GPU", verdict="Verdict"),
    )
    names = ROWS.mark_text(align="center", baseline="bottom", dy=-9, color=ink.text, fontSize=11).encode(**place, text="name:N")
    return finished(alt.layer(line, points, names), "Cost against memory", ink, height=360)


@once
def cost_over_gpus(ink, usd_title):
    """Reads plan, gpus, gib, usd, verdict. What the whole instances cost that hold this number of GPUs."""
    return over_gpus(
        ink,
        alt.Y("usd:Q").scale(type="log", nice=False, padding=12).axis(quantity_axis(ink, f"{usd_title}, log scale", DOLLARS, tickCount=6)),
        "Cost against GPU count",
        (),
    )


@once
def cost_over_tokens(ink):
    """Reads billions, tokens_text, usd, hours, market, now. What the run costs at other lengths; the point is the plan."""
    x = log_axis(alt.X("billions:Q"), ink, "billion tokens of the run, log scale", "~g")
    y = log_axis(alt.Y("usd:Q"), ink, "USD for the run, log scale", DOLLARS)
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
        ROWS.transform_filter(alt.datum.now).mark_point(filled=True, size=POINT, opacity=1).encode(x=x, y=y, color=colour, tooltip=tooltip)
    )
    names = [
        ROWS.transform_filter(f"datum.now && {test}")
        .mark_text(align=align, dx=dx, dy=dy, color=ink.text, fontSize=12)
        .encode(x=x, y=y, text=alt.Text("usd:Q", format=DOLLARS))
        for test, align, dx, dy in (
            (f"datum.market == '{MARKETS['on-demand'].label}'", "right", -9, -8),
            (f"datum.market != '{MARKETS['on-demand'].label}'", "left", 9, 9),
        )
    ]
    return finished(alt.layer(lines, points, *names), "Cost over the tokens of the run", ink, height=360)


@once
def cost_over_concurrency(ink):
    """Reads sequences, usd, milliseconds, verdict, name. A million generated tokens as more are served at once."""
    x = alt.X("sequences:Q", **doublings(ink, "sequences at once on a replica", 1024, padding=14))
    y = log_axis(alt.Y("usd:Q"), ink, "USD per million output tokens", DOLLARS)
    tooltip = [
        alt.Tooltip("sequences:Q", title="Sequences at once", format="d"),
        alt.Tooltip("usd:Q", title="USD per million output tokens", format="$,.3~r"),
        alt.Tooltip("milliseconds:Q", title="Milliseconds per token", format=THREE),
        alt.Tooltip("verdict:N", title="Verdict"),
    ]
    words, marks, colours = zip(*[(word, shape, colour) for word, _, shape, colour in FITS.values()][:3], strict=True)
    line = ROWS.mark_line(strokeWidth=2, color=BLUE).encode(x=x, y=y)
    points = ROWS.mark_point(filled=True, size=POINT, opacity=1).encode(
        x=x,
        y=y,
        tooltip=tooltip,
        shape=alt.Shape("verdict:N", title=None).scale(domain=words, range=marks).legend(orient="bottom"),
        color=alt.Color("verdict:N", title=None).scale(domain=words, range=colours),
    )
    names = ROWS.mark_text(dy=-12, color=ink.text, fontSize=11).encode(x=x, y=y, text="name:N")
    return finished(alt.layer(line, points, names), "Cost over sequences served at once, log scales", ink, height=360)
