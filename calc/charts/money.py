"""Table of the chart of cost over days: lines, their names, and where they cross."""

import numpy as np
import pandas as pd

from calc.charts.axes import spread_names

STEPS_DAYS, MOST_TICKS = (5, 30, 60, 90, 180, 360, 720), 8
NAME_GAP = 0.08  # of the chart's height between two names


def money_over_days(days: pd.DataFrame, names: dict[str, str], even_day: float) -> pd.DataFrame:
    """Each column of `names` as a line; `even` at the day from which on the first is less."""
    lines = {column: name for column, name in names.items() if days[column].iloc[-1] > 0}
    top = float(days[list(lines)].max(axis=None)) or 1.0
    ends = spread_names([days[column].iloc[-1] / top for column in lines], NAME_GAP) * top
    parts = [
        pd.DataFrame(
            {
                "day": days["day"],
                "usd": days[column],
                "line": name,
                "rank": list(names).index(column),
            }
        ).assign(
            name=np.where(days["day"] == days["day"].max(), name, ""),
            name_y=end,
            even=(days["day"] == even_day) & (column == next(iter(names))),
        )
        for (column, name), end in zip(lines.items(), ends, strict=True)
    ]
    if not parts:
        return pd.DataFrame()
    last = len(days)
    step = next((step for step in STEPS_DAYS if last / step <= MOST_TICKS), last)
    return pd.concat(parts, ignore_index=True).assign(
        x_ticks=" ".join(map(str, range(step, last + 1, step)))
    )
