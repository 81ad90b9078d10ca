"""The machines of a job: whole instances, their GPUs and vCPUs, and those in reserve."""

import numpy as np

ROUNDING = 1e-12  # of a division whose result is whole


def instances_needed(gpus, instance_gpus):
    """Whole instances that hold the job's GPUs. [instances]

    By definition.
    """
    return np.ceil(gpus / instance_gpus)


def gpus_paid(instances_needed, instance_gpus):
    """GPUs of those instances, used or idle. [GPUs]

    By definition.
    """
    return instances_needed * instance_gpus


def idle_gpus(gpus_paid, gpus):
    """GPUs that are paid for and not used. [GPUs]

    By definition.
    """
    return gpus_paid - gpus


def vcpus_needed(instances_needed, instance_vcpus):
    """vCPUs that AWS counts against the account's quota for this family. [vCPUs]

    Source: catalogs/edited/quotas.yaml and catalogs/edited/instances.yaml.
    """
    return instances_needed * instance_vcpus


def ends(trains, tokens_total):
    """1 if the work ends: a training run, or the offline work of a service. [0 or 1]

    By definition.
    """
    return np.where((trains > 0) | (tokens_total > 0), 1.0, 0.0)


def standby_instances(ends, spare):
    """Instances of a service beyond its load, in case one fails. [instances]

    Source: spare of catalogs/edited/assumptions.yaml.
    """
    return np.where(ends > 0, 0.0, spare)


def spare_instances(ends, replica_gpus, instance_gpus, spot_spare_replicas, standby_instances):
    """Instances of whole replicas that a service on Spot keeps in reserve. [instances]

    They also replace an instance that fails. Source: spot_spare_replicas of
    catalogs/edited/assumptions.yaml.
    """
    replicas = spot_spare_replicas * np.ceil(replica_gpus / instance_gpus)
    return np.where(ends > 0, 0.0, np.maximum(replicas, standby_instances))


def resting_instances(
    ends, scales_hourly, peak_to_mean, instances_needed, replica_gpus, instance_gpus
):
    """Instances that are off on average if a service scales every hour. [instances]

    The mean load takes whole instances, or whole replicas if these are larger, and at least one.
    By definition.
    """
    unit = np.ceil(replica_gpus / instance_gpus)
    running = unit * np.maximum(np.ceil(instances_needed / unit / peak_to_mean * (1 - ROUNDING)), 1)
    return np.where(
        (ends == 0) & (scales_hourly > 0), np.maximum(instances_needed - running, 0.0), 0.0
    )


def spans_instances(trains, instances_needed, replica_gpus, expert_parallel, instance_gpus):
    """1 if a training run, a replica or its divided experts use several instances. [0 or 1]

    By definition.
    """
    together = np.maximum(replica_gpus, expert_parallel)
    return ((instances_needed > 1) & ((trains > 0) | (together > instance_gpus))) * 1.0
