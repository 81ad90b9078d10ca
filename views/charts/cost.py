"""Charts of money: prices side by side, cost against memory and GPUs."""

import altair as alt

from calc.cost.markets import MARKETS, PLAN_MARKETS
from views.charts.base import DOLLARS, POINT, ROWS, bar_rows, finished, once, over_gpus, quantity_axis, tips, verdict_scale
from views.theme import BLUE, ORANGE


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
