"""Tables for charts of several lines: points, and a name at the end of each line."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from calc.charts.axes import at_share, log_share, log_ticks, spread_names, with_ticks
from calc.charts.result_tables import word_column

NAME_GAP = 0.095  # of the chart's height: a line of 16 px on 170


def chart_lines(
    rows: pd.DataFrame,
    x: Any,
    y: Any,
    names: Mapping[str, str],
    rules: Sequence[tuple[str, float]] = (),
) -> pd.DataFrame:
    """Rows (line, fits, now) as points of lines over x on log axes, in the order of `names`.

    Columns: line, part, rank (-1: a rule), x, y, fits, now, both ticks, and at the end of each
    line name and name_y.

    `rules` are named values drawn across the chart, such as the memory of cards. A point that has
    no value ends a part of its line.
    """
    table = pd.DataFrame(
        {
            "line": word_column([names[line] for line in rows["line"]]),
            "rank": [list(names).index(line) for line in rows["line"]],
            "x": np.asarray(x, dtype=float),
            "y": np.asarray(y, dtype=float),
            "fits": word_column(rows["fits"]),
            "now": rows["now"].to_numpy(dtype=bool),
        }
    )
    table = table.sort_values(["rank", "x"], kind="stable")
    is_known = (table["x"] > 0) & (table["y"] > 0)
    table = table.assign(part=(~is_known).groupby(table["rank"]).cumsum())[is_known]
    x_ticks = tuple(sorted(set(table["x"]))) or (1.0,)
    positive_rules = [(name, value) for name, value in rules if value > 0]
    if positive_rules:
        table = pd.concat([table, _rules(positive_rules, x_ticks[-1])])
    y_ticks = log_ticks(table["y"])
    last = ~table["line"].duplicated(keep="last").to_numpy()
    places = np.full(len(table), np.nan)
    places[last] = at_share(spread_names(log_share(table["y"][last], y_ticks), NAME_GAP), y_ticks)
    table = table.assign(name=np.where(last, table["line"], ""), name_y=places)
    return with_ticks(table.reset_index(drop=True), x_ticks, y_ticks)


def _rules(rules: Sequence[tuple[str, float]], x: float) -> pd.DataFrame:
    """Named values, each as a point at the right end of the chart."""
    same = {"part": 0, "rank": -1, "x": x, "fits": "", "now": False}
    return pd.DataFrame([{"line": name, "y": value, **same} for name, value in rules])


MOST_MARKETS, DAY_GAP = 4, 0.1  # lines; of the chart's height between two names


def over_days(line: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Prices over time: day, usd, line, rank, name and name_y at the newest, source.

    The markets with the most prices are shown, in the order of `names`; a single price is a point.
    """
    part = line[line["usd_per_hour"].notna()]
    counts = part.groupby("market").size().sort_values(ascending=False, kind="stable")
    first = [name for name in names if name in set(counts.index[:MOST_MARKETS])]
    table = part[part["market"].isin(first)].reset_index(drop=True)
    newest = ~table["market"].duplicated(keep="last").to_numpy()
    usd = table["usd_per_hour"].to_numpy(dtype=float)
    places = np.full(len(table), np.nan)
    top = max(usd, default=1.0)
    places[newest] = spread_names(usd[newest] / top, DAY_GAP) * top
    return pd.DataFrame(
        {
            "day": word_column(table["as_of"]),
            "usd": usd,
            "line": word_column([names[market] for market in table["market"]]),
            "rank": [first.index(market) for market in table["market"]],
            "name": word_column(
                np.where(newest, [names[market] for market in table["market"]], "")
            ),
            "name_y": places,
            "source": word_column(table["source"]),
        }
    )
