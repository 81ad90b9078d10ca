"""A lower bound of memory that needs no phases: what cannot fit is dropped before its memory is worked out."""

import numpy as np


def least_bytes(
    trains,
    adapts,
    parameters,
    trained_parameters,
    tensor_parallel,
    pipeline_parallel,
    expert_parallel,
    weight_shards,
    gradient_shards,
    optimizer_shards,
    matrix_bytes_each,
    outer_bytes_each,
    gradient_bytes_each,
    gradient_override_bytes_each,
    adapter_bytes_each,
    matrix_states,
    outer_states,
    state_bytes_each,
    fixed_state_bytes_each,
    master_bytes_each,
    offloads_weights,
    offloads_optimizer,
):
    """Weights, and at the optimizer's step gradients and optimizer state, were all divided evenly. [B]

    Never more than the allocated peak: parameters outside the blocks, which some software does not divide, count as divided.
    """
    split = tensor_parallel * pipeline_parallel * expert_parallel
    weights = parameters * np.minimum(matrix_bytes_each, outer_bytes_each) / weight_shards * (1 - offloads_weights)
    gradient = np.where(gradient_override_bytes_each > 0, gradient_override_bytes_each, gradient_bytes_each)
    gradients = np.where(adapts > 0, adapter_bytes_each, gradient) / gradient_shards * (1 - offloads_weights)
    state = np.where(fixed_state_bytes_each > 0, fixed_state_bytes_each, np.where(adapts > 0, adapter_bytes_each, state_bytes_each))
    states = (np.minimum(matrix_states, outer_states) * state + master_bytes_each * (1 - adapts)) / optimizer_shards
    step = trained_parameters * (gradients + states) * (1 - offloads_optimizer)
    return (weights + trains * step) / split
