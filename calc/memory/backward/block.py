"""The backward pass inside one block: products, attention, all gradients, their reduction.

Shape of place, products, attention, gradients and reduction columns: (places, stacks, rows).
moments.py leaves empty stacks out. Read off simulated steps of transformers and torchtitan on one
GPU and under FSDP2, DDP, tensor and context parallel (validation/simulate, validation/data), unless
a formula names another source.
"""

import numpy as np


def keeps_this_input(keeps_input, fuses_norms, tensor_parallel):
    """1 if a block's checkpointed input is alive beside its recomputed activations. [0 or 1]

    A recomputed norm in one kernel saves the very input that checkpointing kept, if it is whole.
    Source: simulated (context.csv, fsdp_tp.csv).
    """
    return keeps_input * (1 - fuses_norms * (tensor_parallel == 1))


def place_kept_bytes(
    stack_kept_bytes,
    stack_kept_microbatch_bytes,
    stack_layers_here,
    place_blocks_below,
    keeps_this_input,
):
    """Activations of the blocks below, this block's input, waiting micro-batches. [B]

    Source: Chen et al. 2016, arXiv 1604.06174.
    """
    waiting = np.sum(stack_kept_bytes - stack_kept_microbatch_bytes, axis=0)
    before = np.cumsum(stack_kept_microbatch_bytes, axis=0) - stack_kept_microbatch_bytes
    of_block = stack_kept_microbatch_bytes / np.maximum(stack_layers_here, 1)
    return waiting + before + (place_blocks_below + keeps_this_input) * of_block


def place_autocast_bytes(stack_autocast_bytes, stack_layers_here, place_blocks_below, keeps_input):
    """Autocast's copies of this block's matrices, and of those below. [B]

    The cache lives as long as its context; checkpointed blocks have contexts of their own.
    Source: torch/amp/autocast_mode.py.
    """
    of_block = stack_autocast_bytes / np.maximum(stack_layers_here, 1)
    below = (
        np.cumsum(stack_autocast_bytes, axis=0)
        - stack_autocast_bytes
        + place_blocks_below * of_block
    )
    return np.where(keeps_input > 0, 0, below) + of_block


def stack_passing_bytes(
    bucket_bytes,
    placeholder_gradients_bytes,
    dequantized_bytes,
    stack_merging_bytes,
    stage_buffers_bytes,
    chunks_in_turn,
    fullest_turn,
    stage_logits_bytes,
):
    """Buckets, a widened matrix, merged experts and stage buffers while blocks run backward. [B]"""
    past_head = chunks_in_turn * (fullest_turn[0] == 2)  # the logits are gone
    buffers = bucket_bytes + placeholder_gradients_bytes + stage_buffers_bytes
    return buffers + dequantized_bytes + stack_merging_bytes - past_head * stage_logits_bytes


def place_buffers_bytes(
    place_whole_bytes,
    place_live_bytes,
    place_reducing_bytes,
    place_reduced_bytes,
    place_autocast_bytes,
    stack_passing_bytes,
):
    """Whole weights, reductions, copies and buffers at this block. [B]"""
    weights = place_whole_bytes + place_live_bytes + place_autocast_bytes
    return weights + place_reducing_bytes + place_reduced_bytes + stack_passing_bytes


def products_activations_bytes(
    place_kept_bytes, stack_backward_bytes_per_token, stack_tokens, outside_backward_bytes
):
    """Activations while the block's widest products run. [B]"""
    return place_kept_bytes + stack_backward_bytes_per_token * stack_tokens + outside_backward_bytes


def matrices_at_products(keeps_all, adds_gradients, implementation_adds_in_place, adapts):
    """Weight gradients that are alive while the block's widest products run. [matrices]

    There is one if each product's activations are freed after it. There are two if all that was
    recomputed stays to the end, or none if each is added to those of earlier micro-batches. There
    is none if the product adds into the gradients' own buffer. Source: simulated; Megatron-Core,
    core/tensor_parallel/layers.py.
    """
    return (
        np.where(keeps_all > 0, 1, 2 * (1 - adds_gradients))
        * (1 - implementation_adds_in_place)
        * (adapts == 0)
    )


def products_working_bytes(
    place_buffers_bytes,
    matrices_at_products,
    new_gradient_bytes_each,
    stack_largest_linear,
    tensor_parallel,
    stack_block_experts_here,
):
    """Working memory at the block's widest products, with the gradients made so far. [B]"""
    widest = np.maximum(
        stack_largest_linear / tensor_parallel, stack_block_experts_here / 3
    )  # experts: a tensor per product
    return place_buffers_bytes + matrices_at_products * new_gradient_bytes_each * widest


def attention_activations_bytes(
    place_kept_bytes, stack_attention_peak_bytes_per_token, stack_tokens, outside_backward_bytes
):
    """Activations at the largest moment of attention, if the block has attention. [B]"""
    activations_bytes = (
        place_kept_bytes
        + stack_attention_peak_bytes_per_token * stack_tokens
        + outside_backward_bytes
    )
    return (stack_attention_peak_bytes_per_token > 0) * activations_bytes


def stack_made_at_attention_here(
    stack_block_linear_here,
    stack_hidden,
    stack_query_width,
    stack_key_width,
    stack_value_width,
    tensor_parallel,
):
    """Elements with gradients at attention: the network's, the output projection's. [elements]

    Source: simulated (fsdp_peaks.csv).
    """
    to_come = (
        stack_hidden * (stack_query_width + stack_key_width + stack_value_width) / tensor_parallel
    )
    return np.maximum(stack_block_linear_here - to_come, 0)


def attention_working_bytes(
    place_buffers_bytes,
    new_gradient_bytes_each,
    stack_made_at_attention_here,
    keeps_new_gradients,
    stack_attention_peak_bytes_per_token,
):
    """Working memory at the largest moment of attention, if the block has attention. [B]"""
    new_gradients_bytes = (
        new_gradient_bytes_each * stack_made_at_attention_here * keeps_new_gradients
    )
    return (stack_attention_peak_bytes_per_token > 0) * (place_buffers_bytes + new_gradients_bytes)


def stack_norm_backward_bytes(
    rms_norms,
    fuses_norms,
    stack_shares_form,
    stack_residual_bytes,
    stack_hidden,
    stack_tokens,
    sequence_split,
):
    """Activations in the backward pass of the block's first norm. [B]

    Six fp32 copies if RMSNorm is composed of simple operations. If it is one kernel: its output,
    twice the gradient of that output, and the output of the last product.

    Source: simulated.
    """
    composed = (rms_norms > 0) * (1 - fuses_norms) * (1 - stack_shares_form)
    fused_bytes = 4 * fuses_norms * stack_residual_bytes / sequence_split
    return np.where(
        composed > 0, (6 * 4) * stack_hidden * stack_tokens - stack_residual_bytes, fused_bytes
    )


def gradients_activations_bytes(
    place_kept_bytes, stack_residual_bytes, outside_backward_bytes, stack_norm_backward_bytes
):
    """Activations once the block has all gradients: its input's, its own, its norm's. [B]"""
    return (
        place_kept_bytes
        + 2 * stack_residual_bytes
        + stack_norm_backward_bytes
        + outside_backward_bytes
    )


def gradients_working_bytes(
    place_buffers_bytes, new_gradient_bytes_each, stack_trained_here, keeps_new_gradients
):
    """Working memory once the block has all its gradients. [B]"""
    return place_buffers_bytes + new_gradient_bytes_each * stack_trained_here * keeps_new_gradients


def reduction_activations_bytes(place_kept_bytes, stack_residual_bytes, outside_backward_bytes):
    """Activations while FSDP reduces the block's gradients. [B]"""
    return place_kept_bytes + stack_residual_bytes + outside_backward_bytes


def reduction_working_bytes(
    place_buffers_bytes, place_reducing_bytes, block_reduce_bytes_each, stack_trained_here
):
    """Working memory while FSDP reduces the block's gradients. [B]

    The block's gathered weights are freed, its full gradients are alive, and one reduce-scatter is
    in flight. Source: torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce.
    """
    return place_buffers_bytes - place_reducing_bytes + block_reduce_bytes_each * stack_trained_here
