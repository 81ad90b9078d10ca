"""Points of a chart of cost against time, and the names that fit next to them."""

from typing import Any

import numpy as np
import pandas as pd

from calc.charts.axes import log_share, log_ticks, with_ticks
from calc.units import HOUR_SECONDS, MILLISECONDS

NAME_SHARES = (0.38, 0.075)  # of the chart's width and height that a name takes
LEFT_SHARE = 0.55  # points beyond this share of the width are named on their left
SIGHT_RATIO = 10.0  # of the lowest cost, beyond which nobody pays for speed
NAMED_KINDS = ("now", "frontier")  # in this order; other kinds have no names


def pace(seconds: Any, trains: bool) -> Any:
    """Hours of a training run, milliseconds of a served token. [h or ms]"""
    return seconds / HOUR_SECONDS if trains else seconds * MILLISECONDS


def within_sight(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows whose cost is at most SIGHT_RATIO times the lowest."""
    return rows[rows["usd"] <= SIGHT_RATIO * rows["usd"].min()]


def against_time(rows: pd.DataFrame, trains: bool, unit_ratio: float = 1.0) -> pd.DataFrame:
    """Rows (seconds, usd, label, kind) as points, with the ticks of both axes.

    `unit_ratio` is the size of the unit that the axis shows, in what `seconds` is the time of. For
    example, 30 s of sound are 224 tokens.

    A name is drawn if it covers no earlier one. It stands to the right of its point and above it,
    or to the left and below, away from a frontier that falls to the right.
    """
    rows = rows[(rows["seconds"] > 0) & (rows["usd"] > 0)].reset_index(drop=True)
    table = rows[["label", "kind"]].assign(
        time=pace(unit_ratio * rows["seconds"], trains), cost=rows["usd"]
    )
    x_ticks = log_ticks(table["time"])
    y_ticks = log_ticks(table["cost"])
    across = log_share(table["time"], x_ticks)
    up = log_share(table["cost"], y_ticks)
    left = across > LEFT_SHARE
    center = across + np.where(left, -0.5, 0.5) * NAME_SHARES[0]
    height = up + np.where(left, -0.5, 0.5) * NAME_SHARES[1]
    is_shown = np.zeros(len(table), dtype=bool)
    for kind in NAMED_KINDS:
        mine = np.flatnonzero(table["kind"] == kind)
        for point in [*mine[:1], *mine[:0:-1][:1], *mine[1:-1]]:  # its two ends first
            near = (np.abs(center - center[point]) < NAME_SHARES[0]) & (
                np.abs(height - height[point]) < NAME_SHARES[1]
            )
            is_shown[point] = not (is_shown & near).any()
    return with_ticks(
        table.assign(name=table["label"].where(is_shown, ""), side=np.where(left, "left", "right")),
        x_ticks,
        y_ticks,
    )
