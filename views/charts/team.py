"""The chart of a team's plan: each run on its machines, in the window that it has."""

import altair as alt

from views.charts.base import (
    ROWS,
    SIZE,
    Spec,
    as_spec,
    bar_rows,
    in_lines,
    once,
    quantity_axis,
    rank_colors,
)
from views.shared.theme import Ink

STEP = 36  # pixels of a run, whose name may take two lines


@once
def team_chart(ink: Ink) -> Spec:
    """Reads label, rank, pool_rank, where, starts, deadline, begins, ends (ISO) and cost."""
    x = (
        alt.X("begins:T")
        .axis(quantity_axis(ink, "", "%d %b", grid=True, tickCount="day"))
        .scale(alt.Scale(padding=6))
    )
    color = rank_colors("pool_rank:O")
    tips = [
        alt.Tooltip(f"{name}:N", title=title)
        for name, title in (("label", " "), ("where", "On"), ("cost", "Cost"))
    ]
    tips += [
        alt.Tooltip(f"{name}:T", title=title, format="%a %d %b %H:%M")
        for name, title in (("begins", "From"), ("ends", "To"))
    ]
    y = bar_rows(ink, **in_lines("\\n", SIZE))
    layers = [
        ROWS.mark_bar(height=4, color=ink.track).encode(x=alt.X("starts:T"), x2="deadline:T", y=y),
        ROWS.mark_bar(height=14, minBandSize=3).encode(
            x=x, x2="ends:T", y=y, color=color, tooltip=tips
        ),
        ROWS.mark_text(align="left", dx=6, fontSize=SIZE, color=ink.text).encode(
            x="deadline:T", y=y, text="where:N"
        ),
    ]
    return as_spec(
        alt.layer(*layers), "Bar: the run; line: its deadline", ink, height={"step": STEP}
    )
