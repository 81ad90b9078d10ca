"""Ticks of an axis, and places of names that do not touch."""

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

STEPS = (1, 2, 5)


def log_ticks(values: Iterable[float]) -> tuple[float, ...]:
    """Ticks 1, 2, 5, 10 ... that enclose the positive values."""
    sound = [value for value in values if 0 < value < math.inf]
    if not sound:
        return (1.0, 10.0)
    low, high = min(sound), max(sound)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
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
    low, high = math.log10(ticks[0]), math.log10(ticks[-1])
    return (np.log10(np.asarray(values, dtype=float)) - low) / (high - low)


def at_share(shares: Sequence[float] | np.ndarray, ticks: Sequence[float]) -> np.ndarray:
    """The values at positions of a log axis; the inverse of log_share."""
    low, high = math.log10(ticks[0]), math.log10(ticks[-1])
    return np.asarray(10.0 ** (low + np.asarray(shares, dtype=float) * (high - low)))


def spread_names(places: Sequence[float] | np.ndarray, gap: float) -> np.ndarray:
    """Places between 0 and 1, moved as little as possible to be a gap apart.

    Neighbours that would touch form a block around their middle; blocks that touch join.
    """
    wished = np.clip(np.asarray(places, dtype=float), 0.0, 1.0)
    order = np.argsort(wished, kind="stable")
    gap = min(gap, 1 / max(len(wished) - 1, 1))
    blocks: list[
        list[float]
    ] = []  # of each block: its first place, its number of places, the sum of their wishes
    for place in wished[order]:
        blocks.append([place, 1.0, place])
        while len(blocks) > 1 and blocks[-2][0] + gap * blocks[-2][1] > blocks[-1][0]:
            _, count, total_wished = blocks.pop()
            before = blocks[-1]
            total = before[2] + total_wished - gap * before[1] * count
            before[1], before[2] = before[1] + count, total
            before[0] = float(np.clip(total / before[1], 0.0, 1 - gap * (before[1] - 1)))
    moved = np.empty_like(wished)
    moved[order] = [
        first + gap * number for first, count, _ in blocks for number in range(int(count))
    ]
    return moved
