"""The moment of the peak: which moment is the largest; what is left in CPU memory. Bytes.

Memory is a peak, not a sum: the estimate is the largest moment, and the breakdown is that moment's.
"""

import numpy as np


def peak_moment(moment_bytes):
    """The number of the largest moment, the first of equals."""
    largest, number = moment_bytes[0], np.zeros(1, dtype=np.int64)
    for place, total in enumerate(moment_bytes[1:], start=1):
        larger = total > largest
        largest, number = np.where(larger, total, largest), np.where(larger, place, number)
    return number


def allocated_peak_bytes(moment_bytes):
    """What torch.cuda.max_memory_allocated shows: the largest moment. [B]"""
    return np.maximum.reduce(np.broadcast_arrays(*moment_bytes))


def offloaded_bytes_each(
    matrix_states,
    state_width_bytes_each,
    master_bytes_each,
    optimizer_shards,
    gradient_width_bytes_each,
    gradient_shards,
):
    """Optimizer state and gradient of one trained parameter, each divided by its shards. [B]"""
    return (
        matrix_states * state_width_bytes_each + master_bytes_each
    ) / optimizer_shards + gradient_width_bytes_each / gradient_shards


def offloaded_states_bytes(offloads_optimizer, trained_parameters_here, offloaded_bytes_each):
    """Offloaded optimizer state with its gradients. [B]"""
    return offloads_optimizer * trained_parameters_here * offloaded_bytes_each


def offloaded_weights_bytes(
    offloads_weights,
    blocks_parameters_here,
    tower_parameters_here,
    outside_parameters_here,
    matrix_bytes_each,
    weight_shards,
):
    """Offloaded shards of the weights. [B]"""
    elements = blocks_parameters_here + tower_parameters_here + outside_parameters_here
    return offloads_weights * (elements * matrix_bytes_each / weight_shards)


def moved_bytes(
    offloaded_states_bytes, offloaded_weights_bytes, offloads_activations, moved_activations_bytes
):
    """States, weights and saved activations of a training in CPU memory. [B]"""
    return (
        offloaded_states_bytes
        + offloaded_weights_bytes
        + offloads_activations * moved_activations_bytes
    )


def offloaded_bytes(trains, moved_bytes, kv_offload_bytes, replica_gpus):
    """All that a GPU leaves in CPU memory; in serving its share of the cache there. [B]"""
    return np.where(trains > 0, moved_bytes, np.nan_to_num(kv_offload_bytes) / replica_gpus)
