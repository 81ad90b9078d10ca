"""The limits that what a search finds must keep: money, time, size, pace, the work of an optimizer step."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import estimate

STEP_FACTOR = 2  # a step of half to twice the tokens learns about the same; beyond, learning rate and schedule are others


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
    unverified: float = 0  # 1: what is emulated at a known speed, or not known to run, counts as well
    slow_end: float = 0  # 1: deadline, first token and output token are kept at the slow end of their ranges


LIMIT_NAMES = tuple(field.name for field in fields(Limits))
OPEN = Limits()
SERVED_WITHIN = Limits(first_token_seconds=2, output_token_seconds=0.05)  # 20 tokens a second, faster than anyone reads


OF_A_JOB = {  # the columns of a job that limit its answers
    "instances_most": "instances",
    "usd_per_hour_most": "usd_per_hour",
    "usd_most": "usd",
    "hours_most": "hours",
    "first_token_seconds": "first_token_seconds",
    "token_seconds": "output_token_seconds",
}


def limits_of_job(job: dict[str, Any]) -> Limits:
    """The limits of a job, settled or not, in the words of a search."""
    slow_end = {"slow_end": 1} if job.get("hold_slow_end") == "yes" else {}
    return limits_of({own: job.get(name) for name, own in OF_A_JOB.items()} | slow_end)


def limits_of(given: dict[str, Any]) -> Limits:
    """Limits from a mapping of numbers, in which an empty value asks for nothing."""
    return replace(OPEN, **{name: float(given[name]) for name in LIMIT_NAMES if given.get(name) not in (None, "")})


def usual_limits(scenario: dict[str, Any], catalogs: Catalogs) -> dict[str, float]:
    """The limits that a search starts from, as page and link hold them.

    What is to be rented must fit over the whole range, and a training keep the tokens per optimizer step of the scenario
    within a factor of 2: fewer, larger steps are another training.
    """
    both: dict[str, float] = {"instances": 16, "surely": 1}
    return both | (step_limits(scenario, catalogs) if scenario["work"] == "training" else {})


def step_limits(scenario: dict[str, Any], catalogs: Catalogs) -> dict[str, float]:
    """The least and the most tokens of an optimizer step that train about as a scenario does; none where it has no step."""
    tokens = float(estimate(dict(scenario), catalogs, solve=False, columns=("step_tokens",))["step_tokens"])
    if not tokens > 0:
        return {}
    return {"step_tokens": int(np.ceil(tokens / STEP_FACTOR)), "highest_step_tokens": int(tokens * STEP_FACTOR)}
