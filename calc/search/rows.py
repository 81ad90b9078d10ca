"""Candidates as rows: the best of every instance type, fully estimated rows with their market and money, the frontier."""

from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.obtainability import CLASSES
from calc.engine.pipeline import results_of
from calc.engine.results import Results
from calc.evaluate import Columns
from calc.search import ranking, sentences
from calc.search.arrangements import RECOMPUTES
from calc.search.combinations import Combinations, inputs_of
from calc.search.grid import Grid
from calc.search.inputs import SHARDINGS
from calc.search.places import Place
from calc.search.ranking import Ranking
from calc.table import Words, key_codes, take

EDGE_COLUMNS = ("hours", "usd", "seconds")


def plain_ranks(grid: Grid, places: list[Place], candidates: Columns) -> Columns:
    """What decides ties beside the candidates' own figures: GPUs paid, idle GPUs, the rank of sharding and recompute."""
    gpus = np.array([place.gpus for place in places])[candidates["place"]]
    ranks: Columns = {"gpus_paid": gpus * candidates["instances"], "idle": candidates["gpus"] % gpus > 0}
    for name, order in (("sharding", SHARDINGS), ("recompute", RECOMPUTES)):
        words = grid.layouts.get(name)
        ranks[name] = np.zeros(1)
        if isinstance(words, Words):
            rank = np.array([order.index(word) if word in order else len(order) for word in words.vocabulary])[words.codes]
            ranks[name] = rank[candidates["layout"]] if len(rank) > 1 else rank
    return ranks


def best_of_places(ranked: Ranking, grid: Grid, compared: tuple[str, ...] = (), leader: int = -1) -> np.ndarray:
    """The best candidate of every instance type, market and value of what is compared, the best first; a leader leads."""
    candidates, classes = ranked.candidates, ranked.classes
    group = candidates["place"] * len(ranked.job["markets"]) + candidates["market"]
    for name in compared:
        codes, count = key_codes(candidates[name] if name in candidates else grid.layouts[name])
        group = group * count + (codes if name in candidates else codes[candidates["layout"]])
    lightest = np.full(group.max(initial=0) + 1, ranking.LEFT_OUT)
    np.minimum.at(lightest, group, classes)
    shown = np.flatnonzero((classes == lightest[group]) & (classes != ranking.LEFT_OUT))
    usd = np.where(np.isnan(candidates["usd"]), candidates["usd_per_hour"], candidates["usd"])
    outside = classes == ranking.OUTSIDE
    cost = np.where(outside, ranking.distance(ranked.limits), usd)[shown]
    ties = [np.where(outside, 10 * candidates["runs"] + candidates["fits"], 0), np.where(outside, usd, 0), *ranked.ties]
    best = ranking.best_each(shown, group[shown], cost, ties)
    if leader >= 0:
        best = np.array([leader, *best[group[best] != group[leader]]], dtype=int)
    return best[np.lexsort((usd[best], classes[best], best != leader))]


def telling(ranked: Ranking, grid: Grid) -> np.ndarray:
    """The candidates among which every answer and the frontier are: the best of each place, the fastest at each cost per hour."""
    return np.unique(np.concatenate([best_of_places(ranked, grid), ranking.fastest_alike(ranked.candidates, ranked.qualifying)]))


def rows_of(
    ranked: Ranking, found: Combinations, places: list[Place], chosen: np.ndarray, catalogs: Catalogs
) -> tuple[Results, dict[str, Any]]:
    """Chosen candidates estimated, and beside them their market, their money and the limits that they miss."""
    job, candidates = ranked.job, found.candidates
    layouts = take(found.grid.layouts | {"rows": found.grid.size}, candidates["layout"][chosen])
    columns: Columns = {name: candidates[name][chosen] for name in ("batch", "accumulation_steps")}
    columns["instance"] = Words(candidates["place"][chosen], np.array([place.instance for place in places], dtype=object))
    columns["region"] = Words(candidates["region"][chosen], np.array(job["regions"], dtype=object))
    excess = {limit.name: limit.excess[chosen] for limit in ranked.limits}
    misses = [
        "; ".join(sentences.missed(name, ratios[at], job, step) for name, ratios in excess.items() if ratios[at] > 0)
        for at, step in enumerate(candidates["step_tokens"][chosen])
    ]
    figures = {name: candidates[name][chosen] for name in ("usd", "hours", "usd_per_hour", "seconds")}
    beside = {"market": [job["markets"][market] for market in candidates["market"][chosen]], "misses": misses, **figures}
    beside["obtainable"] = [CLASSES[hard] for hard in candidates["hard"][chosen]]
    return results_of(inputs_of(job, layouts | columns), catalogs), beside


def edge_of(job: dict[str, Any], places: list[Place], candidates: Columns, on_edge: np.ndarray) -> pd.DataFrame:
    """The frontier: hours, usd, seconds, instance, instances_needed, market."""
    columns: dict[str, Any] = {name: candidates[name][on_edge] if candidates else [] for name in EDGE_COLUMNS}
    columns["instance"] = [places[place].instance for place in candidates["place"][on_edge]] if candidates else []
    columns["instances_needed"] = candidates["instances"][on_edge] if candidates else []
    columns["market"] = [job["markets"][market] for market in candidates["market"][on_edge]] if candidates else []
    return pd.DataFrame(columns)
