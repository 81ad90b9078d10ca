"""The chart of prices, built as those of charts.py are."""

import altair as alt

from calc.cost.markets import MARKETS, PLAN_MARKETS
from views.charts.memory import DOLLARS, POINT, ROWS, bar_rows, finished, once, quantity_axis, tips


@once
def prices(ink, usd_title, title):
    """Reads label, rank, market, usd. On demand and spot joined by a rule, one row per instance or region."""
    x = alt.X("usd:Q").scale(zero=True).axis(quantity_axis(ink, usd_title, DOLLARS))
    markets = {"domain": [MARKETS[market].label for market in PLAN_MARKETS]}
    spans = ROWS.mark_line(color=ink.line, strokeWidth=2).encode(x=x, y=bar_rows(), detail="label:N")
    points = ROWS.mark_point(filled=True, size=POINT, opacity=1).encode(
        x=x,
        y=bar_rows(),
        color=alt.Color("market:N", title=None).scale(range=["#0072B2", "#E69F00"], **markets).legend(orient="bottom"),
        shape=alt.Shape("market:N", title=None).scale(range=["circle", "diamond"], **markets),
        tooltip=tips(label="Row", market="Market", usd=usd_title),
    )
    return finished(alt.layer(spans, points), title, ink, height=alt.Step(20))
