"""Spot interruptions: how often they come, when to save, and the time that they add.

If one instance is interrupted, a training stops until a new one has come. A service keeps spare
replicas (prices.spare_instances). Assumptions: catalogs/edited/assumptions.yaml.
"""

import numpy as np

from calc.units import HOUR_SECONDS, MEAN_MONTH_HOURS


def interruption_ratio(
    band_interruption_ratio, interruption_month_ratio, interruption_unknown_ratio
):
    """Spot instances taken back in a month: as set, AWS's band, or assumed. [share]"""
    middle = np.where(
        np.isnan(band_interruption_ratio), interruption_unknown_ratio, band_interruption_ratio
    )
    return np.where(interruption_month_ratio > 0, interruption_month_ratio, middle)


def mean_uninterrupted_seconds(interruption_ratio, instances_needed, interruption_together_ratio):
    """Mean time between interruptions of the job at a steady rate, M. [s]

    730 h / (−ln(1 − share) · (1 + (instances − 1) · apart)), apart = 1 − the share taken back
    together: instances of one type and zone mostly are, which stops the job once. Source: arXiv
    2604.16457, 92 % within three minutes, of 336,000 requests.
    """
    events = 1 + (instances_needed - 1) * (1 - interruption_together_ratio)
    return MEAN_MONTH_HOURS * HOUR_SECONDS / (-np.log1p(-interruption_ratio) * events)


def reload_seconds(
    restart_seconds,
    usual_first_seconds,
    usual_uncounted_restart_seconds,
    adapts,
    checkpoint_seconds,
    weights_read_seconds,
):
    """Time from an interruption to training again, R: the restart and the reload. [s]

    A restart that the scenario does not set is another start of the same machines. Adapters read
    the frozen weights too.
    """
    again = np.where(usual_first_seconds > 0, usual_first_seconds, usual_uncounted_restart_seconds)
    return (
        np.where(restart_seconds > 0, restart_seconds, again)
        + checkpoint_seconds
        + adapts * weights_read_seconds
    )


def young_interval_seconds(checkpoint_seconds, mean_uninterrupted_seconds):
    """Training between two checkpoints, to first order: √(2 δ M). [s]

    Source: Young 1974, CACM 17(9), 530-531.
    """
    return np.sqrt(2 * checkpoint_seconds * mean_uninterrupted_seconds)


def checkpoint_interval_seconds(checkpoint_seconds, mean_uninterrupted_seconds, attempt_hours):
    """Training between two checkpoints that loses least, τ. [s]

    √(2 δ M) · (1 + √(δ / 2M) / 3 + (δ / 2M) / 9) − δ where δ < 2 M, else M; at most the whole run,
    if its length is known. Source: Daly 2006, FGCS 22(3), 303-312, equation 37.
    """
    ratio = checkpoint_seconds / (2 * mean_uninterrupted_seconds)
    interval = young_interval_seconds(checkpoint_seconds, mean_uninterrupted_seconds) * (
        1 + np.sqrt(ratio) / 3 + ratio / 9
    )
    return np.fmin(
        np.where(ratio < 1, interval - checkpoint_seconds, mean_uninterrupted_seconds),
        attempt_hours * HOUR_SECONDS,
    )


def _lost_work_ratio(periods):
    """Work lost of segments of x mean times between interruptions: (e^x − 1) / x − 1. [share]"""
    series = 0.0
    # x / 2 · (1 + x / 3 · (1 + x / 4 ...)): exact where e^x − 1 − x would cancel.
    for term in range(11, 1, -1):
        series = periods / term * (1 + series)
    return np.where(periods < 0.1, series, np.expm1(periods) / np.maximum(periods, 0.1) - 1)


def spot_overhead_ratio(
    ends,
    checkpoint_interval_seconds,
    checkpoint_seconds,
    mean_uninterrupted_seconds,
    reload_seconds,
):
    """Time that checkpoints, lost work and restarts add to a run. [share of the run]

    M · e^(R / M) · (e^((τ + δ) / M) − 1) / τ − 1; R is reload_seconds. Each of the three is one
    factor, and their logarithms add up, so that a small overhead loses no digits beside 1. Offline
    work of a service saves nothing: τ and δ are 0. Source: Daly 2006, equation 20.
    """
    interval = np.maximum(checkpoint_interval_seconds, 1e-9)
    restarts = reload_seconds / mean_uninterrupted_seconds
    lost_work = np.log1p(
        _lost_work_ratio(
            (checkpoint_interval_seconds + checkpoint_seconds) / mean_uninterrupted_seconds
        )
    )
    return np.where(
        ends > 0, np.expm1(restarts + lost_work + np.log1p(checkpoint_seconds / interval)), 0
    )
