"""The time that a conversation stays in a least-recently-used cache, and who still finds it.

Times are in mean think times, the time between an answer and the next prompt.

Source: Che, Tung and Wang 2002, IEEE JSAC 20(7), 1305-1314; validation/queues/sessions.py compares
it with a simulation of the cache's blocks.
"""

from functools import lru_cache
from math import gamma
from typing import Any

import numpy as np

from calc.table import distinct

STAYS = np.geomspace(1e-4, 1e5, 4000)  # at which the tokens that the cache holds are known
SHAPES, BISECTIONS = (0.2, 20.0), 60  # of Weibull distributions


def hit_ratio_at(turns: np.ndarray, variation: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Turns after the first that find their conversation, by row. [share]

    `held`: tokens that the cache keeps between turns, over the tokens that conversations add to it
    in one think time if each had a single turn.
    """
    ratio = np.zeros(held.shape)
    first, copies = distinct((turns, variation), len(held))
    for number, row in enumerate(first.tolist()):
        rows = copies == number
        stay = stay_at(int(turns[row]), float(variation[row]), held[rows])
        ratio[rows] = think_time_ratio(stay, float(variation[row]))
    return np.nan_to_num(ratio)


def stay_at(turns: int, variation: float, held: Any) -> Any:
    """The time that a conversation stays after a turn if the cache holds `held` (hit_ratio_at)."""
    return np.interp(held, held_at_stays(turns, variation), np.append(0.0, STAYS))


@lru_cache(maxsize=64)
def held_at_stays(turns: int, variation: float) -> np.ndarray:
    """Tokens that the cache holds if a conversation stays for 0 and each of STAYS.

    In the unit of `hit_ratio_at`. A context that is used again stays for E[min(Z, T)], Z the time
    to the next prompt; the last one of a conversation stays for T.
    """
    unused = 1 - think_time_ratio(STAYS, variation)
    steps = np.diff(STAYS, prepend=0.0)
    reused = np.cumsum(steps * (unused + np.concatenate([[1.0], unused[:-1]])) / 2)
    return np.append(0.0, turns * (turns - 1) / 2 * reused + turns * STAYS)


def think_time_ratio(stay: Any, variation: float) -> Any:
    """Share of think times that end before a time, both in mean think times. [share]"""
    shape = weibull_shape(variation)
    return 1 - np.exp(-((stay * gamma(1 + 1 / shape)) ** shape))


@lru_cache(maxsize=64)
def weibull_shape(variation: float) -> float:
    """The shape k of a Weibull distribution with this ratio of standard deviation to mean."""
    low, high = SHAPES
    for _ in range(BISECTIONS):
        shape = (low + high) / 2
        variance = gamma(1 + 2 / shape) / gamma(1 + 1 / shape) ** 2 - 1
        low, high = (shape, high) if variance > variation**2 else (low, shape)
    return high
