"""The moment of the peak: which moment is the largest; what is left in CPU memory. Bytes.

Memory is a peak, not a sum: the estimate is the largest moment, and the breakdown is that moment's.
"""

import numpy as np


def peak_moment(moment_bytes):
    """Number of the largest moment, the first among equals.

    By definition.
    """
    largest, number = moment_bytes[0], np.zeros(1, dtype=np.int64)
    for place, total in enumerate(moment_bytes[1:], start=1):
        larger = total > largest
        largest = np.where(larger, total, largest)
        number = np.where(larger, place, number)
    return number


def allocated_peak_bytes(moment_bytes):
    """Largest moment, which torch.cuda.max_memory_allocated shows. [B]

    By definition.
    """
    return np.maximum.reduce(np.broadcast_arrays(*moment_bytes))


def offloaded_bytes_each(
    matrix_states,
    state_width_bytes_each,
    master_bytes_each,
    optimizer_shards,
    gradient_width_bytes_each,
    gradient_shards,
):
    """Optimizer state and gradient of one trained parameter, each over its shards. [B]

    Source: ZeRO-Offload, Ren et al. 2021, arXiv 2101.06840.
    """
    return (
        matrix_states * state_width_bytes_each + master_bytes_each
    ) / optimizer_shards + gradient_width_bytes_each / gradient_shards


def offloaded_states_bytes(offloads_optimizer, trained_parameters_here, offloaded_bytes_each):
    """Offloaded optimizer state with its gradients. [B]

    Source: ZeRO-Offload, Ren et al. 2021, arXiv 2101.06840.
    """
    return offloads_optimizer * trained_parameters_here * offloaded_bytes_each


def offloaded_weights_bytes(
    offloads_weights,
    blocks_parameters_here,
    tower_parameters_here,
    outside_parameters_here,
    matrix_bytes_each,
    weight_shards,
):
    """Offloaded shards of the weights. [B]

    Source: torch/distributed/fsdp, CPUOffloadPolicy; Rajbhandari et al. 2021, arXiv 2104.07857.
    """
    elements = blocks_parameters_here + tower_parameters_here + outside_parameters_here
    return offloads_weights * (elements * matrix_bytes_each / weight_shards)


def moved_bytes(
    offloaded_states_bytes,
    offloaded_weights_bytes,
    reference_host_bytes,
    offloads_activations,
    moved_activations_bytes,
):
    """States, weights, reference and saved activations of a training run in CPU memory. [B]

    By definition.
    """
    return (
        offloaded_states_bytes
        + offloaded_weights_bytes
        + reference_host_bytes
        + offloads_activations * moved_activations_bytes
    )


def offloaded_bytes(trains, moved_bytes, kv_offload_bytes, replica_gpus):
    """Everything that a GPU keeps in CPU memory; in serving its share of the cache. [B]

    By definition.
    """
    return np.where(trains > 0, moved_bytes, np.nan_to_num(kv_offload_bytes) / replica_gpus)
