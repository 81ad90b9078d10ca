"""The limits that what a search finds must keep: money, time, size, pace."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

HIGHEST_STEP_TOKENS = 2**20  # beyond it a run of 1e9 tokens has under 1,000 optimizer steps


@dataclass(frozen=True)
class Limits:
    """What a found way must keep; infinity and 0 ask for nothing. USD is that of the run, in serving of a month."""

    instances: float = 16
    usd_per_hour: float = np.inf
    usd: float = np.inf
    hours: float = np.inf
    step_tokens: float = 0
    highest_step_tokens: float = np.inf
    users: float = 0
    first_token_seconds: float = np.inf
    output_token_seconds: float = np.inf
    surely: float = 0  # 1: the high end of the range must be within the card


LIMIT_NAMES = tuple(field.name for field in fields(Limits))
OPEN = Limits()


def limits_of(given: dict[str, Any]) -> Limits:
    """Limits from a mapping of numbers, in which an empty value asks for nothing."""
    return replace(OPEN, **{name: float(given[name]) for name in LIMIT_NAMES if given.get(name) not in (None, "")})


def usual_limits(work: str) -> dict[str, float]:
    """The limits that a search starts from, as page and link hold them: what is to be rented must surely fit."""
    both: dict[str, float] = {"instances": 16, "surely": 1}
    return both | ({"highest_step_tokens": HIGHEST_STEP_TOKENS} if work == "training" else {})
