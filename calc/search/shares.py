"""Limits on the time of requests: the percentile that each holds for, and who keeps both."""

from collections.abc import Callable, Mapping
from statistics import NormalDist
from typing import Any

import numpy as np

from calc.search.inputs import PACE
from calc.search.load import first_token_column, generates_nothing

TIMES = ("first_token", "token")
POINTS = {
    share: NormalDist().inv_cdf(share / 100) for share in (50, 90, 99)
}  # deviations of a normal distribution


def limited_columns(job: Mapping[str, Any]) -> dict[str, str]:
    """The result column that each limit of a service holds for: a mean, or a percentile."""
    if job["ends"]:
        return {}
    means = {"first_token": first_token_column(dict(job)), "token": PACE["token_seconds"]}
    if generates_nothing(dict(job)):
        return means
    return {
        name: f"{name}_p{share}_seconds" if (share := job[f"{name}_percentile"]) else means[name]
        for name in TIMES
    }


def limited_seconds(
    job: Mapping[str, Any], values: Callable[[str], np.ndarray]
) -> dict[str, np.ndarray]:
    """What each limit holds for, by candidate; infinite where arrivals pile up. [s]"""
    means = limited_columns({**job, **{f"{name}_percentile": "" for name in TIMES}})
    limited = {}
    for name, column in limited_columns(job).items():
        seconds, mean = values(column), values(means[name])
        limited[f"limited_{name}_seconds"] = np.where(
            np.isnan(seconds) & ~np.isnan(mean), np.inf, seconds
        )
    return limited


def goodput_ratio(job: Mapping[str, Any], values: Callable[[str], np.ndarray]) -> np.ndarray:
    """Share of random arrivals that keep both limits on time, taken as independent. [share]

    Source: goodput under limits on the first token and on each token, Zhong et al. 2024, DistServe,
    arXiv 2401.09670.
    """
    within = [
        _within(job[f"{name}_seconds"], [values(f"{name}_p{share}_seconds") for share in POINTS])
        for name in TIMES
    ]
    load = values("arrivals_load_ratio")
    return np.where(np.isnan(load), np.nan, np.where(load < 1, within[0] * within[1], 0.0))


def _within(limit: float | None, percentiles: list[np.ndarray]) -> np.ndarray:
    """Share of requests within a limit; between and beyond its percentiles a time is log-normal."""
    if limit is None:
        return np.ones(1)
    logs, points = [np.log(values) for values in percentiles], list(POINTS.values())
    upper = np.log(limit) > logs[1]
    low, high = np.where(upper, logs[1], logs[0]), np.where(upper, logs[2], logs[1])
    first, last = np.where(upper, points[1], points[0]), np.where(upper, points[2], points[1])
    deviations = first + (np.log(limit) - low) / np.maximum(high - low, 1e-9) * (last - first)
    return np.array([NormalDist().cdf(number) for number in np.ravel(np.nan_to_num(deviations))])
