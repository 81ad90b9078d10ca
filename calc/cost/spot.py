"""Duration and cost of a run on Spot with its interruptions, and of storage."""

import numpy as np

from calc.cost import interruptions
from calc.cost.interruptions import checkpoint_interval_seconds, spot_overhead_ratio
from calc.cost.prices import attempt_hours
from calc.evaluate import formulas_of
from calc.units import GIB, HOUR_SECONDS

UNTIL_OVERHEAD = (attempt_hours, *formulas_of(interruptions))


def spot_work_hours(work_hours, spot_overhead_ratio):
    """Hours of the run's steps on Spot, with all that interruptions add. [h]

    Source: Daly 2006, as spot_overhead_ratio.
    """
    return work_hours * (1 + spot_overhead_ratio)


def spot_run_hours(spot_work_hours, start_hours):
    """Hours of the whole run on Spot, with interruptions and starts. [h]

    By definition.
    """
    return start_hours + spot_work_hours


def restart_hours(spot_work_hours, reload_seconds, mean_uninterrupted_seconds):
    """Hours of a run on Spot that restarts take: 1 − e^(−R / M) of it. [h]

    Source: the terms of Daly 2006, FGCS 22(3), 303-312, equation 20.
    """
    return spot_work_hours * -np.expm1(-reload_seconds / mean_uninterrupted_seconds)


def checkpoint_hours(work_hours, checkpoint_seconds, checkpoint_interval_seconds):
    """Hours of a run on Spot that checkpoints take: δ for every τ trained. [h]

    Source: the terms of Daly 2006, FGCS 22(3), 303-312, equation 20.
    """
    return work_hours * checkpoint_seconds / np.maximum(checkpoint_interval_seconds, 1e-9)


def lost_work_hours(spot_work_hours, work_hours, restart_hours, checkpoint_hours):
    """Hours of a run on Spot in which lost work is repeated: the rest. [h]

    By definition.
    """
    return spot_work_hours - work_hours - restart_hours - checkpoint_hours


def expected_interruptions(spot_run_hours, mean_uninterrupted_seconds):
    """Mean number of interruptions of the run on Spot. [interruptions]

    By definition of a steady rate.
    """
    return spot_run_hours * HOUR_SECONDS / mean_uninterrupted_seconds


def run_usd_spot(spot_run_hours, usd_per_hour_spot):
    """Cost of the whole run on Spot; restarts are paid for. [USD]

    By definition.
    """
    return spot_run_hours * usd_per_hour_spot


def spot_saving_ratio(usd_per_hour_on_demand, usd_per_hour_spot, spot_overhead_ratio):
    """Saving of Spot over On-Demand for the same work, interruptions included. [share]

    By definition.
    """
    return 1 - usd_per_hour_spot * (1 + spot_overhead_ratio) / usd_per_hour_on_demand


def stored_bytes(trains, kept_checkpoints, checkpoint_bytes, parameters, matrix_bytes_each):
    """Bytes in storage: the checkpoints of a run, or the weights of a service. [B]

    By definition; checkpoints that stay: catalogs/edited/assumptions.yaml.
    """
    return np.where(trains > 0, kept_checkpoints * checkpoint_bytes, parameters * matrix_bytes_each)


def storage_usd_per_month(
    stored_bytes, storage_usd_per_gib_month, listed_storage_usd_per_gib_month
):
    """A month of storage, as set or on S3 Standard; not part of the bill. [USD per month]

    Source: catalogs/edited/storage_and_traffic.yaml.
    """
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
    """Overhead of Spot in the cautious case, with the best interval for it. [share]

    Source: Daly 2006, as spot_overhead_ratio; sober_uninterrupted_seconds of
    catalogs/edited/assumptions.yaml.
    """
    interval = checkpoint_interval_seconds(
        checkpoint_seconds, sober_uninterrupted_seconds, attempt_hours
    )
    return spot_overhead_ratio(
        ends, interval, checkpoint_seconds, sober_uninterrupted_seconds, reload_seconds
    )


def sober_run_hours(
    work_hours, start_hours, sober_overhead_ratio, sober_uninterrupted_seconds, spot_wait_seconds
):
    """Hours on Spot in the cautious case, with a wait for capacity after interruptions. [h]

    Source: spot_wait_seconds of catalogs/edited/assumptions.yaml.
    """
    return start_hours + work_hours * (1 + sober_overhead_ratio) * (
        1 + spot_wait_seconds / sober_uninterrupted_seconds
    )


def sober_run_usd(work_hours, start_hours, sober_overhead_ratio, usd_per_hour_spot):
    """Cost of the run on Spot in the cautious case; waiting costs nothing. [USD]

    By definition.
    """
    return (start_hours + work_hours * (1 + sober_overhead_ratio)) * usd_per_hour_spot


def fallback_run_usd(fallback_ratio, run_usd_spot, run_usd_on_demand):
    """Cost if a share of the run is done on Spot and the rest on demand. [USD]

    Source: fallback_ratio of catalogs/edited/assumptions.yaml.
    """
    return fallback_ratio * run_usd_spot + (1 - fallback_ratio) * run_usd_on_demand
