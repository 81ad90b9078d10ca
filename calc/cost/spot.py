"""What a run on spot takes and costs with its interruptions, and what stays in storage."""

import numpy as np

from calc.cost import interruptions
from calc.cost.interruptions import checkpoint_interval_seconds, spot_overhead_ratio
from calc.cost.prices import attempt_hours
from calc.evaluate import formulas_of
from calc.units import GIB, HOUR_SECONDS

UNTIL_OVERHEAD = (attempt_hours, *formulas_of(interruptions))


def spot_work_hours(work_hours, spot_overhead_ratio):
    """The steps of the run on spot, with all that interruptions add. [h]"""
    return work_hours * (1 + spot_overhead_ratio)


def spot_run_hours(spot_work_hours, start_hours):
    """The whole training run on spot, interruptions included. [h]"""
    return start_hours + spot_work_hours


def restart_hours(spot_work_hours, reload_seconds, mean_uninterrupted_seconds):
    """Time of a run on spot that restarts take: 1 − e^(−R / M) of it. [h]"""
    return spot_work_hours * -np.expm1(-reload_seconds / mean_uninterrupted_seconds)


def checkpoint_hours(work_hours, checkpoint_seconds, checkpoint_interval_seconds):
    """Time of a run on spot that writing checkpoints takes: δ for each τ trained. [h]"""
    return work_hours * checkpoint_seconds / np.maximum(checkpoint_interval_seconds, 1e-9)


def lost_work_hours(spot_work_hours, work_hours, restart_hours, checkpoint_hours):
    """Time of a run on spot in which work is done again after interruptions: the rest. [h]"""
    return spot_work_hours - work_hours - restart_hours - checkpoint_hours


def expected_interruptions(spot_run_hours, mean_uninterrupted_seconds):
    """Mean number of interruptions of the run on spot. [interruptions]"""
    return spot_run_hours * HOUR_SECONDS / mean_uninterrupted_seconds


def run_usd_spot(spot_run_hours, usd_per_hour_spot):
    """The whole run on spot, interruptions included; restarts are counted as paid. [USD]"""
    return spot_run_hours * usd_per_hour_spot


def spot_saving_ratio(usd_per_hour_on_demand, usd_per_hour_spot, spot_overhead_ratio):
    """Saving of spot over on demand for the same work, interruptions counted. [share]"""
    return 1 - usd_per_hour_spot * (1 + spot_overhead_ratio) / usd_per_hour_on_demand


def stored_bytes(trains, kept_checkpoints, checkpoint_bytes, parameters, matrix_bytes_each):
    """Bytes in storage: the checkpoints that are kept, or the weights of a service. [B]"""
    return np.where(trains > 0, kept_checkpoints * checkpoint_bytes, parameters * matrix_bytes_each)


def storage_usd_per_month(
    stored_bytes, storage_usd_per_gib_month, listed_storage_usd_per_gib_month
):
    """A month of storage, as set or on S3 Standard; not in the bill. [USD per month]"""
    return (
        stored_bytes
        / GIB
        * np.where(
            storage_usd_per_gib_month > 0,
            storage_usd_per_gib_month,
            listed_storage_usd_per_gib_month,
        )
    )


def sober_overhead_ratio(
    ends, checkpoint_seconds, sober_uninterrupted_seconds, reload_seconds, attempt_hours
):
    """Overhead of spot at the sober case's interruptions, at their best interval. [share]"""
    interval = checkpoint_interval_seconds(
        checkpoint_seconds, sober_uninterrupted_seconds, attempt_hours
    )
    return spot_overhead_ratio(
        ends, interval, checkpoint_seconds, sober_uninterrupted_seconds, reload_seconds
    )


def sober_run_hours(
    work_hours, start_hours, sober_overhead_ratio, sober_uninterrupted_seconds, spot_wait_seconds
):
    """The run on spot in the sober case, with the wait for capacity after each interruption. [h]"""
    return start_hours + work_hours * (1 + sober_overhead_ratio) * (
        1 + spot_wait_seconds / sober_uninterrupted_seconds
    )


def sober_run_usd(work_hours, start_hours, sober_overhead_ratio, usd_per_hour_spot):
    """The run on spot in the sober case; waiting costs nothing. [USD]"""
    return (start_hours + work_hours * (1 + sober_overhead_ratio)) * usd_per_hour_spot


def fallback_run_usd(fallback_ratio, run_usd_spot, run_usd_on_demand):
    """A share of the run on spot, then no instance comes back and the rest runs on demand. [USD]"""
    return fallback_ratio * run_usd_spot + (1 - fallback_ratio) * run_usd_on_demand
