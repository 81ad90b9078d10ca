"""The machines of a job: whole instances, their GPUs and vCPUs, and those in reserve."""

import numpy as np


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


def spare_instances(trains, replica_gpus, instance_gpus, spot_spare_replicas):
    """Instances of whole replicas that a service on spot keeps in reserve. [instances]"""
    return np.where(trains > 0, 0.0, spot_spare_replicas * np.ceil(replica_gpus / instance_gpus))


def spans_instances(trains, instances_needed, replica_gpus, instance_gpus):
    """1 where GPUs of several instances work together: a training, a large replica. [0 or 1]"""
    return ((instances_needed > 1) & ((trains > 0) | (replica_gpus > instance_gpus))) * 1.0
