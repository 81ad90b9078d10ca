"""Candidates as rows: the best of each type, estimated rows with money, the frontier."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.obtainability import CLASSES
from calc.engine.pipeline import results_of
from calc.engine.results import Results
from calc.evaluate import Columns
from calc.job.job import Job
from calc.search import ranking
from calc.search.combinations import inputs_of
from calc.search.facts import NEVER_RATIO, Miss
from calc.search.limit_percentiles import goodput_ratio
from calc.search.ranking import Ranking
from calc.table import Words, key_codes, stack, take

PAID = ("usd", "hours", "usd_per_hour", "seconds", "instances", "billed_hours", "billed_gpu_hours")
EDGE_COLUMNS = ["hours", "usd", "seconds", "instance", "instances_needed", "market", "region"]


def best_of_places(ranked: Ranking, compared: tuple[str, ...] = (), leader: int = -1) -> np.ndarray:
    """The best candidate of every type, market and compared value, the best first."""
    candidates, classes, layouts = ranked.candidates, ranked.classes, ranked.grid.layouts
    group = candidates["place"] * len(ranked.job.markets) + candidates["market"]
    for name in compared:
        codes, count = key_codes(candidates[name] if name in candidates else layouts[name])
        group = group * count + (codes if name in candidates else codes[candidates["layout"]])
    lightest = np.full(group.max(initial=0) + 1, ranking.LEFT_OUT)
    np.minimum.at(lightest, group, classes)
    shown = np.flatnonzero((classes == lightest[group]) & (classes != ranking.LEFT_OUT))
    usd = np.where(np.isnan(candidates["usd"]), candidates["usd_per_hour"], candidates["usd"])
    outside = classes == ranking.OUTSIDE
    cost = np.where(outside, ranking.distance(ranked.limits), usd)[shown]
    ties = [
        np.where(outside, 10 * candidates["runs"] + candidates["fits"], 0),
        np.where(outside, usd, 0),
        *ranked.ties,
    ]
    best = ranking.best_each(shown, group[shown], cost, ties)
    if leader >= 0:
        best = np.array([leader, *best[group[best] != group[leader]]], dtype=int)
    return best[np.lexsort((usd[best], classes[best], best != leader))]


def inputs_of_candidates(ranked: Ranking, chosen: np.ndarray) -> Columns:
    """The layout, place and region of chosen candidates, as columns of a scenario."""
    grid, candidates = (
        ranked.grid,
        {name: values[chosen] for name, values in ranked.candidates.items()},
    )
    columns: Columns = take(grid.layouts | {"rows": grid.size}, candidates["layout"])
    columns |= {name: candidates[name] for name in ("batch", "accumulation_steps")}
    for name in ("instance", "gpu") if ranked.job.have else ("instance",):
        columns[name] = Words(
            candidates["place"],
            np.array([getattr(place, name) for place in grid.places], dtype=object),
        )
    columns["region"] = Words(candidates["region"], np.array(ranked.job.regions, dtype=object))
    return columns


def rows_of(ranked: Ranking, chosen: np.ndarray, catalogs: Catalogs) -> tuple[Results, Columns]:
    """Return chosen candidates, estimated; and their market, cost and the limits they exceed."""
    return rows_of_several([(ranked, chosen)], catalogs)


def rows_of_several(
    several: Sequence[tuple[Ranking, np.ndarray]], catalogs: Catalogs
) -> tuple[Results, Columns]:
    """Return chosen candidates of jobs about the same work as one table, as `rows_of` does."""
    inputs = stack([inputs_of_candidates(ranked, chosen) for ranked, chosen in several])
    results = results_of(inputs_of(several[0][0].job, inputs), catalogs)
    figures = [_figures_of(ranked, chosen) for ranked, chosen in several]
    starts = np.cumsum([0, *(len(chosen) for _, chosen in several)])
    for (ranked, _), own, (start, end) in zip(several, figures, pairwise(starts), strict=True):
        own["goodput_ratio"] = _goodput_ratio(ranked.job, results, slice(start, end))
    return results, {name: np.concatenate([own[name] for own in figures]) for name in figures[0]}


def _figures_of(ranked: Ranking, chosen: np.ndarray) -> Columns:
    """The market and the cost of chosen candidates, and the limits that they exceed."""
    job, candidates = (
        ranked.job,
        {name: values[chosen] for name, values in ranked.candidates.items()},
    )
    figures: Columns = {
        "market": [job.markets[market] for market in candidates["market"]],
        "missed_limits": [
            "+".join(miss.limit for miss in misses) for misses in misses_of(ranked, chosen)
        ],
    }
    figures |= {name: candidates[name] for name in PAID}
    figures |= (
        dict.fromkeys(("usd", "usd_per_hour"), np.full(len(chosen), np.nan)) if job.have else {}
    )
    figures["obtainable"] = [CLASSES[hard] for hard in candidates["hard"]]
    return figures


def _goodput_ratio(job: Job, results: Results, rows: slice) -> np.ndarray:
    """Share of requests that keep both limits on time, of a service; else empty. [share]"""
    if job.trains or job.ends:
        return np.full(rows.stop - rows.start, np.nan)
    return goodput_ratio(job, lambda name: results.column(name)[rows])


def misses_of(ranked: Ranking, chosen: np.ndarray) -> list[tuple[Miss, ...]]:
    """Return the limits that each of some candidates exceeds."""
    excess = {limit.name: limit.excess[chosen] for limit in ranked.limits}
    candidates = {
        name: ranked.candidates[name][chosen] for name in ("step_tokens", "instance_gpus")
    }
    return [
        tuple(
            _miss(name, float(ratios[order]), float(step_tokens), float(instance_gpus), ranked.job)
            for name, ratios in excess.items()
            if ratios[order] > 0
        )
        for order, (step_tokens, instance_gpus) in enumerate(zip(*candidates.values(), strict=True))
    ]


def _miss(name: str, ratio: float, step_tokens: float, instance_gpus: float, job: Job) -> Miss:
    """A limit that a candidate exceeds by a ratio, in the limit's own unit."""
    allowed = job.limit(name)
    if name == "instances_most":
        allowed = float(job.most_instances(instance_gpus))
    if name == "obtainable":
        return Miss(name, np.nan, allowed, ratio)
    if name == "step_tokens":
        return Miss(name, step_tokens, allowed, ratio)
    if name in ("users", "requests_per_second"):
        return Miss(name, allowed / ratio, allowed, ratio)
    value = np.inf if ratio > NEVER_RATIO else allowed * ratio
    return Miss(name, value, allowed, ratio)


def money_and_place(ranked: Ranking, numbers: np.ndarray) -> pd.DataFrame:
    """The money, time, instances and place of some candidates."""
    chosen = {name: values[numbers] for name, values in ranked.candidates.items()}
    columns = {name: chosen[name] for name in ("hours", "usd", "seconds")}
    columns["instance"] = [ranked.grid.places[place].instance for place in chosen["place"]]
    columns |= {
        "instances_needed": chosen["instances"],
        "market": [ranked.job.markets[market] for market in chosen["market"]],
    }
    return pd.DataFrame(
        columns | {"region": [ranked.job.regions[region] for region in chosen["region"]]},
        columns=EDGE_COLUMNS,
    )
