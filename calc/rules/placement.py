"""The places where a job may run: tensor parallel inside an instance, several over EFA only."""

import numpy as np

from calc.rules.layouts import Rule
from calc.units import GIB

NODE_GPUS = 8  # of an instance where none is named
DEEPSPEED_BUFFERS = 1.5  # DeepSpeed's own factor for buffers beside the states in CPU memory
STATE_BYTES_EACH, WEIGHT_BYTES_EACH, LOADED_BYTES_EACH = 16, 2, 4


def node_gpus(gpus, instance_gpus):
    """GPUs of the job on one instance. [GPUs]

    By definition.
    """
    return np.minimum(gpus, np.where(np.isnan(instance_gpus), NODE_GPUS, instance_gpus))


def deepspeed_host_bytes(
    implementation_bucket_elements,
    offloads_optimizer,
    offloads_weights,
    trained_parameters,
    parameters,
    gpus,
    node_gpus,
):
    """RAM of one instance that ZeRO-Offload or ZeRO-Infinity takes; 0 without either. [B]

    16 bytes per trained parameter (fp32 weight, gradient and two moments), 2 more for offloaded
    weights, shared by the instances; or, while loading, 4 bytes per parameter in every rank. Both
    times 1.5 for buffers. Source: DeepSpeed 0.19, runtime/zero/stage_1_and_2.py and stage3.py
    (estimate_zero2_model_states_mem_needs, estimate_zero3_model_states_mem_needs).
    """
    kept_bytes = (
        STATE_BYTES_EACH * trained_parameters + WEIGHT_BYTES_EACH * offloads_weights * parameters
    )
    of_states = kept_bytes * node_gpus / np.maximum(gpus, 1)
    of_loading = LOADED_BYTES_EACH * parameters * node_gpus
    offloads = (implementation_bucket_elements > 0) * offloads_optimizer
    return offloads * DEEPSPEED_BUFFERS * np.maximum(of_states, of_loading)


def host_memory_bytes(offloaded_bytes, node_gpus, deepspeed_host_bytes):
    """RAM of one instance that offloading and loading take. [B]

    By definition.
    """
    return np.maximum(offloaded_bytes * node_gpus, deepspeed_host_bytes)


def host_memory_needed_bytes(host_memory_bytes, instance_gpus):
    """RAM that the named instance must have; NaN if none is named. [B]

    By definition.
    """
    return np.where(np.isnan(instance_gpus), np.nan, host_memory_bytes)


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
    is_widened = (trains == 0) & (compute_bytes_each == 1) & np.isnan(gpu_fp8_flops_per_second)
    return expert_shard_elements * (
        is_widened & (expert_shard_elements % np.maximum(serving_marlin_expert_tile, 1) > 0)
    )


RULES = (
    Rule(
        "fraction-not-joined",
        lambda instance_gpu_fraction, gpus: (instance_gpu_fraction < 1) & (gpus > 1),
        ("instance",),
    ),
    Rule(
        "tensor-parallel-exceeds-island",
        lambda tensor_parallel, island_gpus, instance_gpus: (
            (tensor_parallel > island_gpus) & ~np.isnan(instance_gpus)
        ),
        ("tensor_parallel", "island_gpus", "instance"),
    ),
    Rule(
        "network-too-slow",
        lambda spans_instances, slow_to_join: (spans_instances > 0) & slow_to_join,
        ("instance", "instance_gpus"),
    ),
    Rule(
        "host-memory-exceeded",
        lambda host_memory_needed_bytes, usable_host_ratio, instance_memory_bytes: (
            host_memory_needed_bytes > usable_host_ratio * instance_memory_bytes
        ),
        ("instance",),
        {
            "need": lambda host_memory_needed_bytes: host_memory_needed_bytes / GIB,
            "has": lambda instance_memory_bytes: instance_memory_bytes / GIB,
        },
    ),
    Rule(
        "expert-not-whole-tiles",
        lambda untiled_shard_elements: untiled_shard_elements > 0,
        (
            "implementation",
            "model",
            "precision",
            "untiled_shard_elements",
            "serving_marlin_expert_tile",
        ),
    ),
)
