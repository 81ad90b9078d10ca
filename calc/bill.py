"""The bill of each row: whole instances, dollars per hour, month and run."""

import numpy as np

from calc.evaluate import evaluate_all


def instances_needed(gpus, instance_gpus):
    """Whole instances that hold the job's GPUs."""
    return np.ceil(gpus / instance_gpus)


def gpus_paid(instances_needed, instance_gpus):
    """GPUs in those instances, used or idle."""
    return instances_needed * instance_gpus


def idle_gpus(gpus_paid, gpus):
    """GPUs paid and not used."""
    return gpus_paid - gpus


def vcpus_needed(instances_needed, instance_vcpus):
    """vCPUs that AWS counts against the account's quota."""
    return instances_needed * instance_vcpus


def host_memory_needed_bytes(offloaded_bytes, gpus, instance_gpus):
    """CPU memory that offloading takes on one instance: that of each GPU on it. [B]"""
    return offloaded_bytes * np.minimum(gpus, instance_gpus)


def usd_per_hour_on_demand(instances_needed, on_demand_usd_per_hour):
    """The whole job on demand. [USD/h]"""
    return instances_needed * on_demand_usd_per_hour


def usd_per_hour_spot(instances_needed, spot_usd_per_hour):
    """The whole job on spot, at the median over zones. [USD/h]"""
    return instances_needed * spot_usd_per_hour


def usd_per_month_on_demand(usd_per_hour_on_demand, hours_per_month):
    """A month on demand at the hours that the scenario is up. [USD]"""
    return usd_per_hour_on_demand * hours_per_month


def usd_per_month_spot(usd_per_hour_spot, hours_per_month):
    """A month on spot at the hours that the scenario is up. [USD]"""
    return usd_per_hour_spot * hours_per_month


def prices_as_of(on_demand_as_of, spot_as_of, usd_per_hour_on_demand, usd_per_hour_spot):
    """The older of the dates of the prices used, as ISO text."""
    first = np.where(np.isnan(usd_per_hour_on_demand), "", on_demand_as_of).astype(object)
    second = np.where(np.isnan(usd_per_hour_spot), "", spot_as_of).astype(object)
    older = np.where((second == "") | ((first != "") & (first < second)), first, second)
    return older.astype(object)


PER_HOUR = (
    instances_needed, gpus_paid, idle_gpus, vcpus_needed, usd_per_hour_on_demand, usd_per_hour_spot, usd_per_month_on_demand, usd_per_month_spot, prices_as_of,
)


def bill_columns(table):
    """The bill's columns of a joined table."""
    evaluate_all(PER_HOUR, table)
    return {formula.__name__: table[formula.__name__] for formula in PER_HOUR}
