"""Where a job may stand: tensor parallel inside one instance, several instances over EFA only, no joined fractions."""

import numpy as np

MULTI_INSTANCE_BYTES_PER_SECOND = (
    12.5e9  # 100 Gbit/s: below it a training step waits for the network more than it computes
)
HOST_BYTES_EACH = (
    16  # ZeRO-Offload keeps weight, two moments and a gradient in fp32 on the CPU (Ren et al. 2021, 2101.06840)
)
HOST_SHARE = 0.9  # of the instance's memory; the rest is the system's and the data loader's


def spans_instances(trains, instances_needed, compute_parts, instance_gpus):
    """Whether GPUs of several instances work on one thing: training, or a replica larger than an instance (0 or 1)."""
    return ((instances_needed > 1) & ((trains > 0) | (compute_parts > instance_gpus))).astype(float)


def offloaded_bytes_per_instance(
    offloads_optimizer,
    trained_parameters,
    tensor_parallel,
    pipeline_parallel,
    data_parallel,
    shards_optimizer,
    instance_gpus,
    gpus,
):
    """CPU memory of one instance that an offloaded optimizer fills. [B]"""
    shards = tensor_parallel * pipeline_parallel * np.where(shards_optimizer > 0, data_parallel, 1)
    return offloads_optimizer * HOST_BYTES_EACH * trained_parameters / shards * np.minimum(instance_gpus, gpus)


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
    offloaded_bytes_per_instance,
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
            offloaded_bytes_per_instance > HOST_SHARE * instance_memory_bytes,
            "The offloaded optimizer needs {need:.0f} GiB of CPU memory in each {instance}, which has {has:.0f}; "
            "shard it, or take an instance with more.",
        ),
    )
    for wrong, sentence in rules:
        for row in np.flatnonzero(wrong & (text == "")):
            text[row] = sentence.format(
                instance=instance[row],
                tensor=tensor_parallel[row],
                island=island_gpus[row],
                own=instance_gpus[row],
                need=offloaded_bytes_per_instance[row] / 2**30,
                has=instance_memory_bytes[row] / 2**30,
            )
    return np.where(np.isnan(instance_gpus), "", text).astype(object)


PLACEMENT = (spans_instances, offloaded_bytes_per_instance, placement_problem)
