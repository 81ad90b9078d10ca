"""Limits on the time of requests: the percentile that each holds for, and who keeps both."""

from collections.abc import Callable
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from calc.job.columns import PACE
from calc.job.job import Job
from calc.search.batch_for_rate import first_token_column, generates_nothing

TIMES = ("first_token", "token")
# Deviations of a normal distribution.
POINTS = {share: NormalDist().inv_cdf(share / 100) for share in (50, 90, 99)}


class LimitedSeconds(NamedTuple):
    """The times that the limits of a service hold for, by row; NaN of work that ends. [s]"""

    first_token: np.ndarray
    token: np.ndarray


def limited_columns(job: Job) -> dict[str, str]:
    """The result column that each limit of a service holds for: a mean, or a percentile."""
    if generates_nothing(job):
        return mean_columns(job)
    return {name: _percentile(name, job) or mean for name, mean in mean_columns(job).items()}


def mean_columns(job: Job) -> dict[str, str]:
    """Return the columns of the mean times that a service limits; none for work that ends."""
    if job.ends:
        return {}
    return {"first_token": first_token_column(job), "token": PACE["token_seconds"]}


def _percentile(name: str, job: Job) -> str:
    """The column of the percentile that a limit holds for; empty if it holds for the mean."""
    percentile = getattr(job, f"{name}_percentile")
    return f"{name}_p{percentile}_seconds" if percentile else ""


def limited_seconds(job: Job, values: Callable[[str], np.ndarray]) -> LimitedSeconds:
    """Return the times that the limits hold for. [s]

    They are infinite if the queue grows without bound. `values`: the values of a column by name.
    """
    if job.ends:
        return LimitedSeconds(np.full(1, np.nan), np.full(1, np.nan))
    columns, means = limited_columns(job), mean_columns(job)
    several = []
    for name in TIMES:
        seconds, mean = values(columns[name]), values(means[name])
        never = np.isnan(seconds) & ~np.isnan(mean)
        several.append(np.where(never, np.inf, seconds))
    return LimitedSeconds(*several)


def goodput_ratio(job: Job, values: Callable[[str], np.ndarray]) -> np.ndarray:
    """Share of random arrivals that keep both limits on time, taken as independent. [share]

    Source: goodput under limits on the first token and on each token, Zhong et al. 2024, DistServe,
    arXiv 2401.09670.
    """
    within = [
        _within(
            getattr(job, f"{name}_seconds"),
            [values(f"{name}_p{share}_seconds") for share in POINTS],
        )
        for name in TIMES
    ]
    load = values("arrivals_load_ratio")
    return np.where(np.isnan(load), np.nan, np.where(load < 1, within[0] * within[1], 0.0))


def _within(limit: float | None, percentiles: list[np.ndarray]) -> np.ndarray:
    """Return the share of requests within a limit.

    Between and beyond its percentiles, a time is taken as log-normal.
    """
    if limit is None:
        return np.ones(1)
    logs, points = [np.log(values) for values in percentiles], list(POINTS.values())
    upper = np.log(limit) > logs[1]
    low, high = np.where(upper, logs[1], logs[0]), np.where(upper, logs[2], logs[1])
    first, last = np.where(upper, points[1], points[0]), np.where(upper, points[2], points[1])
    deviations = first + (np.log(limit) - low) / np.maximum(high - low, 1e-9) * (last - first)
    return np.array([NormalDist().cdf(number) for number in np.ravel(np.nan_to_num(deviations))])
