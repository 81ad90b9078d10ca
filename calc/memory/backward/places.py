"""The places of the backward pass that are examined, and the gradients and shards there.

The blocks above a place are done: their activations are freed and their gradients kept. Shape of
place columns: (places, stacks, rows). Read off simulated steps of transformers and torchtitan on
one GPU and under FSDP2, DDP, tensor and context parallel (validation/simulate, validation/data),
unless a formula names another source.
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


def place_parameters_above(stack_layers_here, stack_block_parameters_here, place_blocks_above):
    """Parameters of all blocks above this one. [elements]"""
    return (
        _of_stacks_above(stack_layers_here * stack_block_parameters_here)
        + place_blocks_above * stack_block_parameters_here
    )


def place_trained_above(place_parameters_above, trained_ratio):
    """Trained parameters of the blocks that are done. [elements]"""
    return place_parameters_above * trained_ratio


def place_spread_above(
    stack_layers_here,
    place_blocks_above,
    stack_block_experts_here,
    expert_copies_ratio,
    gradient_shards,
    adapts,
):
    """Additional elements of experts above, which fewer ranks divide. [elements]"""
    if not np.any(expert_copies_ratio > 1):
        return np.zeros(1)
    of_block = (
        stack_block_experts_here * (expert_copies_ratio - 1) * (gradient_shards > 1) * (1 - adapts)
    )
    return _of_stacks_above(stack_layers_here * of_block) + place_blocks_above * of_block


def place_unresharded_here(
    pipeline_parallel,
    whole_parameters_here,
    stack_block_parameters_here,
    embedding_group_here,
    place_blocks_before,
):
    """Parameters that were never sharded again after the forward pass. [elements]

    Source: torch/distributed/pipelining/stage.py, set_reshard_after_backward(False).
    """
    others = whole_parameters_here - stack_block_parameters_here + embedding_group_here
    return np.where(
        pipeline_parallel > 1, others, stack_block_parameters_here * place_blocks_before
    )


def place_ahead_here(
    reshards_weights,
    place_unresharded_here,
    place_blocks_before,
    stack_group_here,
    embedding_group_here,
):
    """Whole parameters ahead of this block: all, or those of the next group. [elements]"""
    fetched = np.where(place_blocks_before >= 1, stack_group_here, embedding_group_here)
    return np.where(reshards_weights < 1, place_unresharded_here, fetched)


def root_head_here(root_group_here, implementation_groups_ends, trained_head_here):
    """The root group, and the gradient of a head that is part of it. [elements]"""
    return root_group_here + (1 - implementation_groups_ends) * trained_head_here


def place_whole_bytes(
    fsdp_active, gathered_bytes_each, root_head_here, stack_block_parameters_here, place_ahead_here
):
    """Weights that FSDP has gathered: root group, this block, and prefetched blocks. [B]"""
    return (
        fsdp_active
        * gathered_bytes_each
        * (root_head_here + stack_block_parameters_here + place_ahead_here)
    )


def place_left_here(implementation_live_elements, stage_head_here, place_parameters_above):
    """Elements that DeepSpeed may hold whole beside the head and the blocks above. [elements]"""
    return implementation_live_elements - stage_head_here - place_parameters_above


def place_live_bytes(
    reused_bytes_each,
    place_left_here,
    stack_block_parameters_here,
    stack_fetched_ahead,
    stage_parameters_here,
):
    """Whole weights under DeepSpeed's ZeRO 3: this block, and what is ahead or left of it. [B]

    Source: deepspeed/runtime/zero/partitioned_param_coordinator.py, __params_to_release.
    """
    live = np.maximum(place_left_here, stack_block_parameters_here) + stack_fetched_ahead
    return reused_bytes_each * np.minimum(live, stage_parameters_here)


def place_reducing_bytes(
    block_reduce_bytes_each,
    stack_layers_here,
    place_blocks_above,
    head_reduction_here,
    stack_group_here,
    trained_ratio,
):
    """Gradients of the block above, or of the head, while FSDP reduces them. [B]"""
    is_top = (_of_stacks_above(stack_layers_here) <= 0) & (place_blocks_above == 0)
    return block_reduce_bytes_each * np.where(
        is_top, head_reduction_here, stack_group_here * trained_ratio
    )


def place_reduced_bytes(
    place_trained_above, head_reduction_here, replicated_bytes_each, gradient_shards
):
    """Gradients that hybrid sharding has all-reduced so far, in the reduction's width. [B]"""
    return replicated_bytes_each * (place_trained_above + head_reduction_here) / gradient_shards


def tied_gradients_bytes(adds_gradients, tied, trained_head_here, gradient_width_bytes_each):
    """A tied head's gradient, which waits for the embedding's. [B]"""
    return adds_gradients * tied * trained_head_here * gradient_width_bytes_each


def place_done_here(
    place_trained_above,
    place_spread_above,
    fsdp_active,
    implementation_groups_ends,
    trained_head_here,
):
    """Elements whose gradients are done; a head in FSDP's root group waits. [elements]"""
    head = np.where(fsdp_active * (1 - implementation_groups_ends) > 0, 0, trained_head_here)
    return place_trained_above + place_spread_above + head


def place_gradients_bytes(
    place_done_here,
    gradient_width_bytes_each,
    gradient_shards,
    offloads_weights,
    earlier_gradients_bytes,
    tied_gradients_bytes,
):
    """Gradients of the head and the blocks above, or those of earlier micro-batches. [B]"""
    done = place_done_here * gradient_width_bytes_each / gradient_shards * (1 - offloads_weights)
    return np.maximum(done, earlier_gradients_bytes + tied_gradients_bytes)
