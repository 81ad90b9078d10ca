"""Where in the backward pass memory is looked at, and what sharding holds there. Bytes on one GPU.

Between the ends of a stack of like blocks memory is linear (each block frees its activations and adds its gradients), so
only its last two and first two blocks are looked at: place columns have the shape (places, stacks, rows). The blocks above
are done: their activations are freed, their gradients kept. FSDP holds this block and the next one whole while the block
above is still reduced.
"""

import numpy as np


def place_blocks_below(stack_layers_here):
    """Blocks of the same stack below this one: of its last two and of its first two. Shape (places, stacks, rows). [blocks]"""
    last = stack_layers_here - 1
    return np.stack([last, np.maximum(last - 1, 0), np.minimum(last, 1), 0 * last])


def stack_blocks_before(stack_layers_here):
    """Blocks of all stacks below this one. Shape (stacks, rows). [blocks]"""
    return np.cumsum(stack_layers_here, axis=0) - stack_layers_here


def stack_parameters_above(stack_layers_here, stack_block_parameters_here):
    """Parameters of all stacks above this one. Shape (stacks, rows). [elements]"""
    parameters = stack_layers_here * stack_block_parameters_here
    return np.sum(parameters, axis=0) - np.cumsum(parameters, axis=0)


def stack_is_top(stack_layers_here):
    """1 for the stack that no other lies above. [0 or 1]"""
    return (np.sum(stack_layers_here, axis=0) - np.cumsum(stack_layers_here, axis=0) <= 0) * 1.0


def trained_head_here(head_elements_here, holds_head, adapts):
    """Elements of the head's matrix where it is trained, on one GPU. [elements]"""
    return head_elements_here * holds_head * (1 - adapts)


def stack_trained_here(stack_block_parameters_here, trained_ratio):
    """Trained parameters of one block on one GPU. Shape (stacks, rows). [elements]"""
    return stack_block_parameters_here * trained_ratio


def place_whole_bytes(
    fsdp_active,
    gathered_bytes_each,
    implementation_head_apart,
    outside_parameters_here,
    trained_head_here,
    stack_block_parameters_here,
    stack_group_here,
    place_blocks_below,
    stack_blocks_before,
    reshards_weights,
    pipeline_parallel,
    whole_parameters_here,
    embedding_parameters_here,
):
    """Whole weights under FSDP: the root group, this block and the one fetched ahead; ZeRO 2 keeps all below, a pipeline all it has. [B]

    Zhao et al. 2023, arXiv 2304.11277; torch/distributed/fsdp/_fully_shard; set_reshard_after_backward(False) in
    torch/distributed/pipelining/stage.py. Shape (places, stacks, rows).
    """
    root = (1 - implementation_head_apart) * (outside_parameters_here + trained_head_here)
    before = stack_blocks_before + place_blocks_below
    fetched = np.where(before >= 1, stack_group_here, implementation_head_apart * embedding_parameters_here)
    others = whole_parameters_here - stack_block_parameters_here + implementation_head_apart * embedding_parameters_here
    kept = np.where(pipeline_parallel > 1, others, stack_block_parameters_here * before)
    ahead = np.where(reshards_weights < 1, kept, fetched)
    return fsdp_active * gathered_bytes_each * (root + stack_block_parameters_here + ahead)


def place_live_bytes(
    kept_for_reuse,
    implementation_live_elements,
    gathered_bytes_each,
    head_elements_here,
    holds_head,
    stack_parameters_above,
    stack_layers_here,
    place_blocks_below,
    stack_block_parameters_here,
    stack_fetched_ahead,
    blocks_parameters_here,
    outside_parameters_here,
):
    """Whole weights under DeepSpeed's ZeRO 3: this block and the matrix fetched ahead, or what is left of those kept at the head. [B]

    deepspeed/runtime/zero/partitioned_param_coordinator.py, __params_to_release. Shape (places, stacks, rows).
    """
    blocks_above = (stack_layers_here - 1 - place_blocks_below) * stack_block_parameters_here
    left = implementation_live_elements - head_elements_here * holds_head - stack_parameters_above - blocks_above
    live = np.maximum(left, stack_block_parameters_here) + stack_fetched_ahead
    return kept_for_reuse * gathered_bytes_each * np.minimum(live, blocks_parameters_here + outside_parameters_here)


def place_reducing_bytes(
    fsdp_active,
    reduce_bytes_each,
    place_blocks_below,
    stack_layers_here,
    stack_is_top,
    implementation_head_apart,
    trained_head_here,
    stack_group_here,
    trained_ratio,
    reduces_at_end,
):
    """Gradients of the block above while FSDP reduces them; above the topmost block those of the head. [B]

    One reduce-scatter at a time is in flight (torch/distributed/fsdp/_fully_shard). Shape (places, stacks, rows).
    """
    highest = (stack_is_top > 0) & (place_blocks_below == stack_layers_here - 1)
    above = np.where(highest, implementation_head_apart * trained_head_here, stack_group_here * trained_ratio)
    return fsdp_active * (1 - reduces_at_end) * reduce_bytes_each * above


def place_trained_above(stack_layers_here, place_blocks_below, stack_parameters_above, trained_ratio, stack_trained_here):
    """Trained parameters of the blocks that are done. Shape (places, stacks, rows). [elements]"""
    return stack_parameters_above * trained_ratio + (stack_layers_here - 1 - place_blocks_below) * stack_trained_here


def place_spread_above(stack_layers_here, place_blocks_below, stack_block_experts_here, expert_copies_ratio, gradient_shards, adapts):
    """What experts of the blocks that are done count more: fewer ranks divide them. Shape (places, stacks, rows). [elements]"""
    if not np.any(expert_copies_ratio > 1):
        return np.zeros(1)
    each = stack_block_experts_here * (expert_copies_ratio - 1) * (gradient_shards > 1) * (1 - adapts)
    return stack_parameters_above(stack_layers_here, each) + (stack_layers_here - 1 - place_blocks_below) * each


def place_reduced_bytes(place_trained_above, implementation_head_apart, trained_head_here, replicated_bytes_each, gradient_shards):
    """What hybrid sharding has all-reduced of the blocks above, still in the reduction's width. Shape (places, stacks, rows). [B]"""
    return replicated_bytes_each * (place_trained_above + implementation_head_apart * trained_head_here) / gradient_shards


PLACES = (
    place_blocks_below,
    stack_blocks_before,
    stack_parameters_above,
    stack_is_top,
    trained_head_here,
    stack_trained_here,
    place_whole_bytes,
    place_live_bytes,
    place_reducing_bytes,
    place_trained_above,
    place_spread_above,
    place_reduced_bytes,
)
