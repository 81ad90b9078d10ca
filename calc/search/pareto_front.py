"""Candidates of a training that no other on the same machines clearly beats in time.

On the same instances, time decides the cost. A limit on hours holds at a confidence, so its value
lies between the mean and the slow end: a slower candidate whose time is better known may keep it.
"""

import numpy as np

from calc.evaluate import Columns
from calc.job.job import Job
from calc.job.resolve import compared_columns
from calc.search.candidates import Candidates
from calc.table import distinct

CLEARLY = 1.02  # as fast: within it, the plainer layout may be the answer
FURTHEST = 1e3  # apart are the logarithms of hours in different groups


def on_the_front(candidates: Candidates, job: Job) -> Candidates:
    """Return the candidates of a training that some limit or tie may prefer, in order.

    All stay if the job compares values of a column, or asks for the layout with the most memory
    left.
    """
    if not len(candidates) or compared_columns(job) or "roomiest" in job.answers:
        return candidates
    group = _groups(candidates, job)
    with np.errstate(invalid="ignore"):
        beaten = is_beaten(np.log(candidates.hours), np.log(candidates.slow_hours), group)
    return candidates.take(np.flatnonzero(~beaten))


def _groups(candidates: Candidates, job: Job) -> np.ndarray:
    """Number the groups of candidates that only time tells apart: same machines and verdicts.

    Each candidate without a time, or whose step misses the job's, is a group of its own.
    """
    count = len(candidates)
    distance = np.abs(np.log(candidates.step_tokens / job.step_tokens))
    stays = np.isnan(candidates.hours) | (distance > np.log(job.step_factor) + 1e-9)
    alike: Columns = {
        "place": candidates.place_number,
        "market": candidates.market_number,
        "region": candidates.region_number,
        "instances": candidates.instances,
        "runs": candidates.runs,
        "fits": candidates.fits,
        "fit_probability": np.round(candidates.fit_probability, 2),
        "alone": np.where(stays, np.arange(count), -1),
    }
    _, group = distinct(alike.values(), count)
    return group


def is_beaten(mean: np.ndarray, slow: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return whether another of the group is clearly lower in both. Shape (candidates,).

    `mean` and `slow`: logarithms. In order of group and mean, the lowest slow value so far answers
    for all that are clearly lower in the mean.
    """
    margin = np.log(CLEARLY)
    apart = FURTHEST * group
    order = np.argsort(apart + mean, kind="stable")
    means_in_order = (apart + mean)[order]
    lowest_slow = np.minimum.accumulate((slow - apart)[order])  # groups go down, each on its own
    clearly_lower = np.searchsorted(means_in_order, apart + mean - margin)
    before = np.maximum(clearly_lower - 1, 0)
    is_same_group = (clearly_lower > 0) & (group[order][before] == group)
    beaten: np.ndarray = is_same_group & (lowest_slow[before] + apart < slow - margin)
    return beaten
