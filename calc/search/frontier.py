"""What to show of a search: the frontier of cost against time, the three to name, the best of every place."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import Job
from calc.cost.markets import MARKETS
from calc.engine.pipeline import estimate
from calc.search.search import Found

MOST_POINTS = 1500
AS_FAST = 1.02  # nobody can tell 2 % in time apart, and the last of it may cost ten times as much


def frontier(candidates: pd.DataFrame) -> pd.DataFrame:
    """The candidates that no other beats in both cost and time, cheapest first."""
    ordered = candidates.sort_values(["usd", "seconds"], kind="stable")
    before = ordered["seconds"].cummin().shift(fill_value=np.inf)
    return ordered[ordered["seconds"] < before]


def named(candidates: pd.DataFrame) -> dict[str, Any]:
    """The three to name: the cheapest, the cheapest by the hour, the cheapest of those within 2 % of the fastest."""
    fast = candidates[candidates["seconds"] <= candidates["seconds"].min() * AS_FAST]
    ordered = {
        "cheapest": candidates.sort_values(["usd", "seconds"], kind="stable"),
        "cheapest hour": candidates.sort_values(["usd_per_hour", "usd"], kind="stable"),
        "fastest": fast.sort_values(["usd", "seconds"], kind="stable"),
    }
    return {label: rows.index[0] for label, rows in ordered.items()}


def best(found: Found, catalogs: Catalogs, most: int = 30) -> pd.DataFrame:
    """The rows to show, fully estimated: the three to name, the cheapest on every instance and market, the frontier."""
    candidates = found.candidates
    if not len(candidates):
        return pd.DataFrame()
    each = candidates.sort_values(["usd", "seconds"], kind="stable").drop_duplicates(["instance", "market"]).head(most)
    edge = frontier(candidates)
    chosen = candidates.loc[pd.Index([*named(candidates).values(), *each.index, *edge.index]).unique()]
    marks = {"each": chosen.index.isin(each.index), "frontier": chosen.index.isin(edge.index)}
    return rows_of(found, chosen, catalogs).assign(**marks)


def rows_of(found: Found, chosen: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """Candidates as rows of estimate, with what the search found beside; `candidate` is their number."""
    scenarios = found.space.rows(chosen["layout"].to_numpy()).assign(gpu="")
    scenarios[["instance", "region"]] = chosen[["instance", "region"]].to_numpy()
    rows = estimate(scenarios, catalogs, solve=False)
    shown = chosen[["market", *Job._fields]].add_prefix("found_")
    return pd.concat([rows, shown.reset_index(drop=True)], axis=1).assign(candidate=chosen.index)


def chart_points(found: Found, present: tuple[str, float, float]) -> pd.DataFrame:
    """seconds, usd, label, kind of the cheapest plans (other), of the frontier, and of the present plan (now).

    `present` is the label, the seconds and the USD of the present plan.
    """
    edge = frontier(found.candidates)
    table = pd.concat([found.candidates.nsmallest(MOST_POINTS, "usd").assign(kind="other"), edge.assign(kind="frontier")])
    several = found.candidates["region"].nunique() > 1
    table = table.assign(label=[place(row, several) for row in table.to_dict("records")])
    if np.isfinite(present[1]) and np.isfinite(present[2]):
        own = {"kind": "now", "label": present[0], "seconds": present[1], "usd": present[2]}
        table = pd.concat([table, pd.DataFrame([own])])
    return table[["seconds", "usd", "label", "kind"]].reset_index(drop=True)


def place(row: Mapping[str, Any], region: bool = True) -> str:
    """2 × p5.48xlarge, spot, us-east-1."""
    where = f"{row['instances']:.0f} × {row['instance']}, {MARKETS[row['market']].label}"
    return f"{where}, {row['region']}" if region else where
