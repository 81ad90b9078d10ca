"""Ticks of an axis, and places of names that do not touch."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean

import numpy as np
import pandas as pd

STEPS = (1, 2, 5)


def log_ticks(values: Iterable[float]) -> tuple[float, ...]:
    """Ticks 1, 2, 5, 10 ... that enclose the positive values."""
    sound = [value for value in values if 0 < value < math.inf]
    if not sound:
        return (1.0, 10.0)
    low = min(sound)
    high = max(sound)
    first = math.floor(math.log10(low))
    last = math.ceil(math.log10(high))
    ticks = [float(f"{step}e{power}") for power in range(first, last + 1) for step in STEPS]
    below = max(tick for tick in ticks if tick <= low * (1 + 1e-9))
    above = min(
        [tick for tick in ticks if tick >= high * (1 - 1e-9)], default=float(f"1e{last + 1}")
    )
    inside = tuple(tick for tick in ticks if below <= tick <= above)
    return inside if len(inside) > 1 else (*inside, _next(inside[0]))


def with_ticks(
    table: pd.DataFrame, x_ticks: Sequence[float], y_ticks: Sequence[float]
) -> pd.DataFrame:
    """The table with the ticks of both axes as text, in x_ticks and y_ticks."""
    return table.assign(x_ticks=" ".join(map(str, x_ticks)), y_ticks=" ".join(map(str, y_ticks)))


def _next(tick):
    """The next tick: 5 after 2, 10 after 5."""
    digit = round(tick / 10 ** math.floor(math.log10(tick)))
    return float(tick * {1: 2, 2: 2.5, 5: 2}[digit])


def log_share(values: Sequence[float] | np.ndarray, ticks: Sequence[float]) -> np.ndarray:
    """The positions of values on a log axis from the first to the last tick. [0 to 1]"""
    low = math.log10(ticks[0])
    high = math.log10(ticks[-1])
    return (np.log10(np.asarray(values, dtype=float)) - low) / (high - low)


def at_share(shares: Sequence[float] | np.ndarray, ticks: Sequence[float]) -> np.ndarray:
    """The values at positions of a log axis; the inverse of log_share."""
    low = math.log10(ticks[0])
    high = math.log10(ticks[-1])
    return np.asarray(10.0 ** (low + np.asarray(shares, dtype=float) * (high - low)))


def spread_names(places: Sequence[float] | np.ndarray, gap: float) -> np.ndarray:
    """Return places between 0 and 1 that are at least a gap apart, moved as little as possible.

    With the gaps subtracted, places in order must not decrease. If they do, neighbors share their
    mean: isotonic regression by pooling adjacent violators (Barlow et al. 1972).
    """
    exact = np.clip(np.asarray(places, dtype=float), 0.0, 1.0)
    order = np.argsort(exact, kind="stable")
    last = len(exact) - 1
    gap = min(gap, 1 / max(last, 1))
    gaps_before = gap * np.arange(len(exact))
    blocks: list[list[float]] = []
    for place in (exact[order] - gaps_before).tolist():
        block = [place]
        while blocks and fmean(blocks[-1]) > fmean(block):
            block = blocks.pop() + block
        blocks.append(block)
    means = [fmean(block) for block in blocks for _ in block]
    spread = np.empty_like(exact)
    spread[order] = np.clip(means, 0.0, 1 - gap * last) + gaps_before
    return spread
