"""Temporary memory of the optimizer's step. Bytes.

Source: torch/optim, by catalogs/edited/optimizers.yaml.
"""

import numpy as np


def largest_parameters_here(
    stack_block_largest_matrix,
    embedding_parameters_here,
    stage_head_here,
    tensor_parallel,
    adapts,
    lora_rank,
    hidden,
):
    """Elements of the largest single trained tensor. [parameters]"""
    ends = np.maximum(embedding_parameters_here, stage_head_here)
    largest = np.maximum(np.max(stack_block_largest_matrix, axis=0) / tensor_parallel, ends)
    return np.where(adapts > 0, lora_rank * hidden, largest)


def fused_largest_bytes_each(
    state_bytes_each, fused_largest_16bit_bytes_each, fused_largest_32bit_bytes_each
):
    """Temporary bytes of a fused step per element of the largest tensor. [B]"""
    return np.where(
        state_bytes_each < 4, fused_largest_16bit_bytes_each, fused_largest_32bit_bytes_each
    )


def step_largest_bytes_each(
    steps_fused, fused_largest_bytes_each, steps_loop, loop_largest_copies, trained_bytes_each
):
    """Temporary bytes of the step per element of the largest tensor. [B]"""
    return (
        steps_fused * fused_largest_bytes_each
        + steps_loop * loop_largest_copies * trained_bytes_each
    )


def step_shard_parameters(trained_parameters_here, optimizer_shards):
    """Trained parameters that one GPU's optimizer updates. [parameters]"""
    return trained_parameters_here / optimizer_shards


def step_copies_bytes(
    steps_fused,
    steps_foreach,
    fused_copies,
    foreach_copies,
    step_shard_parameters,
    trained_bytes_each,
):
    """Copies of all trained parameters that the step holds for a moment. [B]"""
    return (
        (steps_fused * fused_copies + steps_foreach * foreach_copies)
        * step_shard_parameters
        * trained_bytes_each
    )


def step_temporary_bytes(
    step_copies_bytes,
    step_largest_bytes_each,
    largest_parameters_here,
    trained_parameters_here,
    gradient_shards,
):
    """Temporaries of the step: copies of the shard, and what the largest tensor takes. [B]"""
    largest = (
        step_largest_bytes_each
        * np.minimum(largest_parameters_here, trained_parameters_here)
        / gradient_shards
    )
    return step_copies_bytes + largest


def widened_gradients_bytes(
    implementation_widens_gradients,
    partitions_master,
    shards_optimizer,
    shards_weights,
    data_parallel,
    step_shard_parameters,
    implementation_gradient_bytes_each,
    gradient_width_bytes_each,
):
    """An fp32 copy of a shard's gradients; DeepSpeed's in ZeRO 3 of 1e9 elements at a time. [B]

    Source: deepspeed/runtime/zero/stage_1_and_2.py; stage3.py, sub_group_size. Megatron's fused
    Adam reads fp32 gradients as they are and copies narrower ones: Megatron-LM d98e8a64,
    core/optimizer/distrib_optimizer.py, `shard_main_param.grad = shard_model_grad.float()`.
    """
    widens = (
        np.maximum(implementation_widens_gradients, partitions_master)
        * shards_optimizer
        * (data_parallel > 1)
    )
    deepspeed = (
        widens
        * 6
        * np.where(
            shards_weights > 0, np.minimum(step_shard_parameters, 1e9), step_shard_parameters
        )
    )
    megatron = (implementation_gradient_bytes_each > gradient_width_bytes_each) * (
        implementation_gradient_bytes_each * step_shard_parameters
    )
    return deepspeed + megatron


def step_working_bytes(
    step_temporary_bytes,
    widened_gradients_bytes,
    offloads_optimizer,
    standing_bucket_bytes,
    receive_buffers_bytes,
):
    """Working memory of the step: temporaries, widened gradients, permanent buffers. [B]"""
    return (
        (step_temporary_bytes + widened_gradients_bytes) * (1 - offloads_optimizer)
        + standing_bucket_bytes
        + receive_buffers_bytes
    )
