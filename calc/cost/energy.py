"""Electricity of the machines of a job, and what the grid of its region emits for it."""

import numpy as np

from calc.units import KILO


def rated_watts(gpu_system_watts, gpu_tdp_watts, host_power_ratio):
    """Rated power of a card with its part of the machine. [W per GPU]

    As the maker rates the whole system; of other cards board power and the host's share of it.
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
    """Power of the machines that do the work, idle GPUs in them counted. [W]"""
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

    PUE adds what the data center draws itself. Spare instances draw what the others draw; those at
    rest are off.
    """
    running_ratio = (instances_needed + standby_instances - resting_instances) / instances_needed
    hours = np.where(ends > 0, run_hours, hours_per_month)
    return drawn_watts / KILO * running_ratio * hours * region_pue


def carbon_kg(energy_kwh, region_grid_g_per_kwh):
    """What the grid of the region emits for it on average. [kg CO2e]

    Location-based; what AWS buys for its account is left out.
    """
    return energy_kwh * region_grid_g_per_kwh / KILO
