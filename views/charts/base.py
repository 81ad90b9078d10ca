"""Parts that all charts share: each chart maps a theme's colors to a specification.

A specification is built once per process and holds nothing of the data, not even ticks: the browser
then keeps the chart that it has drawn and moves its marks. The page sends its table beside it
(`st.vega_lite_chart(frame, spec)`), so a rerun costs the table and no Altair objects. The columns
that a chart reads are named in its first line; calc/charts makes them.
"""

from functools import lru_cache
from typing import Any

import altair as alt

from views.shared.theme import PALETTE, Ink

THREE = ",.3~r"  # on an axis: 20, 22.5
DIGITS = ",.3r"  # in a text, as calc.say.numbers writes: 22.0
DOLLARS = "$,.3~r"
LARGE_COUNT = ",.2~s"  # of tokens; d3 writes a billion as G, which people write as B
POINT = 90
SIZE = 13  # pixels of names and values
# Streamlit's own leaves 20 px below a legend.
PADDING = {
    "left": 0,
    "top": 0,
    "right": 8,
    "bottom": 4,
}
ROWS = alt.Chart(alt.NamedData("rows"))
# The ticks of an axis, in words; while there is no table yet, as of an empty chart. `source`:
# Streamlit's name of the table.
TICKS = "(length(data('source')) ? split(data('source')[0].{channel}_ticks, ' ') : ['1', '10'])"
# Numbers of a specification that are lengths in pixels.
LENGTHS = {
    *("fontSize", "labelFontSize", "titleFontSize", "labelLimit", "titleLimit", "lineHeight"),
    *("labelLineHeight", "labelPadding", "titlePadding", "padding", "left", "right", "top"),
    *("bottom", "dx", "dy", "height", "step", "strokeWidth", "cornerRadius"),
}
WALL_RATIO = 24 / SIZE  # letters of 24 pixels are read at four meters
once = lru_cache(maxsize=256)
Spec = dict[str, Any]  # a Vega-Lite specification, as JSON


def quantity_axis(ink: Ink, title: str, number: str = THREE, **more: Any) -> alt.Axis:
    """A quantitative axis titled with its unit, its numbers as large as names."""
    look: Spec = {
        "labelFontSize": SIZE,
        "labelColor": ink.text,
        "titleFontSize": SIZE,
        "titleColor": ink.text,
        "titleFontWeight": "normal",
    }
    return alt.Axis(
        title=title,
        format=number,
        **{"grid": True, "gridColor": ink.line, "gridOpacity": 0.6, **look, **more},
    )


def log_axis(
    channel: alt.X | alt.Y, ink: Ink, title: str, number: str, **scale: Any
) -> alt.X | alt.Y:
    """A channel on a log axis whose ticks come with the table (with_ticks)."""
    ticks = TICKS.format(channel=type(channel).__name__.lower())
    ends = [alt.ExprRef(f"toNumber({ticks}[0])"), alt.ExprRef(f"toNumber(peek({ticks}))")]
    label = f"replace(format(datum.value, '{number}'), 'G', 'B')"
    axis = quantity_axis(
        ink,
        title,
        number,
        **({"labelExpr": label} if number == LARGE_COUNT else {}),
        gridOpacity=0.35,
        labelOverlap="greedy",
        labelSeparation=4,
        values=alt.ExprRef(ticks),
    )
    return channel.scale(alt.Scale(type="log", nice=False, domain=ends, **scale)).axis(axis)


def for_a_wall(spec: Any) -> Any:
    """The specification with larger letters, and with the heights and gaps that they need."""
    if isinstance(spec, list):
        return [for_a_wall(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    return {
        name: part * WALL_RATIO
        if name in LENGTHS and isinstance(part, int | float)
        else for_a_wall(part)
        for name, part in spec.items()
    }


def with_title(spec: Spec, title: str) -> Spec:
    """The specification under this title."""
    return {**spec, "title": {**spec["title"], "text": title}}


NUMBERS = {
    "gib": THREE,
    "phase_gib": THREE,
    "card_gib": THREE,
    "usd": DOLLARS,
    "hours": THREE,
    "gpus": "d",
    "share_ratio": ".0%",
    "error_ratio": "+.1%",
    "measured": THREE,
    "predicted": THREE,
}


def tips(**titles: Any) -> list[alt.Tooltip]:
    """Tooltips: each column under its title, numbers with three digits."""
    return [
        alt.Tooltip(f"{name}:Q", title=title, format=NUMBERS[name])
        if name in NUMBERS
        else alt.Tooltip(f"{name}:N", title=title)
        for name, title in titles.items()
    ]


def bar_rows(ink: Ink, label_width: int = 250, **more: Any) -> alt.Y:
    """One bar or row per label, in the order of the table; `more` is for the axis."""
    return alt.Y("label:N", sort=alt.EncodingSortField("rank", op="min"), title=None).axis(
        labelOverlap=False,
        labelLimit=label_width,
        labelFontSize=SIZE,
        labelColor=ink.text,
        ticks=False,
        domain=False,
        labelPadding=8,
        **more,
    )


def in_lines(divider: str, size: int) -> Spec:
    """The look of labels in several lines, which have a divider between them, beside their mark.

    `size`: pixels of the letters.
    """
    lines = f"split(datum.label, '{divider}')"
    count = f"length({lines})"
    offset = {"test": f"{count} > 1", "expr": f"{-0.55 * size} * ({count} - 1)"}
    return {"labelExpr": lines, "labelOffset": {"condition": offset, "value": 0}}


def phases_axis(ink: Ink) -> alt.X:
    """The phases of a step from left to right, in the order of the table."""
    return alt.X("phase:N", sort=alt.EncodingSortField("rank", op="min"), title=None).axis(
        labelAngle=0, labelOverlap=False, ticks=False, labelFontSize=SIZE, labelColor=ink.text
    )


def rank_colors(field: str = "rank:O") -> alt.Color:
    """A color of the palette for each rank, without a legend."""
    return alt.Color(
        field, scale=alt.Scale(domain=list(range(len(PALETTE))), range=list(PALETTE)), legend=None
    )


def legend_of(ink: Ink, colors: dict[str, str], columns: int, **look: Any) -> Spec:
    """A color for each name, and their legend below the chart."""
    legend = alt.Legend(
        orient="bottom",
        columns=columns,
        symbolStrokeWidth=0,
        labelFontSize=SIZE,
        labelColor=ink.text,
        **look,
    )
    return {
        "title": None,
        "scale": alt.Scale(domain=list(colors), range=list(colors.values())),
        "legend": legend,
    }


def card_rules(ink: Ink) -> tuple[alt.Chart, alt.Chart]:
    """Dashed rules at the usable memory of the cards, named above their left end."""
    cards = alt.Chart(alt.NamedData("cards"))
    names = cards.mark_text(
        align="left", baseline="bottom", dx=3, dy=-2, color=ink.text, fontSize=SIZE
    )
    return (
        cards.mark_rule(strokeDash=[4, 4], color=ink.faint, strokeWidth=1).encode(y="card_gib:Q"),
        names.encode(x=alt.value(0), y="card_gib:Q", text="card:N"),
    )


def as_spec(chart: alt.LayerChart | alt.FacetChart, title: str, ink: Ink, **size: Any) -> Spec:
    """The specification as a plain dictionary; layers of `rows` read the table sent with it."""
    with_title = chart.properties(
        title=alt.Title(title, anchor="start", color=ink.text, offset=14), **size
    )
    # tests/studies/test_comparisons.py holds every chart against the schema.
    spec = with_title.to_dict(validate=False)
    layers = [
        {key: value for key, value in layer.items() if value != {"name": "rows"}}
        for layer in spec["layer"]
    ]
    fit = {"type": "fit-x" if isinstance(spec["height"], dict) else "fit", "contains": "padding"}
    size = {"height": spec["height"], "autosize": fit, "padding": PADDING}
    picks = {"params": spec["params"]} if "params" in spec else {}
    return {"title": spec["title"], **size, **picks, "layer": layers}


def without_table_name(spec: Any) -> Any:
    """Return a specification without its table's name: it reads the table sent with it."""
    if isinstance(spec, dict):
        return {
            key: without_table_name(value)
            for key, value in spec.items()
            if not (key == "data" and value == {"name": "rows"})
        }
    return [without_table_name(value) for value in spec] if isinstance(spec, list) else spec
