"""Charts of prices, of estimates against measurements, and of cost against time; built as those of charts.py are."""

import altair as alt

from views.charts import DOLLARS, POINT, ROWS, bar_rows, finished, once, quantity_axis, tips
from views.look import COMPONENT_COLOURS


@once
def prices(ink, usd_title, title):
    """Reads label, rank, market, usd. On demand and spot joined by a rule, one row per instance or region."""
    x = alt.X("usd:Q").scale(zero=True).axis(quantity_axis(ink, usd_title, DOLLARS))
    markets = {"domain": ["on demand", "spot"]}
    spans = ROWS.mark_line(color=ink.line, strokeWidth=2).encode(x=x, y=bar_rows(), detail="label:N")
    points = ROWS.mark_point(filled=True, size=POINT, opacity=1).encode(
        x=x,
        y=bar_rows(),
        color=alt.Color("market:N", title=None).scale(range=["#0072B2", "#E69F00"], **markets).legend(orient="bottom"),
        shape=alt.Shape("market:N", title=None).scale(range=["circle", "diamond"], **markets),
        tooltip=tips(label="Row", market="Market", usd=usd_title),
    )
    return finished(alt.layer(spans, points), title, ink, height=alt.Step(20))


@once
def predicted_against_measured(ink, unit_title, title="Predicted against measured"):
    """Reads measured, predicted, group, case, error_ratio. A point per case on two log axes; the line is agreement."""
    log = alt.Scale(type="log", nice=False, padding=12)
    x = alt.X("measured:Q").scale(log).axis(quantity_axis(ink, f"measured, {unit_title}", tickCount=6))
    y = alt.Y("predicted:Q").scale(log).axis(quantity_axis(ink, f"predicted, {unit_title}", tickCount=6))
    agreement = ROWS.mark_line(color=ink.faint, strokeDash=[5, 4]).encode(x=x, y=alt.Y("measured:Q").scale(log))
    points = ROWS.mark_point(size=40, opacity=0.8).encode(
        x=x,
        y=y,
        color=alt.Color("group:N", title=None)
        .scale(range=list(COMPONENT_COLOURS.values()))
        .legend(orient="bottom", columns=4),
        shape=alt.Shape("group:N", title=None),
        tooltip=tips(
            case="Case",
            group="Group",
            measured=f"Measured, {unit_title}",
            predicted=f"Predicted, {unit_title}",
            error_ratio="Error",
        ),
    )
    return finished(alt.layer(agreement, points), title, ink, height=420)


@once
def cost_against_time(ink, time_title="hours of the run", usd_title="USD for the run"):
    """Reads hours, usd, label, name, frontier. The cheapest for each duration, joined and named, on two log axes."""
    place = {
        "x": alt.X("hours:Q")
        .scale(type="log", nice=False, padding=20)
        .axis(quantity_axis(ink, time_title, tickCount=6)),
        "y": alt.Y("usd:Q")
        .scale(type="log", nice=False, padding=20)
        .axis(quantity_axis(ink, usd_title, DOLLARS, tickCount=6)),
    }
    best = ROWS.transform_filter(alt.datum.frontier)
    others = (
        ROWS.transform_filter("!datum.frontier")
        .mark_point(filled=True, size=25, color=ink.faint, opacity=0.5)
        .encode(**place)
    )
    line = best.mark_line(color="#0072B2", interpolate="step-after").encode(**place)
    points = best.mark_point(filled=True, size=POINT, color="#0072B2").encode(
        **place,
        tooltip=tips(label="Plan", hours=time_title, usd=usd_title),
    )
    names = best.mark_text(align="left", dx=8, dy=-8, color=ink.text, fontSize=11).encode(**place, text="name:N")
    return finished(alt.layer(others, line, points, names), "Cost against time", ink, height=380)
