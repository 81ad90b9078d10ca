"""What to show of a search: the frontier of cost against time, the three to name, the best of every place."""

import numpy as np
import pandas as pd

from calc.estimate import estimate


def frontier(candidates):
    """The candidates that no other beats in both cost and time, cheapest first."""
    ordered = candidates.sort_values(["usd", "seconds"], kind="stable")
    before = ordered["seconds"].cummin().shift(fill_value=np.inf)
    return ordered[ordered["seconds"] < before]


def named(candidates):
    """The three to name: the cheapest, the cheapest by the hour, the fastest; labels by candidate number."""
    firsts = {
        "cheapest": ["usd", "seconds"],
        "cheapest hour": ["usd_per_hour", "usd"],
        "fastest": ["seconds", "usd"],
    }
    return {label: candidates.sort_values(by, kind="stable").index[0] for label, by in firsts.items()}


def best(found, catalogs, most=30):
    """The rows to show, fully estimated: the three to name, the cheapest on every instance and market, the frontier."""
    candidates = found.candidates
    if not len(candidates):
        return pd.DataFrame()
    each = candidates.sort_values(["usd", "seconds"], kind="stable").drop_duplicates(["instance", "market"]).head(most)
    edge = frontier(candidates)
    chosen = candidates.loc[pd.Index([*named(candidates).values(), *each.index, *edge.index]).unique()]
    scenarios = found.space.rows(chosen["layout"].to_numpy()).assign(gpu="")
    scenarios[["instance", "region"]] = chosen[["instance", "region"]].to_numpy()
    rows = estimate(scenarios, catalogs, solve=False)
    shown = chosen[["market", "instances", "usd_per_hour", "hours", "usd", "seconds"]].add_prefix("found_")
    marks = {
        "candidate": chosen.index,
        "each": chosen.index.isin(each.index),
        "frontier": chosen.index.isin(edge.index),
    }
    return pd.concat([rows, shown.reset_index(drop=True)], axis=1).assign(**marks)
