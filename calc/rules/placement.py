"""The places where a job may run: tensor parallel inside an instance, several over EFA only."""

import numpy as np

from calc.rules.layouts import Rule
from calc.units import GIB


def host_memory_needed_bytes(offloaded_bytes, gpus, instance_gpus):
    """CPU memory that offloading takes on one instance, for all of its GPUs. [B]

    By definition.
    """
    return offloaded_bytes * np.minimum(gpus, instance_gpus)


def slow_to_join(
    instance_network_bytes_per_second, instance_efa_interfaces, slowest_joining_bytes_per_second
):
    """1 if the network is too slow to join instances, or is not EFA. [0 or 1]

    Source: slowest_joining_bytes_per_second of catalogs/edited/assumptions.yaml.
    """
    return (instance_network_bytes_per_second < slowest_joining_bytes_per_second) | ~(
        instance_efa_interfaces > 0
    )


def untiled_shard_elements(
    expert_shard_elements,
    trains,
    compute_bytes_each,
    gpu_fp8_flops_per_second,
    serving_marlin_expert_tile,
):
    """A GPU's share of an fp8 expert that Marlin cannot divide, else 0. [elements]

    Marlin is the kernel of cards without fp8. Source: vllm-project/vllm pull request 36807.
    """
    widened = (trains == 0) & (compute_bytes_each == 1) & np.isnan(gpu_fp8_flops_per_second)
    return expert_shard_elements * (
        widened & (expert_shard_elements % np.maximum(serving_marlin_expert_tile, 1) > 0)
    )


RULES = (
    Rule(
        lambda instance_gpu_fraction, gpus: (instance_gpu_fraction < 1) & (gpus > 1),
        (
            "{instance} is a fraction of a card, and fractions cannot be joined; take 1 GPU or "
            "whole cards."
        ),
    ),
    Rule(
        lambda tensor_parallel, island_gpus, instance_gpus: (
            (tensor_parallel > island_gpus) & ~np.isnan(instance_gpus)
        ),
        "Tensor parallel {tensor_parallel:.0f} leaves the {island_gpus:.0f} GPUs that "
        "{instance} joins; take at most "
        "{island_gpus:.0f}, and pipeline or data parallel between instances.",
    ),
    Rule(
        lambda spans_instances, slow_to_join: (spans_instances > 0) & slow_to_join,
        "{instance} has no EFA of 100 Gbit/s or more, which work over several instances needs; "
        "take at most {instance_gpus:.0f} GPUs or a type with it.",
    ),
    Rule(
        lambda host_memory_needed_bytes, usable_host_ratio, instance_memory_bytes: (
            host_memory_needed_bytes > usable_host_ratio * instance_memory_bytes
        ),
        "Offloading takes {need:.0f} GiB of CPU memory on each {instance}, which has {has:.0f}; "
        "offload less, shard over more GPUs or take an instance with more.",
        {
            "need": lambda host_memory_needed_bytes: host_memory_needed_bytes / GIB,
            "has": lambda instance_memory_bytes: instance_memory_bytes / GIB,
        },
    ),
    Rule(
        lambda untiled_shard_elements: untiled_shard_elements > 0,
        "{implementation} fails with {model} in {precision} on a card without fp8: a GPU's "
        "{untiled_shard_elements:g} columns of an expert "
        "are no whole tiles of its kernel ({serving_marlin_expert_tile:.0f}); take another "
        "precision, or other GPUs to a replica.",
    ),
)
