"""Spot with its interruptions: checkpoints, the best interval between them, lost work, restarts, what is left saved.

Assumptions stand in catalogs/assumptions.yaml. One instance interrupted stops a training until a new one has come; a service
keeps spare replicas in another zone or of another type (prices.spare_instances).
"""

import numpy as np

from calc.cost.prices import run_hours
from calc.units import GIB, HOUR_SECONDS, MEAN_MONTH_HOURS


def interruption_ratio(band_interruption_ratio, interruption_month_ratio, interruption_unknown_ratio):
    """Share of spot instances taken back in a month: one's own, else the middle of AWS's band, else the assumption. [share]"""
    middle = np.where(np.isnan(band_interruption_ratio), interruption_unknown_ratio, band_interruption_ratio)
    return np.where(interruption_month_ratio > 0, interruption_month_ratio, middle)


def mean_uninterrupted_seconds(interruption_ratio, instances_needed, interruption_together_ratio):
    """Mean time between interruptions of the job at a steady rate, M: 730 h / (−ln(1 − share) · (1 + (instances − 1) · apart)). [s]

    Instances of one type and zone are mostly taken back together, which stops the job once: apart = 1 − the share that comes
    together (arXiv 2604.16457: 92 % within three minutes, of 336,000 requests).
    """
    events = 1 + (instances_needed - 1) * (1 - interruption_together_ratio)
    return MEAN_MONTH_HOURS * HOUR_SECONDS / (-np.log1p(-interruption_ratio) * events)


def checkpoint_bytes(
    trained_parameters, adapts, adapter_bytes_each, matrix_bytes_each, master_bytes_each, matrix_states, state_width_bytes_each
):
    """Trained weights, their master copy and the optimizer's state, over all GPUs. [B]"""
    own = np.where(adapts > 0, adapter_bytes_each, matrix_bytes_each + master_bytes_each)
    return trained_parameters * (own + matrix_states * state_width_bytes_each)


def checkpoint_seconds(checkpoint_bytes, checkpoint_bytes_per_second, instances_needed):
    """Writing one checkpoint, δ; every instance writes its share while training waits. [s]"""
    return checkpoint_bytes / (checkpoint_bytes_per_second * instances_needed)


def young_interval_seconds(checkpoint_seconds, mean_uninterrupted_seconds):
    """Training between two checkpoints, to first order: √(2 δ M) (Young 1974, CACM 17(9), 530-531). [s]"""
    return np.sqrt(2 * checkpoint_seconds * mean_uninterrupted_seconds)


def checkpoint_interval_seconds(checkpoint_seconds, mean_uninterrupted_seconds, run_hours):
    """Training between two checkpoints that loses least, τ (Daly 2006, FGCS 22(3), 303-312, equation 37). [s]

    √(2 δ M) · (1 + √(δ / 2M) / 3 + (δ / 2M) / 9) − δ where δ < 2 M, else M; at most the whole run, where its length is known.
    """
    ratio = checkpoint_seconds / (2 * mean_uninterrupted_seconds)
    interval = np.sqrt(2 * checkpoint_seconds * mean_uninterrupted_seconds) * (1 + np.sqrt(ratio) / 3 + ratio / 9)
    return np.fmin(np.where(ratio < 1, interval - checkpoint_seconds, mean_uninterrupted_seconds), run_hours * HOUR_SECONDS)


def _lost_work_ratio(periods):
    """What is trained again after interruptions, of segments that last `periods` mean times between them: (e^x − 1) / x − 1. [share]"""
    series = 0.0
    for term in range(11, 1, -1):  # x / 2 · (1 + x / 3 · (1 + x / 4 ...)): exact where e^x − 1 − x would cancel
        series = periods / term * (1 + series)
    return np.where(periods < 0.1, series, np.expm1(periods) / np.maximum(periods, 0.1) - 1)


def spot_overhead_ratio(trains, checkpoint_interval_seconds, checkpoint_seconds, mean_uninterrupted_seconds, restart_seconds):
    """Time that checkpoints, lost work and restarts add to a run. [share of the run]

    M · e^(R / M) · (e^((τ + δ) / M) − 1) / τ − 1 (Daly 2006, equation 20); R is the restart and reading the checkpoint. Each of
    the three is one factor, and their logarithms add up, so that a small overhead loses no digits beside 1.
    """
    interval = np.maximum(checkpoint_interval_seconds, 1e-9)
    restarts = (restart_seconds + checkpoint_seconds) / mean_uninterrupted_seconds
    lost_work = np.log1p(_lost_work_ratio((checkpoint_interval_seconds + checkpoint_seconds) / mean_uninterrupted_seconds))
    return np.where(trains > 0, np.expm1(restarts + lost_work + np.log1p(checkpoint_seconds / interval)), 0)


def spot_run_hours(run_hours, spot_overhead_ratio):
    """The whole training run on spot, interruptions included. [h]"""
    return run_hours * (1 + spot_overhead_ratio)


def restart_hours(spot_run_hours, restart_seconds, checkpoint_seconds, mean_uninterrupted_seconds):
    """Of a run on spot what restarts take: 1 − e^(−R / M) of it. [h]"""
    share = -np.expm1(-(restart_seconds + checkpoint_seconds) / mean_uninterrupted_seconds)
    return spot_run_hours * share


def checkpoint_hours(run_hours, checkpoint_seconds, checkpoint_interval_seconds):
    """Of a run on spot what writing checkpoints takes: δ for each τ trained. [h]"""
    return run_hours * checkpoint_seconds / np.maximum(checkpoint_interval_seconds, 1e-9)


def lost_work_hours(spot_run_hours, run_hours, restart_hours, checkpoint_hours):
    """Of a run on spot what is trained, or written, again after interruptions: the rest. [h]"""
    return spot_run_hours - run_hours - restart_hours - checkpoint_hours


def expected_interruptions(spot_run_hours, mean_uninterrupted_seconds):
    """How often the run is interrupted on spot, on average. [interruptions]"""
    return spot_run_hours * HOUR_SECONDS / mean_uninterrupted_seconds


def run_usd_spot(spot_run_hours, usd_per_hour_spot):
    """The whole run on spot, interruptions included; restarts are counted as paid. [USD]"""
    return spot_run_hours * usd_per_hour_spot


def spot_saving_ratio(usd_per_hour_on_demand, usd_per_hour_spot, spot_overhead_ratio):
    """What spot saves against on demand for the same work, after checkpoints, lost work and restarts. [share]"""
    return 1 - usd_per_hour_spot * (1 + spot_overhead_ratio) / usd_per_hour_on_demand


def stored_bytes(trains, kept_checkpoints, checkpoint_bytes, parameters, matrix_bytes_each):
    """What lies in storage: the checkpoints that are kept, or the weights of a service. [B]"""
    return np.where(trains > 0, kept_checkpoints * checkpoint_bytes, parameters * matrix_bytes_each)


def storage_usd_per_month(stored_bytes, storage_usd_per_gib_month, listed_storage_usd_per_gib_month):
    """A month of it at the price that is set, else on S3 Standard of the region; beside the bill and not in it. [USD per month]"""
    return stored_bytes / GIB * np.where(storage_usd_per_gib_month > 0, storage_usd_per_gib_month, listed_storage_usd_per_gib_month)


def sober_overhead_ratio(trains, checkpoint_seconds, sober_uninterrupted_seconds, restart_seconds, run_hours):
    """As spot_overhead_ratio, at the interruptions of the sober case, with the interval that is best for them. [share]"""
    interval = checkpoint_interval_seconds(checkpoint_seconds, sober_uninterrupted_seconds, run_hours)
    return spot_overhead_ratio(trains, interval, checkpoint_seconds, sober_uninterrupted_seconds, restart_seconds)


def sober_run_hours(run_hours, sober_overhead_ratio, sober_uninterrupted_seconds, spot_wait_seconds):
    """The run on spot in the sober case, waiting for capacity after each interruption counted. [h]"""
    running = run_hours * (1 + sober_overhead_ratio)
    return running * (1 + spot_wait_seconds / sober_uninterrupted_seconds)


def sober_run_usd(run_hours, sober_overhead_ratio, usd_per_hour_spot):
    """The run on spot in the sober case; waiting costs nothing. [USD]"""
    return run_hours * (1 + sober_overhead_ratio) * usd_per_hour_spot


def fallback_run_usd(fallback_ratio, run_usd_spot, run_usd_on_demand):
    """A share of the run on spot, then no instance comes back and the rest runs on demand. [USD]"""
    return fallback_ratio * run_usd_spot + (1 - fallback_ratio) * run_usd_on_demand


SPOT = (
    interruption_ratio,
    mean_uninterrupted_seconds,
    checkpoint_bytes,
    checkpoint_seconds,
    young_interval_seconds,
    checkpoint_interval_seconds,
    spot_overhead_ratio,
    spot_run_hours,
    restart_hours,
    checkpoint_hours,
    lost_work_hours,
    expected_interruptions,
    run_usd_spot,
    spot_saving_ratio,
    stored_bytes,
    storage_usd_per_month,
    sober_overhead_ratio,
    sober_run_hours,
    sober_run_usd,
    fallback_run_usd,
)
UNTIL_OVERHEAD = (run_hours, *SPOT[: SPOT.index(spot_overhead_ratio) + 1])
