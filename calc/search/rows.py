"""Combinations as rows: the best of every instance type, fully estimated rows with their market and money, the frontier."""

from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import results_of
from calc.engine.results import Results
from calc.evaluate import Columns
from calc.search import ranking, sentences
from calc.search.combinations import inputs_of
from calc.search.grid import RECOMPUTES, Grid
from calc.search.inputs import SHARDINGS
from calc.search.places import Place
from calc.search.settle import varied
from calc.table import Words, key_codes, take

EDGE_COLUMNS = ("hours", "usd", "seconds")


def plain_ranks(tried: Grid, places: list[Place], ways: Columns) -> Columns:
    """What ties are decided by beside the ways' own figures: GPUs paid, sharding and recompute by their place among the plainest."""
    ranks: Columns = {"gpus_paid": np.array([place.gpus for place in places])[ways["place"]] * ways["instances"]}
    for name, order in (("sharding", SHARDINGS), ("recompute", RECOMPUTES)):
        words = tried.layouts.get(name)
        ranks[name] = np.zeros(1)
        if isinstance(words, Words):
            place_of = np.array([order.index(word) if word in order else len(order) for word in words.known])[words.codes]
            ranks[name] = place_of[ways["layout"]] if len(place_of) > 1 else place_of
    return ranks


def best_of_places(
    whole: dict[str, Any], tried: Grid, ways: Columns, verdict: np.ndarray, limits: list[ranking.Limit], ties: list[np.ndarray], first: int
) -> np.ndarray:
    """The best combination of every instance type, market and value compared, best first; `first` leads."""
    group = ways["place"] * len(whole["markets"]) + ways["market"]
    for name in varied(whole):
        codes, count = key_codes(ways[name] if name in ways else tried.layouts[name])
        group = group * count + (codes if name in ways else codes[ways["layout"]])
    lightest = np.full(group.max() + 1, ranking.LEFT_OUT)
    np.minimum.at(lightest, group, verdict)
    shown = np.flatnonzero((verdict == lightest[group]) & (verdict != ranking.LEFT_OUT))
    usd = np.where(np.isnan(ways["usd"]), ways["usd_per_hour"], ways["usd"])
    outside = verdict == ranking.OUTSIDE
    cost = np.where(outside, ranking.distance(limits), usd)[shown]
    ties = [np.where(outside, 10 * ways["runs"] + ways["fits"], 0), np.where(outside, usd, 0), *ties]
    best = ranking.best_each(shown, group[shown], cost, ties)
    best = np.array([first, *best[group[best] != group[first]]], dtype=int)
    return best[np.lexsort((usd[best], verdict[best], np.arange(len(best)) > 0))]


def rows_of(
    whole: dict[str, Any],
    tried: Grid,
    places: list[Place],
    ways: Columns,
    chosen: np.ndarray,
    limits: list[ranking.Limit],
    catalogs: Catalogs,
) -> tuple[Results, dict[str, Any]]:
    """Combinations estimated, and beside them their market, their money and what they miss."""
    layouts = take(tried.layouts | {"rows": tried.size}, ways["layout"][chosen])
    own: Columns = {"batch": ways["batch"][chosen], "accumulation_steps": ways["accumulation_steps"][chosen]}
    own["instance"] = Words(ways["place"][chosen], np.array([place.instance for place in places], dtype=object))
    own["region"] = Words(ways["region"][chosen], np.array(whole["regions"], dtype=object))
    excess = {limit.name: limit.excess[chosen] for limit in limits}
    misses = [
        "; ".join(sentences.missed(name, ratios[at], whole, step) for name, ratios in excess.items() if ratios[at] > 0)
        for at, step in enumerate(ways["step_tokens"][chosen])
    ]
    figures = {name: ways[name][chosen] for name in ("usd", "hours", "usd_per_hour", "seconds")}
    beside = {"market": [whole["markets"][market] for market in ways["market"][chosen]], "misses": misses, **figures}
    return results_of(inputs_of(whole, layouts | own), catalogs), beside


def edge_of(whole: dict[str, Any], places: list[Place], ways: Columns, on_edge: np.ndarray) -> pd.DataFrame:
    """The frontier: hours, usd, seconds, instance, instances_needed, market."""
    columns: dict[str, Any] = {name: ways[name][on_edge] if ways else [] for name in EDGE_COLUMNS}
    columns["instance"] = [places[place].instance for place in ways["place"][on_edge]] if ways else []
    columns["instances_needed"] = ways["instances"][on_edge] if ways else []
    columns["market"] = [whole["markets"][market] for market in ways["market"][on_edge]] if ways else []
    return pd.DataFrame(columns)
