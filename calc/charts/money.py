"""Table of the chart of cost over days: lines, their names, and where they cross."""

import numpy as np
import pandas as pd

from calc.charts.axes import spread_names

STEPS_DAYS, MOST_TICKS = (5, 30, 60, 90, 180, 360, 720), 8
NAME_GAP = 0.08  # of the chart's height between two names


def money_over_days(days: pd.DataFrame, names: dict[str, str], even_day: float) -> pd.DataFrame:
    """Return each column of `names` as a line; `even` marks the day when the first gets cheaper."""
    last_usd = days.iloc[-1]
    columns = [column for column in names if last_usd[column] > 0]
    if not columns:
        return pd.DataFrame()
    top_usd = float(days[columns].max(axis=None))
    names_usd = spread_names([last_usd[column] / top_usd for column in columns], NAME_GAP) * top_usd
    is_last_day = days["day"] == days["day"].max()
    first_column = next(iter(names))
    lines = [
        pd.DataFrame(
            {
                "day": days["day"],
                "usd": days[column],
                "line": names[column],
                "rank": list(names).index(column),
                "name": np.where(is_last_day, names[column], ""),
                "name_y": name_usd,
                "even": (days["day"] == even_day) & (column == first_column),
            }
        )
        for column, name_usd in zip(columns, names_usd, strict=True)
    ]
    ticks = range(_tick_days(len(days)), len(days) + 1, _tick_days(len(days)))
    return pd.concat(lines, ignore_index=True).assign(x_ticks=" ".join(map(str, ticks)))


def _tick_days(days: int) -> int:
    """Days between two ticks of the axis: the first step with few enough ticks. [days]"""
    return next((step for step in STEPS_DAYS if days / step <= MOST_TICKS), days)
