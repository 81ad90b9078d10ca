"""The machines of a job: whole instances, their GPUs and vCPUs, and those in reserve."""

import numpy as np

ROUNDING = 1e-12  # of a division whose result is whole


def instances_needed(gpus, instance_gpus):
    """Whole instances that hold the job's GPUs. [instances]"""
    return np.ceil(gpus / instance_gpus)


def gpus_paid(instances_needed, instance_gpus):
    """GPUs in those instances, used or idle. [GPUs]"""
    return instances_needed * instance_gpus


def idle_gpus(gpus_paid, gpus):
    """GPUs paid and not used. [GPUs]"""
    return gpus_paid - gpus


def vcpus_needed(instances_needed, instance_vcpus):
    """vCPUs that AWS counts against the account's quota for this family. [vCPUs]"""
    return instances_needed * instance_vcpus


def ends(trains, tokens_total):
    """1 where the work ends: a training run, or offline work of a service. [0 or 1]"""
    return np.where((trains > 0) | (tokens_total > 0), 1.0, 0.0)


def standby_instances(ends, spare):
    """Instances of a service beyond its load, for one that fails. [instances]"""
    return np.where(ends > 0, 0.0, spare)


def spare_instances(ends, replica_gpus, instance_gpus, spot_spare_replicas, standby_instances):
    """Instances of whole replicas that a service on spot keeps in reserve. [instances]

    They also stand in for an instance that fails.
    """
    replicas = spot_spare_replicas * np.ceil(replica_gpus / instance_gpus)
    return np.where(ends > 0, 0.0, np.maximum(replicas, standby_instances))


def resting_instances(
    ends, scales_hourly, peak_to_mean, instances_needed, replica_gpus, instance_gpus
):
    """Instances that rest on average where a service scales by the hour. [instances]

    The mean load takes whole instances, whole replicas where these are larger, and at least one.
    """
    unit = np.ceil(replica_gpus / instance_gpus)
    running = unit * np.maximum(np.ceil(instances_needed / unit / peak_to_mean * (1 - ROUNDING)), 1)
    return np.where(
        (ends == 0) & (scales_hourly > 0), np.maximum(instances_needed - running, 0.0), 0.0
    )


def spans_instances(trains, instances_needed, replica_gpus, expert_parallel, instance_gpus):
    """1 where a training, a replica or its divided experts take several instances. [0 or 1]"""
    together = np.maximum(replica_gpus, expert_parallel)
    return ((instances_needed > 1) & ((trains > 0) | (together > instance_gpus))) * 1.0
