"""Electricity of the machines of a job, and what the grid of its region emits for it."""

import numpy as np

from calc.units import KILO


def rated_watts(gpu_system_watts, gpu_tdp_watts, host_power_ratio):
    """Rated power of a card with its part of the machine. [W per GPU]

    The maker's rating of the whole system. For other cards it is board power plus the host's share.
    Source: catalogs/edited/gpus.yaml; host_power_ratio of catalogs/edited/assumptions.yaml.
    """
    return np.where(
        np.isnan(gpu_system_watts), gpu_tdp_watts * (1 + host_power_ratio), gpu_system_watts
    )


def drawn_watts(
    trains,
    gpus,
    idle_gpus,
    rated_watts,
    training_power_ratio,
    serving_power_ratio,
    idle_power_ratio,
):
    """Power of the machines that do the work, their idle GPUs included. [W]

    Source: the power ratios of catalogs/edited/assumptions.yaml; training: Newkirk et al. 2025,
    arXiv 2506.14551.
    """
    busy_ratio = np.where(trains > 0, training_power_ratio, serving_power_ratio)
    return rated_watts * (gpus * busy_ratio + idle_gpus * idle_power_ratio)


def energy_kwh(
    drawn_watts,
    instances_needed,
    standby_instances,
    resting_instances,
    ends,
    run_hours,
    hours_per_month,
    region_pue,
):
    """Electricity of a run on demand, or of a month of a service. [kWh]

    PUE, the data center's total over its IT power, adds what the data center itself draws. Spare
    instances draw as much as the others; resting ones are off.

    By definition; PUE: catalogs/edited/grids.yaml.
    """
    running_ratio = (instances_needed + standby_instances - resting_instances) / instances_needed
    hours = np.where(ends > 0, run_hours, hours_per_month)
    return drawn_watts / KILO * running_ratio * hours * region_pue


def carbon_kg(energy_kwh, region_grid_g_per_kwh):
    """Average emissions of the region's grid for this electricity. [kg CO2e]

    Location-based: what AWS buys for its account is left out. By definition; intensity:
    catalogs/edited/grids.yaml.
    """
    return energy_kwh * region_grid_g_per_kwh / KILO
