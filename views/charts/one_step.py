"""Charts of a step of reinforcement learning: what training and rollout hold, and when."""

import altair as alt

from views.charts.base import (
    DIGITS,
    ROWS,
    SIZE,
    Spec,
    as_spec,
    card_rules,
    legend_of,
    once,
    phases_axis,
    quantity_axis,
)
from views.shared.theme import BLUE, INKS, ORANGE, PALETTE, Ink

BAR = 26
POOLS = {"Training": BLUE, "Rollout": ORANGE}
ACTIVITIES = {"rollout": ORANGE, "log-probs": PALETTE[4], "update": BLUE, "new weights": PALETTE[6]}

INSIDE: Spec = {  # the name of a pool, above its bar
    "orient": "left",
    "labelAlign": "left",
    "labelPadding": -6,
    "labelOffset": -24,
    "labelLimit": 320,
}
# Only the bar of an update is dark enough for light letters, in both themes.
ON_BARS = alt.condition(
    "datum.activity == 'update'", alt.value(INKS["dark"].text), alt.value(INKS["light"].text)
)


@once
def two_bars(ink: Ink) -> Spec:
    """Training and rollout beside one another in each phase of a step.

    Columns: phase, rank, pool, gib; cards.
    """
    x = phases_axis(ink)
    of_pool = alt.XOffset("pool:N", sort=list(POOLS))
    y = alt.Y("gib:Q").axis(quantity_axis(ink, "GiB per GPU"))
    bars = ROWS.mark_bar(stroke=ink.paper, strokeWidth=0.7).encode(
        x=x, xOffset=of_pool, y=y, color=alt.Color("pool:N", **legend_of(ink, POOLS, 3))
    )
    values = ROWS.mark_text(baseline="bottom", dy=-3, fontSize=SIZE, color=ink.text).encode(
        x=x, xOffset=of_pool, y="gib:Q", text=alt.Text("gib:Q", format=DIGITS)
    )
    return as_spec(
        alt.layer(bars, values, *card_rules(ink)),
        "Memory by phase of a step, without overhead",
        ink,
        height=300,
    )


@once
def timeline(ink: Ink) -> Spec:
    """When each pool works and waits in one step.

    Columns: pool, rank, activity, start, end, share_ratio.
    """
    up = alt.Y("pool:N", sort=alt.EncodingSortField("rank", op="min"), title=None).axis(
        **INSIDE, domain=False, ticks=False, labelFontSize=SIZE, labelColor=ink.text
    )
    across = alt.X("start:Q").axis(quantity_axis(ink, "seconds of one step"))
    works = ROWS.transform_filter("datum.activity != 'waits'")
    waits = ROWS.transform_filter("datum.activity == 'waits'")
    place = {"x": across, "x2": "end:Q", "y": up}
    layers = [
        waits.mark_bar(color=ink.track, height=BAR, stroke=ink.faint, strokeDash=[3, 3]).encode(
            **place
        ),
        works.mark_bar(height=BAR, stroke=ink.paper, strokeWidth=0.7).encode(
            **place, color=alt.Color("activity:N", **legend_of(ink, ACTIVITIES, 3))
        ),
    ]
    layers += [_names(waits, up, alt.value(ink.text)), _names(works, up, ON_BARS)]
    return as_spec(alt.layer(*layers), "One step, in time", ink, height=alt.Step(76))


def _names(bars: alt.Chart, up: alt.Y, color: object) -> alt.Chart:
    """The activity and its share of the step, in the middle of each bar that is wide enough."""
    names = bars.transform_filter("datum.share_ratio > 0.15").transform_calculate(
        middle="(datum.start + datum.end) / 2",
        words="datum.activity + ' ' + format(datum.share_ratio, '.0%')",
    )
    return names.mark_text(fontSize=SIZE).encode(x="middle:Q", y=up, text="words:N", color=color)
