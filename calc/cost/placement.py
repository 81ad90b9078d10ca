"""Where a job may stand: tensor parallel inside one instance, several instances over EFA only, no joined fractions."""

import numpy as np

from calc.columns import GIB

MULTI_INSTANCE_BYTES_PER_SECOND = 12.5e9  # 100 Gbit/s: below it a step waits more than it computes
HOST_RATIO = 0.9  # of an instance's CPU memory; the rest is the system's and the data loader's


def spans_instances(trains, instances_needed, compute_parts, instance_gpus):
    """Whether GPUs of several instances work on one thing: training, or a replica larger than an instance (0 or 1)."""
    return ((instances_needed > 1) & ((trains > 0) | (compute_parts > instance_gpus))).astype(float)


def host_memory_needed_bytes(offloaded_bytes, gpus, instance_gpus):
    """CPU memory that offloading takes on one instance: that of each GPU on it. [B]"""
    return offloaded_bytes * np.minimum(gpus, instance_gpus)


def placement_problem(
    instance,
    gpus,
    tensor_parallel,
    island_gpus,
    instance_gpus,
    instance_gpu_fraction,
    instance_network_bytes_per_second,
    instance_efa_interfaces,
    instance_memory_bytes,
    spans_instances,
    host_memory_needed_bytes,
):
    """Empty, or one sentence: why the job cannot stand on these instances, and what to change."""
    text = np.full(np.shape(gpus), "", dtype=object)
    slow = (instance_network_bytes_per_second < MULTI_INSTANCE_BYTES_PER_SECOND) | ~(instance_efa_interfaces > 0)
    rules = (
        (
            (instance_gpu_fraction < 1) & (gpus > 1),
            "{instance} is a fraction of a card, and fractions cannot be joined; take 1 GPU or whole cards.",
        ),
        (
            tensor_parallel > island_gpus,
            "Tensor parallel {tensor:.0f} leaves the {island:.0f} GPUs that {instance} joins; take at most "
            "{island:.0f}, and pipeline or data parallel between instances.",
        ),
        (
            (spans_instances > 0) & slow,
            "{instance} has no EFA of 100 Gbit/s or more, which work over several instances needs; "
            "take at most {own:.0f} GPUs or a type with it.",
        ),
        (
            host_memory_needed_bytes > HOST_RATIO * instance_memory_bytes,
            "Offloading takes {need:.0f} GiB of CPU memory on each {instance}, which has {has:.0f}; "
            "offload less, shard over more GPUs or take an instance with more.",
        ),
    )
    for wrong, sentence in rules:
        for row in np.flatnonzero(wrong & (text == "")):
            text[row] = sentence.format(
                instance=instance[row],
                tensor=tensor_parallel[row],
                island=island_gpus[row],
                own=instance_gpus[row],
                need=host_memory_needed_bytes[row] / GIB,
                has=instance_memory_bytes[row] / GIB,
            )
    return np.where(np.isnan(instance_gpus), "", text).astype(object)


PLACEMENT = (spans_instances, host_memory_needed_bytes, placement_problem)
