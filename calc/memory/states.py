"""Gradients and optimizer state on one GPU, what the step adds for a moment, and what offloading leaves in CPU memory. Bytes."""

import numpy as np

from calc.memory.peak import at_peak


def gradients_bytes(peak_moment, moment_gradients_bytes):
    """Gradients alive at the moment of the peak. [B]

    All of this GPU's at the step, unsharded parameters · width / gradient shards (Rajbhandari et al. 2019, arXiv
    1910.02054, section 5); in the backward pass those of the blocks that are done.
    """
    return at_peak(moment_gradients_bytes, peak_moment)


def optimizer_bytes(peak_moment, moment_optimizer_bytes):
    """Optimizer state and the fp32 master copy, alive at every moment but the load: resident_optimizer_bytes. [B]"""
    return at_peak(moment_optimizer_bytes, peak_moment)


def gradient_shards(shard_gpus, shards_gradients, trains):
    """GPUs that the kept gradients are divided over: ZeRO 2 and 3 (arXiv 1910.02054, section 5.2). [GPUs]"""
    return np.where(shards_gradients * trains > 0, shard_gpus, 1)


def optimizer_shards(shard_gpus, shards_optimizer, trains):
    """GPUs that optimizer state and master weights are divided over: ZeRO 1 to 3 (arXiv 1910.02054, section 5.1). [GPUs]"""
    return np.where(shards_optimizer * trains > 0, shard_gpus, 1)


def trained_blocks_here(trains, adapts, blocks_parameters_here, adapter_parameters_here, tower_parameters_here):
    """Trained parameters inside the blocks on one GPU; full training trains a vision tower too, adapters leave it frozen. [elements]"""
    return trains * np.where(adapts > 0, adapter_parameters_here, blocks_parameters_here + tower_parameters_here)


def trained_outside_here(trains, adapts, outside_parameters_here):
    """Trained parameters outside the blocks on one GPU. [elements]"""
    return trains * (1 - adapts) * outside_parameters_here


def trained_ratio(adapts, adapter_parameters_here, blocks_parameters_here):
    """Trained share of the blocks' parameters: all, or the adapters over the frozen ones. [share]"""
    return np.where(adapts > 0, adapter_parameters_here / np.maximum(blocks_parameters_here, 1), 1.0)


def trained_parameters_here(trained_blocks_here, trained_outside_here):
    """Trained parameters on one GPU before sharding. [parameters]"""
    return trained_blocks_here + trained_outside_here


def gradient_width_bytes_each(adapts, adapter_bytes_each, gradient_bytes_each, gradient_override_bytes_each):
    """Width of a kept gradient: that of its weight, unless kept wider (Megatron's fp32 accumulation). [B]"""
    own = np.where(adapts > 0, adapter_bytes_each, gradient_bytes_each)
    return np.where(gradient_override_bytes_each > 0, gradient_override_bytes_each, own)


def full_gradients_bytes(trained_parameters_here, gradient_width_bytes_each, offloads_weights):
    """All gradients of this GPU's parameters, unsharded; they follow offloaded weights to the CPU. [B]"""
    return trained_parameters_here * gradient_width_bytes_each * (1 - offloads_weights)


def spread_gradients_bytes(spread_experts_here, gradient_width_bytes_each, gradient_shards, offloads_weights):
    """What the experts' gradients count more where they are divided by fewer ranks than others. [B]"""
    return (gradient_shards > 1) * spread_experts_here * gradient_width_bytes_each * (1 - offloads_weights)


def accumulated_gradients_bytes(
    full_gradients_bytes,
    spread_gradients_bytes,
    gradient_shards,
    accumulation_steps,
    pipeline_parallel,
    fsdp_active,
    trained_parameters_here,
    reduce_bytes_each,
    implementation_accumulates_unsharded,
    implementation_accumulates,
):
    """Gradients that micro-batches leave for the next. [B]

    Where they accumulate, in recipes that always do (litgpt), and in a buffer that stands from the start (Megatron). FSDP
    without synchronisation keeps them whole (set_requires_gradient_sync, torch/distributed/fsdp/_fully_shard), as its
    pipelines do until the last micro-batch (torch/distributed/pipelining/stage.py).
    """
    whole = fsdp_active * np.maximum(implementation_accumulates_unsharded, pipeline_parallel > 1)
    divided = (full_gradients_bytes + spread_gradients_bytes) / gradient_shards
    kept = np.where(whole > 0, trained_parameters_here * reduce_bytes_each, divided)
    return kept * ((accumulation_steps > 1) | (pipeline_parallel > 1) | (implementation_accumulates > 0))


def state_width_bytes_each(adapts, adapter_bytes_each, state_bytes_each, fixed_state_bytes_each):
    """Width of one optimizer state element: of the weight, or fixed (8 bits and a scale per 256). [B]

    8 bits: Dettmers et al. 2021, arXiv 2110.02861; bitsandbytes/optim/optimizer.py. Tensors under 4,096 elements, which it
    leaves in 32 bits, are counted in 8.
    """
    return np.where(fixed_state_bytes_each > 0, fixed_state_bytes_each, np.where(adapts > 0, adapter_bytes_each, state_bytes_each))


def resident_optimizer_bytes(
    trained_blocks_here,
    trained_outside_here,
    spread_experts_here,
    matrix_states,
    outer_states,
    state_width_bytes_each,
    master_bytes_each,
    adapts,
    embedding_in_fp32,
    implementation_embedding_state_in_fp32,
    embedding_parameters_here,
    optimizer_shards,
    offloads_optimizer,
    trains,
):
    """Optimizer state and the fp32 master copy. [B]

    Parameters · (states · width + 4 with a master copy) / optimizer shards (Rajbhandari et al. 2019, arXiv 1910.02054,
    sections 3.1 and 5.1); those of experts by the ranks that hold the same ones. Adam has two
    states, its moments (Kingma and Ba 2014, arXiv 1412.6980).
    """
    blocks = trained_blocks_here + spread_experts_here * (optimizer_shards > 1)
    state = (blocks * matrix_states + trained_outside_here * outer_states) * state_width_bytes_each
    wide_embedding = embedding_in_fp32 * implementation_embedding_state_in_fp32 * trains * (1 - adapts)
    state = state + wide_embedding * embedding_parameters_here * outer_states * (4 - state_width_bytes_each)
    master = master_bytes_each * (1 - adapts) * (blocks + trained_outside_here)
    return (state + master) / optimizer_shards * (1 - offloads_optimizer)


def largest_parameters_here(
    stack_block_largest_matrix,
    embedding_parameters_here,
    head_matrix_parameters,
    holds_head,
    vocabulary_split,
    tensor_parallel,
    adapts,
    lora_rank,
    hidden,
):
    """Elements of the largest single trained tensor on one GPU. [parameters]"""
    ends = np.maximum(embedding_parameters_here, head_matrix_parameters * holds_head / vocabulary_split)
    largest = np.maximum(np.max(stack_block_largest_matrix, axis=0) / tensor_parallel, ends)
    return np.where(adapts > 0, lora_rank * hidden, largest)


def step_copies(steps_fused, steps_foreach, fused_copies, foreach_copies):
    """Copies of all trained parameters, in their own format, that the step holds for a moment. [copies]"""
    return steps_fused * fused_copies + steps_foreach * foreach_copies


def step_largest_bytes_each(
    steps_fused,
    steps_loop,
    state_bytes_each,
    fused_largest_16bit_bytes_each,
    fused_largest_32bit_bytes_each,
    loop_largest_copies,
    trained_bytes_each,
):
    """What the step holds for a moment per element of the largest tensor. [B]"""
    fused = np.where(state_bytes_each < 4, fused_largest_16bit_bytes_each, fused_largest_32bit_bytes_each)
    return steps_fused * fused + steps_loop * loop_largest_copies * trained_bytes_each


def offloaded_bytes(
    trains,
    offloads_optimizer,
    offloads_weights,
    trained_parameters_here,
    matrix_states,
    state_width_bytes_each,
    master_bytes_each,
    optimizer_shards,
    gradient_width_bytes_each,
    gradient_shards,
    blocks_parameters_here,
    tower_parameters_here,
    outside_parameters_here,
    matrix_bytes_each,
    weight_shards,
    offloads_activations,
    moved_activations_bytes,
):
    """What a GPU leaves in CPU memory: optimizer state with its gradients, weights, saved activations. [B]"""
    state = trained_parameters_here * (matrix_states * state_width_bytes_each + master_bytes_each) / optimizer_shards
    gradients = trained_parameters_here * gradient_width_bytes_each / gradient_shards
    weights = (blocks_parameters_here + tower_parameters_here + outside_parameters_here) * matrix_bytes_each / weight_shards
    moved = offloads_optimizer * (state + gradients) + offloads_weights * weights + offloads_activations * moved_activations_bytes
    return np.where(trains > 0, moved, 0.0)


SHARDS = (gradient_shards, optimizer_shards)
STATES = (
    trained_blocks_here,
    trained_outside_here,
    trained_ratio,
    trained_parameters_here,
    gradient_width_bytes_each,
    full_gradients_bytes,
    spread_gradients_bytes,
    accumulated_gradients_bytes,
    state_width_bytes_each,
    resident_optimizer_bytes,
    largest_parameters_here,
    step_copies,
    step_largest_bytes_each,
)
