"""The moments of a step as surfaces over batch and tokens, for a browser to walk through.

With layout, method and accumulation fixed, a component at a moment is c0 + c1·batch + c2·tokens +
c3·batch·tokens; where attention keeps its scores, also c4·tokens² + c5·batch·tokens². A moment that
is the largest of several such forms bends upwards over the batch: it gets the forms at its smallest
batches and that at its largest, and the largest counts. Where these miss the estimate, as at a
length that fills a window, the lengths are halved.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.columns import ALLOCATED
from calc.engine.pipeline import parts
from calc.engine.stages import at_places
from calc.evaluate import Row, evaluate_all, formulas_of
from calc.memory import serving_share
from calc.memory.fit import fragmentation_ratio, limit_bytes, outside_bytes, sure_limit_bytes
from calc.memory.moments import MOMENTS, WHERE, Moment, at_blocks, named_in
from calc.scenarios.lookups import work_of
from calc.table import Table
from calc.units import GIB

# GiB; tokens in thousands of 1,024.
COEFFICIENTS = ("c", "c_batch", "c_tokens", "c_batch_tokens", "c_tokens2", "c_batch_tokens2")
THOUSAND = 1024
NO_SLOPE_GIB = 1e-6
CHECKED_POINTS, MOST_MISS = 20, 0.005  # of each piece, closer at short lengths; of the peak
SMALLEST, LARGEST, LENGTHS = 4, 2, 3  # batches, and lengths, at which a form can be taken
# Points: of one form, or of several.
FORMS = ([slice(None)], [slice(6), slice(3, 9), slice(6, 12), slice(12, 18)])
SINGULAR = 1e-12  # as much smaller than the largest singular value is none
ZERO_GRAD = Moment(
    "zero_grad",
    "between-steps",
    {"weights_bytes": "stored_weights_bytes", "optimizer_bytes": "resident_optimizer_bytes"},
)
STOPS = {
    "training": ("load", "forward", "backward", "gradients done", "optimizer step", "zero_grad"),
    "inference": ("load", "prefill", "decode"),
}
# The components whose length counts in pages.
IN_PAGES = np.array([int(name == "kv_cache_bytes") for name in ALLOCATED])
Values = dict[str, np.ndarray]  # the bytes of each component, a value per row


class Bounds(NamedTuple):
    """Ranges to walk through: batches, sequence lengths of up to `most_steps`, the plan's."""

    least_batch: int
    most_batch: int
    step_tokens: int
    most_steps: int
    plan_tokens: float = np.nan

    @property
    def lengths(self) -> np.ndarray:
        """All lengths, the shortest first. [tokens]"""
        lengths = np.append(
            self.step_tokens * np.arange(1.0, self.most_steps + 1), self.plan_tokens
        )
        return np.unique(lengths[lengths == lengths])


class Surfaces(NamedTuple):
    """The coefficients by variant, length, moment and component, and how far the peak misses.

    Columns of `rows`: variant (its number), over_tokens, to_tokens, page_tokens, stop (its number),
    moment, component, COEFFICIENTS. A row counts for lengths from over_tokens to to_tokens, in
    whole pages where page_tokens is above 0. `miss_ratio` is the largest of a variant's checked
    points.
    """

    rows: pd.DataFrame
    miss_ratio: np.ndarray


def _stop_of(moment: Moment) -> str:
    """The stop of the walk that a moment belongs to."""
    if moment.parts.get("gradients_bytes") == "end_gradients_bytes":
        return "gradients done"
    return "optimizer step" if moment.phase == "step" else moment.phase


def _moments_of(work: str) -> tuple[Moment, ...]:
    """The moments of a request, or of a training's update with what stays between steps."""
    return (
        *(moment for moment in MOMENTS[work] if moment.phase not in WHERE),
        *([ZERO_GRAD] if work == "training" else []),
    )


class Piece(NamedTuple):
    """A range of lengths, by their first and last number, for which a variant has one surface."""

    variant: int
    first: int
    last: int

    @property
    def halves(self) -> tuple["Piece", "Piece"]:
        """The shorter and the longer lengths of a piece."""
        middle = (self.first + self.last) // 2
        return self._replace(last=middle), self._replace(first=middle + 1)


def surfaces(variants: pd.DataFrame, bounds: Bounds, catalogs: Catalogs) -> Surfaces:
    """The coefficients of variants of one kind of work that can all be estimated.

    `batch` and `sequence_tokens` of the variants are not read; lengths that are equal to the
    sequence are to be left out. A piece whose surface misses the estimate is halved.
    """
    lengths = bounds.lengths
    rng = np.random.default_rng(0)
    pieces = [Piece(variant, 0, len(lengths) - 1) for variant in range(len(variants))]
    rows = []
    miss_ratio = np.zeros(len(variants))
    while pieces:
        halves: list[Piece] = []
        batch, tokens = _points_of(pieces, bounds, rng)
        repeated = np.repeat([piece.variant for piece in pieces], batch.shape[1])
        frame = with_point(variants.iloc[repeated], batch.ravel(), tokens.ravel())
        table = next(parts(frame, catalogs)).table
        for piece, (miss, surface) in zip(pieces, _fit_pieces(batch, tokens, table), strict=True):
            if miss > MOST_MISS and piece.first < piece.last:
                halves += piece.halves
                continue
            over = lengths[piece.first - 1] if piece.first else 0.0
            ends = {"over_tokens": over, "to_tokens": lengths[piece.last]}
            rows.append(surface.assign(variant=piece.variant, **ends))
            miss_ratio[piece.variant] = max(miss_ratio[piece.variant], miss)
        pieces = halves
    return Surfaces(pd.concat(rows, ignore_index=True), miss_ratio)


def _points_of(
    pieces: list[Piece], bounds: Bounds, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the batches and lengths at which the surface of each piece is taken and checked.

    Both have shape (pieces, points): first the SMALLEST and LARGEST batches, each at LENGTHS
    lengths, from which a form is taken; then CHECKED_POINTS points, closer at short lengths.
    """
    least, most = bounds.least_batch, bounds.most_batch
    smallest = least + np.arange(SMALLEST)
    largest = most + np.arange(1 - LARGEST, 1)
    end_batches = np.clip([*smallest, *largest], least, most)
    first = np.array([[piece.first] for piece in pieces])
    last = np.array([[piece.last] for piece in pieces])
    spread = np.arange(CHECKED_POINTS) ** 2
    end_lengths = np.hstack([first, first + (last - first + 3) // 4, last])
    checked_lengths = first + (last - first) * spread // spread[-1]
    batches = np.tile(np.repeat(end_batches, LENGTHS), (len(pieces), 1))
    points = rng.integers(least, most, (CHECKED_POINTS, len(pieces)), endpoint=True).T
    numbers = np.hstack([np.tile(end_lengths, len(end_batches)), checked_lengths])
    return np.hstack([batches, points]), bounds.lengths[numbers]


def with_point(scenarios: pd.DataFrame, batch: Any, tokens: Any) -> pd.DataFrame:
    """Scenarios with other batches and lengths; a prompt keeps its share of the length."""
    variants = scenarios.reset_index(drop=True)
    changes = {
        "batch": np.asarray(batch, dtype=float),
        "sequence_tokens": np.asarray(tokens, dtype=float),
    }
    if "prompt_tokens" in variants:
        share = variants["prompt_tokens"].astype(float) / variants["sequence_tokens"].astype(float)
        changes["prompt_tokens"] = np.maximum(np.round(share * changes["sequence_tokens"]), 1)
    return variants.assign(**changes)


def _moments_at(stages: list[Table], work: str) -> Iterator[tuple[Moment, Values]]:
    """Each moment with the bytes of its components, at every place in a block and a pipeline."""
    for end in stages:
        rows = end["rows"]
        always = {
            name: end[name] for name in ALLOCATED if name not in named_in(work) and name in end
        }
        for moment in _moments_of(work):
            passing = {name: end[column] for name, column in moment.parts.items()}
            total = sum(passing.values())
            places = np.shape(total)[:-1] if np.ndim(total) > 1 else ()
            alive = at_blocks(np.ones(np.shape(total)), end) if places else np.ones(rows)
            terms_at = {
                name: np.broadcast_to(values, (*places, rows)) * alive
                for name, values in passing.items()
            }
            for place in np.ndindex(*places):
                yield (
                    moment,
                    {name: np.broadcast_to(values, rows) for name, values in always.items()}
                    | {name: values[place] for name, values in terms_at.items()},
                )


def terms(batch: np.ndarray, tokens: np.ndarray) -> np.ndarray:
    """Factors of the coefficients at some points. Shape (points, 6)."""
    one = np.ones_like(batch)
    length = tokens / THOUSAND
    return np.stack([one, batch, length, batch * length, length**2, batch * length**2], axis=-1)


def _in_pages(tokens: np.ndarray, page_tokens: np.ndarray) -> np.ndarray:
    """Lengths in whole pages, if an engine caches in pages. [tokens]"""
    return np.where(
        page_tokens > 0, np.ceil(tokens / np.maximum(page_tokens, 1)) * page_tokens, tokens
    )


def _fit_pieces(
    batch: np.ndarray, tokens: np.ndarray, table: Table
) -> Iterator[tuple[float, pd.DataFrame]]:
    """Yield for each piece of the points the surfaces, and their error as a share of the peak."""
    stages = [stage for stage, rows in at_places(table) if len(rows) == batch.size]
    work = work_of(table)
    moments = list(_moments_at(stages, work))
    stops = np.array([STOPS[work].index(_stop_of(moment)) for moment, _ in moments])
    zeros = np.zeros(batch.size)
    parts_bytes = [[parts.get(name, zeros) for name in ALLOCATED] for _, parts in moments]
    parts_gib = np.stack([np.stack(parts) for parts in parts_bytes]) / GIB
    parts_gib = parts_gib.reshape(*parts_gib.shape[:2], *batch.shape)
    pages = np.broadcast_to(
        stages[0]["page_tokens"] if work == "inference" else 0.0, batch.size
    ).reshape(batch.shape)
    products = np.stack([terms(batch, tokens), terms(batch, _in_pages(tokens, pages))])
    for piece, page in enumerate(pages[:, 0]):
        fits = (
            _of_form(form, parts_gib[:, :, piece], products[:, piece], stops, page)
            for form in FORMS
        )
        miss, rows = next(fits)
        if miss > MOST_MISS:
            miss, rows = min((miss, rows), next(fits), key=lambda fit: fit[0])
        yield miss, rows


def _of_form(
    form: list, values: np.ndarray, factors: np.ndarray, stops: np.ndarray, page_tokens: float
) -> tuple[float, pd.DataFrame]:
    """Error of a piece with the surfaces through some of its points, and these surfaces.

    `form`: the points of each surface. `values`: GiB, shape (moments, components, points).
    `factors`: the terms at the lengths and at those in whole pages, shape (2, points, 6).
    """
    most = _most_by_stop(values.sum(axis=1), stops)
    peak = most.max(axis=0)
    # Least squares of the errors as a share of the peak, for each surface of the form.
    weighed_terms, weighed_values = factors / peak[:, None], values / peak
    parts = []
    for points in form:
        inverse = np.linalg.pinv(weighed_terms[:, points], rcond=SINGULAR)[IN_PAGES]
        parts.append(np.einsum("mcp,cqp->mcq", weighed_values[:, :, points], inverse))
    surface, stops = np.concatenate(parts), np.tile(stops, len(form))
    totals = np.einsum("mcq,cpq->mp", surface, factors[IN_PAGES])
    if len(form) > 1:  # a surface that exceeds its stop straddles a jump
        totals[np.any(totals > (1 + MOST_MISS) * most[stops], axis=1)] = 0
    largest_places = _ever_largest(totals, stops)
    miss = np.max(np.abs(_most_by_stop(totals, stops) - most) / peak)
    return float(miss), _rows(surface[largest_places], largest_places, stops, page_tokens)


def _most_by_stop(totals: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """The largest moment of each stop at each point. [GiB]"""
    return np.stack([totals[stops == stop].max(axis=0) for stop in range(stops.max() + 1)])


def _ever_largest(totals: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """The moments that are the largest of their stop somewhere; of equals the first."""
    least = 1e-9 * totals.max()
    ahead = totals - totals[:, None]
    number = np.arange(len(totals))
    exceeds = np.any(ahead > least, axis=2) | (
        np.all(ahead >= -least, axis=2) & (number < number[:, None])
    )
    smaller = (stops == stops[:, None]) & np.all(ahead >= -least, axis=2) & exceeds
    return number[~smaller.any(axis=1)]


def _rows(
    surface: np.ndarray, largest_places: np.ndarray, stops: np.ndarray, page_tokens: float
) -> pd.DataFrame:
    """A row for each component that a moment has anything of; a moment without any keeps one."""
    has_any = np.any(np.abs(surface) > 1e-9, axis=2)
    has_any[~has_any.any(axis=1), 0] = True
    moment, component = np.nonzero(has_any)
    names: Row = {
        "page_tokens": page_tokens * IN_PAGES[component],
        "stop": stops[largest_places][moment],
        "moment": largest_places[moment],
    }
    names["component"] = np.array(ALLOCATED, dtype=object)[component]
    return pd.DataFrame(names | dict(zip(COEFFICIENTS, surface[moment, component].T, strict=True)))


def needs_on_cards(scenarios: pd.DataFrame, catalogs: Catalogs) -> pd.DataFrame:
    """Return the memory that each scenario needs beside its allocated peak, and its range.

    Columns: card_gib; outside_gib and needed_ratio, with which what must fit is needed_ratio times
    the peak plus outside_gib; safe_gib, the most that surely fits if it must fit; sure_ratio, by
    which the upper end of the range grows with what must fit: at safe_gib it reaches the card.
    Source: calc/memory/fit.py, needed_bytes, needed_high_bytes and fits, solved for the peak.
    """
    table = at_places(next(parts(scenarios, catalogs)).table)[0][0]
    formulas = (limit_bytes, sure_limit_bytes, outside_bytes, fragmentation_ratio)
    evaluate_all((*formulas_of(serving_share), *formulas), table)
    of_engine = table["is_engine"] > 0
    safe_bytes = np.where(
        of_engine,
        table["limit_bytes"],
        table["sure_limit_bytes"] - table["parts_left_out_bytes"],
    )
    columns = {
        "card_gib": table["gpu_memory_bytes"] / GIB,
        "outside_gib": table["outside_bytes"] / GIB,
        "needed_ratio": table["memory_run_ratio"] * (1 + table["fragmentation_ratio"]),
        "safe_gib": (
            np.maximum(safe_bytes, 0) * (1 + table["fragmentation_ratio"]) + table["outside_bytes"]
        )
        / GIB,
        "sure_ratio": np.where(of_engine, 1.0, table["sure_ratio"]),
    }
    rows = len(scenarios)
    return pd.DataFrame({name: np.broadcast_to(value, rows) for name, value in columns.items()})


def with_overhead(rows: pd.DataFrame, needs: pd.DataFrame) -> pd.DataFrame:
    """The surfaces with the overhead of each moment: what must fit beside what is allocated.

    `needs`: a row for each variant, of needs_on_cards.
    """
    names = ["variant", "over_tokens", "to_tokens", "stop", "moment"]
    sums = dict.fromkeys(COEFFICIENTS, "sum") | {"page_tokens": "max"}
    moments = rows.groupby(names, sort=False, as_index=False).agg(sums)
    needs = needs.iloc[moments["variant"].astype(int)].reset_index(drop=True)
    beyond = moments[[*COEFFICIENTS]].mul(needs["needed_ratio"] - 1, axis=0)
    overhead = moments.assign(component="overhead_bytes", **beyond)
    overhead["c"] += needs["outside_gib"]
    return pd.concat([rows, overhead[rows.columns]], ignore_index=True)


class Figures(NamedTuple):
    """The peak and its line over the batch; `room`: the largest batch that surely fits."""

    stop: int
    peak_gib: float
    fixed_gib: float
    each_gib: float
    room: float


def figures_at(rows: pd.DataFrame, batch: float, tokens: float, safe_gib: float) -> Figures:
    """The figures of one variant at a batch and length."""
    none = _gib_at(rows, 0, tokens).groupby(["stop", "moment"])["gib"].sum()
    one = _gib_at(rows, 1, tokens).groupby(["stop", "moment"])["gib"].sum()
    total = none + (one - none) * batch
    peak = total.idxmax()
    slopes = (one - none).to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        leaves = np.where(
            slopes > NO_SLOPE_GIB,
            (safe_gib - none.to_numpy()) / slopes,
            np.where(none > safe_gib, 0.0, np.inf),
        )
    room = max(np.floor(leaves.min() + NO_SLOPE_GIB), 0.0)
    return Figures(
        peak[0], float(total[peak]), float(none[peak]), float(one[peak] - none[peak]), room
    )


def _gib_at(rows: pd.DataFrame, batch: float, tokens: float) -> pd.DataFrame:
    """The rows for a length, with their `gib`."""
    here = rows[(rows["over_tokens"] < tokens) & (tokens <= rows["to_tokens"])]
    lengths = _in_pages(np.full(len(here), float(tokens)), here["page_tokens"].to_numpy())
    factors = terms(np.full(len(here), float(batch)), lengths)
    return here.assign(gib=(here[list(COEFFICIENTS)].to_numpy() * factors).sum(axis=1))


def at_point(rows: pd.DataFrame, batch: float, tokens: float) -> pd.DataFrame:
    """The rows of the largest moment of each stop at a batch and length, with their `gib`."""
    here = _gib_at(rows, batch, tokens)
    totals = here.groupby(["stop", "moment"])["gib"].transform("sum")
    largest = here[totals == totals.groupby(here["stop"]).transform("max")]
    return largest[largest["moment"] == largest.groupby("stop")["moment"].transform("min")]
