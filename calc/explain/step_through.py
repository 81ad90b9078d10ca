"""The moments of a step as surfaces over batch and tokens, for a browser to walk through.

With layout, method and accumulation fixed, a component at a moment is c0 + c1·batch + c2·tokens + c3·batch·tokens; where attention
keeps its scores, also c4·tokens² + c5·batch·tokens². Six estimates give the six numbers: two batches by three lengths, anew
beyond each length at which a sliding window is full.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.columns import ALLOCATED
from calc.engine.pipeline import parts
from calc.engine.stages import at_places
from calc.evaluate import evaluate
from calc.memory.fit import limit_bytes
from calc.memory.moments import MOMENTS, Moment, at_blocks, named_in
from calc.scenarios.lookups import work_of
from calc.table import Table
from calc.units import GIB

COEFFICIENTS = ("c", "c_batch", "c_tokens", "c_batch_tokens", "c_tokens2", "c_batch_tokens2")  # GiB; tokens in thousands of 1,024
THOUSAND = 1024
NO_SLOPE_GIB = 1e-6
POINTS, CHECKED_POINTS, MOST_MISS = len(COEFFICIENTS), 20, 0.005
ZERO_GRAD = Moment("zero_grad", "What stays between steps.", {"optimizer_bytes": "resident_optimizer_bytes"})
STOPS = {
    "training": ("load", "forward", "backward", "gradients done", "optimizer step", "zero_grad"),
    "inference": ("load", "prefill", "decode"),
}
IN_PAGES = np.array([int(name == "kv_cache_bytes") for name in ALLOCATED])  # the components whose length counts in pages
Values = dict[str, np.ndarray]  # the bytes of each component, a value per row


class Bounds(NamedTuple):
    """What can be walked: the batches, and lengths of 1 to `most_steps` times `step_tokens`."""

    least_batch: int
    most_batch: int
    step_tokens: int
    most_steps: int

    @property
    def lengths(self) -> tuple[float, float]:
        """The shortest and the longest sequence. [tokens]"""
        return float(self.step_tokens), float(self.step_tokens * self.most_steps)


class Surfaces(NamedTuple):
    """The coefficients by variant, length, moment and component, and how far the peak misses.

    Columns of `rows`: variant (its number), over_tokens, to_tokens, page_tokens, stop (its number), moment, component, COEFFICIENTS.
    A row counts for lengths from over_tokens to to_tokens, in whole pages where page_tokens is above 0.
    `miss_ratio` is the largest of a variant's checked points.
    """

    rows: pd.DataFrame
    miss_ratio: np.ndarray


def stop_of(moment: Moment) -> str:
    """The stop of the walk that a moment belongs to."""
    if moment.parts.get("gradients_bytes") == "end_gradients_bytes":
        return "gradients done"
    return "optimizer step" if moment.phase == "step" else moment.phase


def moments_of(work: str) -> tuple[Moment, ...]:
    """The moments of a kind of work, and what stays between the steps of a training."""
    return (*MOMENTS[work], *([ZERO_GRAD] if work == "training" else []))


def surfaces(variants: pd.DataFrame, bounds: Bounds, catalogs: Catalogs) -> Surfaces:
    """The coefficients of variants of one kind of work that can all be estimated.

    `batch` and `sequence_tokens` of the variants are not read; lengths that are equal to the sequence are to be left out.
    """
    knots = _knots(variants, bounds, catalogs)
    rng = np.random.default_rng(0)
    points: list[tuple[int, float, float]] = []  # variant, batch, tokens
    for number, lengths in enumerate(knots):
        for least, most in pairwise(lengths):
            quarter = (most - least) // (4 * bounds.step_tokens) * bounds.step_tokens
            between = least + (quarter or (most - least) // 2)
            points += [(number, batch, tokens) for tokens in (least, between, most) for batch in (bounds.least_batch, bounds.most_batch)]
        drawn = zip(
            rng.integers(bounds.least_batch, bounds.most_batch + 1, CHECKED_POINTS),
            rng.integers(1, bounds.most_steps + 1, CHECKED_POINTS) * bounds.step_tokens,
            strict=True,
        )
        points += [(number, float(batch), float(tokens)) for batch, tokens in drawn]
    table = pd.DataFrame(points, columns=["variant", "batch", "tokens"])
    frame = with_point(variants.iloc[table["variant"]], table["batch"], table["tokens"])
    return _solved(table, knots, next(parts(frame, catalogs)).table)


def with_point(scenarios: pd.DataFrame, batch: Any, tokens: Any) -> pd.DataFrame:
    """Scenarios with other batches and lengths; a prompt keeps its share of the length."""
    moved = scenarios.reset_index(drop=True)
    changed = {"batch": np.asarray(batch, dtype=float), "sequence_tokens": np.asarray(tokens, dtype=float)}
    if "prompt_tokens" in moved:
        share = moved["prompt_tokens"].astype(float) / moved["sequence_tokens"].astype(float)
        changed["prompt_tokens"] = np.maximum(np.round(share * changed["sequence_tokens"]), 1)
    return moved.assign(**changed)


def _knots(variants: pd.DataFrame, bounds: Bounds, catalogs: Catalogs) -> list[list[float]]:
    """For each variant the lengths between which its memory has one surface."""
    windows = next(parts(variants, catalogs)).table["stack_window_tokens"]
    windows = np.broadcast_to(windows, (len(windows), len(variants)))
    least, most = bounds.lengths
    return [[least, *sorted({float(window) for window in row if least < window < most}), most] for row in windows.T]


def _moments_at(stages: list[Table], work: str) -> Iterator[tuple[Moment, Values]]:
    """Each moment with the bytes of its components, at every place in a block and a pipeline."""
    for end in stages:
        rows = end["rows"]
        always = {name: end[name] for name in ALLOCATED if name not in named_in(work) and name in end}
        for moment in moments_of(work):
            passing = {name: end[column] for name, column in moment.parts.items()}
            total = sum(passing.values())
            places = np.shape(total)[:-1] if np.ndim(total) > 1 else ()
            alive = at_blocks(np.ones(np.shape(total)), end) if places else np.ones(rows)
            shaped = {name: np.broadcast_to(values, (*places, rows)) * alive for name, values in passing.items()}
            for place in np.ndindex(*places):
                yield (
                    moment,
                    {name: np.broadcast_to(values, rows) for name, values in always.items()}
                    | {name: values[place] for name, values in shaped.items()},
                )


def terms(batch: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """What the coefficients multiply at some points. Shape (points, 6)."""
    one, length = np.ones_like(batch), tokens / THOUSAND
    return np.stack([one, batch, length, batch * length, length**2, batch * length**2], axis=-1)


def in_pages(tokens: np.ndarray, page_tokens: np.ndarray) -> np.ndarray:
    """Lengths in whole pages, where an engine caches in pages. [tokens]"""
    return np.where(page_tokens > 0, np.ceil(tokens / np.maximum(page_tokens, 1)) * page_tokens, tokens)


def _solved(points: pd.DataFrame, knots: list[list[float]], table: Table) -> Surfaces:
    """The surfaces through the first points of each length, checked at the others."""
    stages = [stage for stage, rows in at_places(table) if len(rows) == len(points)]
    work = work_of(table)
    walked = list(_moments_at(stages, work))
    order = STOPS[work]
    stops = np.array([order.index(stop_of(moment)) for moment, _ in walked])
    nothing = np.zeros(len(points))
    values = np.stack([np.stack([parts.get(name, nothing) for name in ALLOCATED]) for _, parts in walked]) / GIB
    totals = values.sum(axis=1)
    tokens, batch = points["tokens"].to_numpy(dtype=float), points["batch"].to_numpy(dtype=float)
    pages = np.broadcast_to(stages[0]["page_tokens"] if work == "inference" else 0.0, len(points))
    multiplied = np.stack([terms(batch, tokens), terms(batch, in_pages(tokens, pages))])
    pieces, misses, start = [], [], 0
    for number, lengths in enumerate(knots):
        checked = slice(start + POINTS * (len(lengths) - 1), start + POINTS * (len(lengths) - 1) + CHECKED_POINTS)
        predicted = np.zeros(CHECKED_POINTS)
        for place, (over, to) in enumerate(pairwise(lengths)):
            solved = slice(start + POINTS * place, start + POINTS * (place + 1))
            kept = _ever_largest(totals[:, solved], stops)
            inverses = np.linalg.pinv(multiplied[:, solved])[IN_PAGES]
            surface = np.einsum("mcp,cqp->mcq", values[kept][:, :, solved], inverses)
            peak = np.max(np.einsum("mcq,cpq->mp", surface, multiplied[IN_PAGES][:, checked]), axis=0)
            beyond = over if place else 0.0
            predicted = np.where((tokens[checked] > beyond) & (tokens[checked] <= to), peak, predicted)
            pieces.append(
                _rows(surface, kept, stops, {"variant": number, "over_tokens": beyond, "to_tokens": to, "page_tokens": pages[start]})
            )
        misses.append(np.max(np.abs(predicted / np.max(totals[:, checked], axis=0) - 1)))
        start = checked.stop
    return Surfaces(pd.concat(pieces, ignore_index=True), np.array(misses))


def _ever_largest(totals: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """The moments that are the largest of their stop somewhere; of equals the first."""
    kept = []
    for number, total in enumerate(totals):
        rivals = [other for other in range(len(totals)) if other != number and stops[other] == stops[number]]
        smaller = any(np.all(totals[other] >= total) and (np.any(totals[other] > total) or other < number) for other in rivals)
        if not smaller:
            kept.append(number)
    return np.array(kept)


def _rows(surface: np.ndarray, kept: np.ndarray, stops: np.ndarray, piece: dict[str, float]) -> pd.DataFrame:
    """A row for each component that a moment has anything of; a moment without any keeps one."""
    has_any = np.any(np.abs(surface) > 1e-9, axis=2)
    has_any[~has_any.any(axis=1), 0] = True
    moment, component = np.nonzero(has_any)
    named: dict[str, Any] = {**piece, "page_tokens": piece["page_tokens"] * IN_PAGES[component]}
    named |= {"stop": stops[kept][moment], "moment": kept[moment], "component": np.array(ALLOCATED, dtype=object)[component]}
    return pd.DataFrame(named | dict(zip(COEFFICIENTS, surface[moment, component].T, strict=True)))


def safe_peaks_gib(scenarios: pd.DataFrame, catalogs: Catalogs) -> np.ndarray:
    """The largest allocated peak whose complete range fits each scenario's card. [GiB]

    Source: calc/memory/overhead.py, overhead_bytes and memory_high_bytes, and fit.py, fits, solved for the peak.
    """
    table = at_places(next(parts(scenarios, catalogs)).table)[0][0]
    taken = table["context_bytes"] + table["graphs_bytes"] + table["matrix_waste_bytes"] + table["reduction_pool_bytes"]
    free = table["gpu_memory_bytes"] - taken - table["least_spread_bytes"]
    per_byte = 1 + table["spread_ratio"]
    cached = np.minimum(free / (per_byte + table["slack_ratio"]), (free - table["least_cached_bytes"] * table["trains"]) / per_byte)
    safe = np.minimum(cached, evaluate(limit_bytes, table)) / GIB
    return np.broadcast_to(np.maximum(safe, 0), len(scenarios))


class Figures(NamedTuple):
    """The peak and its line over the batch; `room`: the largest batch below a safe peak."""

    stop: int
    peak_gib: float
    fixed_gib: float
    each_gib: float
    room: float


def figures_at(rows: pd.DataFrame, batch: float, tokens: float, safe_gib: float) -> Figures:
    """The figures of one variant at a batch and length."""
    none, one = (_gib_at(rows, batches, tokens).groupby(["stop", "moment"])["gib"].sum() for batches in (0, 1))
    total = none + (one - none) * batch
    peak = total.idxmax()
    slopes = (one - none).to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        leaves = np.where(slopes > NO_SLOPE_GIB, (safe_gib - none.to_numpy()) / slopes, np.where(none > safe_gib, 0.0, np.inf))
    room = max(np.floor(leaves.min() + NO_SLOPE_GIB), 0.0)
    return Figures(peak[0], float(total[peak]), float(none[peak]), float(one[peak] - none[peak]), room)


def _gib_at(rows: pd.DataFrame, batch: float, tokens: float) -> pd.DataFrame:
    """The rows for a length, with their `gib`."""
    here = rows[(rows["over_tokens"] < tokens) & (tokens <= rows["to_tokens"])]
    lengths = in_pages(np.full(len(here), float(tokens)), here["page_tokens"].to_numpy())
    multiplied = terms(np.full(len(here), float(batch)), lengths)
    return here.assign(gib=(here[list(COEFFICIENTS)].to_numpy() * multiplied).sum(axis=1))


def at_point(rows: pd.DataFrame, batch: float, tokens: float) -> pd.DataFrame:
    """The rows of the largest moment of each stop at a batch and length, with their `gib`."""
    here = _gib_at(rows, batch, tokens)
    totals = here.groupby(["stop", "moment"])["gib"].transform("sum")
    largest = here[totals == totals.groupby(here["stop"]).transform("max")]
    return largest[largest["moment"] == largest.groupby("stop")["moment"].transform("min")]
