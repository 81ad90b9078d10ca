"""Candidates as rows: the best of each type, estimated rows with their cost, the frontier."""

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
from calc.search.facts import NEVER_RATIO, Miss
from calc.search.free_choices import COUNTS
from calc.search.limit_percentiles import goodput_ratio
from calc.search.ranking import Ranking
from calc.search.search_results import inputs_of
from calc.table import Words, key_codes, stack, take

PAID = ("usd", "hours", "usd_per_hour", "seconds", "instances", "billed_hours", "billed_gpu_hours")
EDGE_COLUMNS = ["hours", "usd", "seconds", "instance", "instances_needed", "market", "region"]


def _groups(ranked: Ranking, compared: tuple[str, ...]) -> np.ndarray:
    """A number for each candidate, equal for the same type, market and compared values."""
    candidates = ranked.candidates
    group = candidates.place_number * len(ranked.job.markets) + candidates.market_number
    for name in compared:
        if name in COUNTS:
            codes, count = key_codes(getattr(candidates, name))
        else:
            codes_of_layouts, count = key_codes(ranked.grid.layouts[name])
            codes = codes_of_layouts[candidates.layout_number]
        group = group * count + codes
    return group


def best_of_places(ranked: Ranking, compared: tuple[str, ...] = (), leader: int = -1) -> np.ndarray:
    """Return the best candidate of each type, market and compared value, the best first.

    `leader`: the candidate that comes first and represents its group, if any.
    """
    candidates, classes = ranked.candidates, ranked.classes
    group = _groups(ranked, compared)
    best_class = np.full(group.max(initial=0) + 1, ranking.EXCLUDED)
    np.minimum.at(best_class, group, classes)
    shown = np.flatnonzero((classes == best_class[group]) & (classes != ranking.EXCLUDED))
    usd = np.where(np.isnan(candidates.usd), candidates.usd_per_hour, candidates.usd)
    outside = classes == ranking.EXCEEDS_LIMIT
    cost = np.where(outside, ranking.distance(ranked.limits), usd)[shown]
    ties = [
        np.where(outside, 10 * candidates.runs + candidates.fits, 0),
        np.where(outside, usd, 0),
        *ranked.ties,
    ]
    best = ranking.best_each(shown, group[shown], cost, ties)
    if leader >= 0:
        best = np.array([leader, *best[group[best] != group[leader]]], dtype=int)
    return best[np.lexsort((usd[best], classes[best], best != leader))]


def inputs_of_candidates(ranked: Ranking, chosen: np.ndarray) -> Columns:
    """The layout, place and region of chosen candidates, as columns of a scenario."""
    grid, candidates = ranked.grid, ranked.candidates.take(chosen)
    columns: Columns = take(grid.layouts | {"rows": grid.layout_count}, candidates.layout_number)
    columns |= {
        "batch": candidates.batch,
        "accumulation_steps": candidates.accumulation_steps,
    }
    for name in ("instance", "gpu") if ranked.job.have else ("instance",):
        columns[name] = Words(
            candidates.place_number,
            np.array([getattr(place, name) for place in grid.places], dtype=object),
        )
    columns["region"] = Words(candidates.region_number, np.array(ranked.job.regions, dtype=object))
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
    job, candidates = ranked.job, ranked.candidates.take(chosen)
    figures: Columns = {
        "market": [job.markets[market] for market in candidates.market_number],
        "missed_limits": [
            "+".join(miss.limit for miss in misses) for misses in misses_of(ranked, chosen)
        ],
    }
    figures |= {name: getattr(candidates, name) for name in PAID}
    figures |= (
        dict.fromkeys(("usd", "usd_per_hour"), np.full(len(chosen), np.nan)) if job.have else {}
    )
    figures["obtainable"] = [CLASSES[rank] for rank in candidates.obtainability_rank]
    return figures


def _goodput_ratio(job: Job, results: Results, rows: slice) -> np.ndarray:
    """Share of a service's requests that meet both limits on time; else empty. [share]"""
    if job.trains or job.ends:
        return np.full(rows.stop - rows.start, np.nan)
    return goodput_ratio(job, lambda name: results.column(name)[rows])


def misses_of(ranked: Ranking, chosen: np.ndarray) -> list[tuple[Miss, ...]]:
    """Return the limits that each of some candidates exceeds."""
    excess = {limit.name: limit.excess[chosen] for limit in ranked.limits}
    step_tokens = ranked.candidates.step_tokens[chosen].tolist()
    instance_gpus = ranked.candidates.instance_gpus[chosen].tolist()
    return [
        tuple(
            _miss(name, float(ratios[row]), step_tokens[row], instance_gpus[row], ranked.job)
            for name, ratios in excess.items()
            if ratios[row] > 0
        )
        for row in range(len(chosen))
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
    """Return the cost, the time, the instances and the place of some candidates."""
    chosen, job, places = ranked.candidates.take(numbers), ranked.job, ranked.grid.places
    columns = {
        "hours": chosen.hours,
        "usd": chosen.usd,
        "seconds": chosen.seconds,
        "instance": [places[number].instance for number in chosen.place_number],
        "instances_needed": chosen.instances,
        "market": [job.markets[number] for number in chosen.market_number],
        "region": [job.regions[number] for number in chosen.region_number],
    }
    return pd.DataFrame(columns, columns=EDGE_COLUMNS)
