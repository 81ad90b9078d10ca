"""A lower bound of memory that needs no moments, so that what cannot fit is dropped early.

It is never more than the allocated peak: parameters outside the blocks, which some software does
not divide, count as divided.
"""

import numpy as np


def divided_weights_bytes(
    parameters, matrix_bytes_each, outer_bytes_each, weight_shards, offloads_weights
):
    """Weights divided over their shards, in the narrower of their two formats. [B]"""
    return (
        parameters
        * np.minimum(matrix_bytes_each, outer_bytes_each)
        / weight_shards
        * (1 - offloads_weights)
    )


def divided_gradients_bytes(
    trained_parameters, gradient_width_bytes_each, gradient_shards, offloads_weights
):
    """Gradients divided over their shards. [B]"""
    return trained_parameters * gradient_width_bytes_each / gradient_shards * (1 - offloads_weights)


def divided_states_bytes(
    trained_parameters,
    adapts,
    matrix_states,
    outer_states,
    state_width_bytes_each,
    master_bytes_each,
    optimizer_shards,
):
    """Optimizer state and master copy divided over their shards. [B]"""
    states = np.minimum(
        matrix_states, outer_states
    ) * state_width_bytes_each + master_bytes_each * (1 - adapts)
    return trained_parameters * states / optimizer_shards


def least_step_bytes(
    divided_weights_bytes,
    divided_gradients_bytes,
    divided_states_bytes,
    trains,
    offloads_optimizer,
    tensor_parallel,
    pipeline_parallel,
    expert_parallel,
    awake_engine_bytes,
):
    """Memory of one GPU at the optimizer's step, or of its weights, if evenly divided. [B]"""
    step = (divided_gradients_bytes + divided_states_bytes) * (1 - offloads_optimizer)
    return (divided_weights_bytes + trains * step) / (
        tensor_parallel * pipeline_parallel * expert_parallel
    ) + awake_engine_bytes


def least_rollout_bytes(
    divided_weights_bytes,
    divided_states_bytes,
    weights_leave,
    states_leave,
    offloads_optimizer,
    tensor_parallel,
    pipeline_parallel,
    expert_parallel,
    engine_share_bytes,
):
    """Memory that stays beside a colocated engine while it generates, if evenly divided. [B]"""
    states = divided_states_bytes * (1 - states_leave) * (1 - offloads_optimizer)
    stays = divided_weights_bytes * (1 - weights_leave) + states
    return np.where(
        engine_share_bytes > 0,
        stays / (tensor_parallel * pipeline_parallel * expert_parallel) + engine_share_bytes,
        0.0,
    )


def least_bytes(least_step_bytes, least_rollout_bytes):
    """The larger of both moments. [B]"""
    return np.maximum(least_step_bytes, least_rollout_bytes)
