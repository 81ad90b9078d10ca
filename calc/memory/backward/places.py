"""Where in the backward pass memory is looked at; what gradients and sharding hold there.

The blocks above a place are done: their activations are freed, their gradients kept. Shape of place columns: (places, stacks, rows).
"""

import numpy as np


def place_blocks_below(stack_layers_here):
    """Blocks of the same stack below this one: of its last two and of its first two. [blocks]"""
    last = stack_layers_here - 1
    return np.stack([last, np.maximum(last - 1, 0), np.minimum(last, 1), 0 * last])


def place_blocks_above(stack_layers_here, place_blocks_below):
    """Blocks of the same stack above this one. [blocks]"""
    return stack_layers_here - 1 - place_blocks_below


def place_blocks_before(stack_layers_here, place_blocks_below):
    """Blocks of all stacks below this one. [blocks]"""
    return np.cumsum(stack_layers_here, axis=0) - stack_layers_here + place_blocks_below


def _of_stacks_above(of_stack):
    """The sum over all stacks above each."""
    return np.sum(of_stack, axis=0) - np.cumsum(of_stack, axis=0)


def place_is_top(stack_layers_here, place_blocks_above):
    """1 for the block that no other lies above. [0 or 1]"""
    return (_of_stacks_above(stack_layers_here) <= 0) & (place_blocks_above == 0)


def place_parameters_above(stack_layers_here, stack_block_parameters_here, place_blocks_above):
    """Parameters of all blocks above this one. [elements]"""
    return _of_stacks_above(stack_layers_here * stack_block_parameters_here) + place_blocks_above * stack_block_parameters_here


def place_trained_above(place_parameters_above, trained_ratio):
    """Trained parameters of the blocks that are done. [elements]"""
    return place_parameters_above * trained_ratio


def place_spread_above(stack_layers_here, place_blocks_above, stack_block_experts_here, expert_copies_ratio, gradient_shards, adapts):
    """What experts above count more because fewer ranks divide them. [elements]"""
    if not np.any(expert_copies_ratio > 1):
        return np.zeros(1)
    of_block = stack_block_experts_here * (expert_copies_ratio - 1) * (gradient_shards > 1) * (1 - adapts)
    return _of_stacks_above(stack_layers_here * of_block) + place_blocks_above * of_block


def place_fetched_here(place_blocks_before, stack_group_here, embedding_group_here):
    """Parameters fetched ahead: the block below, or the embedding's group. [elements]"""
    return np.where(place_blocks_before >= 1, stack_group_here, embedding_group_here)


def place_unresharded_here(
    pipeline_parallel, whole_parameters_here, stack_block_parameters_here, embedding_group_here, place_blocks_before
):
    """Parameters that were never sharded again after the forward pass. [elements]

    Source: torch/distributed/pipelining/stage.py, set_reshard_after_backward(False).
    """
    others = whole_parameters_here - stack_block_parameters_here + embedding_group_here
    return np.where(pipeline_parallel > 1, others, stack_block_parameters_here * place_blocks_before)


def place_whole_bytes(
    fsdp_active,
    gathered_bytes_each,
    implementation_groups_ends,
    root_group_here,
    trained_head_here,
    stack_block_parameters_here,
    reshards_weights,
    place_unresharded_here,
    place_fetched_here,
):
    """Whole weights under FSDP: the root group, this block, and what is ahead of it. [B]"""
    root = root_group_here + (1 - implementation_groups_ends) * trained_head_here
    ahead = np.where(reshards_weights < 1, place_unresharded_here, place_fetched_here)
    return fsdp_active * gathered_bytes_each * (root + stack_block_parameters_here + ahead)


def place_live_bytes(
    kept_for_reuse,
    implementation_live_elements,
    gathered_bytes_each,
    stage_head_here,
    place_parameters_above,
    stack_block_parameters_here,
    stack_fetched_ahead,
    stage_parameters_here,
):
    """Whole weights under DeepSpeed's ZeRO 3: this block, and what is ahead or left of it. [B]

    Source: deepspeed/runtime/zero/partitioned_param_coordinator.py, __params_to_release.
    """
    left = implementation_live_elements - stage_head_here - place_parameters_above
    live = np.maximum(left, stack_block_parameters_here) + stack_fetched_ahead
    return kept_for_reuse * gathered_bytes_each * np.minimum(live, stage_parameters_here)


def place_reducing_bytes(
    fsdp_active,
    reduces_at_end,
    reduce_bytes_each,
    place_is_top,
    implementation_groups_ends,
    trained_head_here,
    stack_group_here,
    trained_ratio,
):
    """Gradients of the block above, or of the head, while FSDP reduces them. [B]"""
    above = np.where(place_is_top, implementation_groups_ends * trained_head_here, stack_group_here * trained_ratio)
    return fsdp_active * (1 - reduces_at_end) * reduce_bytes_each * above


def place_reduced_bytes(place_trained_above, implementation_groups_ends, trained_head_here, replicated_bytes_each, gradient_shards):
    """What hybrid sharding has all-reduced so far, still in the reduction's width. [B]"""
    return replicated_bytes_each * (place_trained_above + implementation_groups_ends * trained_head_here) / gradient_shards


def done_head_here(fsdp_active, implementation_groups_ends, trained_head_here):
    """Elements of a head whose gradient is done before the blocks'. [elements]"""
    return np.where(fsdp_active * (1 - implementation_groups_ends) > 0, 0, trained_head_here)


def tied_gradients_bytes(adds_gradients, tied, trained_head_here, gradient_width_bytes_each):
    """A tied head's gradient, which waits for the embedding's. [B]"""
    return adds_gradients * tied * trained_head_here * gradient_width_bytes_each


def place_gradients_bytes(
    place_trained_above,
    place_spread_above,
    done_head_here,
    gradient_width_bytes_each,
    gradient_shards,
    offloads_weights,
    earlier_gradients_bytes,
    tied_gradients_bytes,
):
    """Gradients of the head and of the blocks above, or more from earlier micro-batches. [B]"""
    elements = place_trained_above + place_spread_above + done_head_here
    done = elements * gradient_width_bytes_each / gradient_shards * (1 - offloads_weights)
    return np.maximum(done, earlier_gradients_bytes + tied_gradients_bytes)
