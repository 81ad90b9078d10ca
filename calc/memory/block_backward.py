"""The backward pass inside one block: its widest products, then all its gradients, then (FSDP) their reduction. Bytes.

Each at the blocks that places.py looks at: place columns have the shape (places, stacks, rows).
"""

import numpy as np


def place_kept_bytes(
    stack_kept_bytes, stack_kept_each_bytes, stack_layers_here, place_blocks_below, keeps_input, implementation_fuses_norms, tensor_parallel
):
    """Saved activations of the blocks below, of this one where it kept its input, and of a pipeline's waiting micro-batches. [B]

    Chen et al. 2016, arXiv 1604.06174, for kept inputs; a recomputed norm in one kernel saves that very tensor, if it is whole
    (simulated: validation/data/parallel/context.csv, fsdp_tp.csv). Shape (places, stacks, rows).
    """
    own_input = keeps_input * (1 - implementation_fuses_norms * (tensor_parallel == 1))
    waiting = np.sum(stack_kept_bytes - stack_kept_each_bytes, axis=0)
    before = np.cumsum(stack_kept_each_bytes, axis=0) - stack_kept_each_bytes
    each = stack_kept_each_bytes / np.maximum(stack_layers_here, 1)
    return waiting + before + (place_blocks_below + own_input) * each


def place_autocast_bytes(stack_autocast_bytes, stack_layers_here, place_blocks_below, keeps_input):
    """Autocast's copies of this block's matrices, and of those below where they were not dropped. [B]

    torch/amp/autocast_mode.py: the cache lives as long as its context; checkpointed blocks have one of their own. Shape
    (places, stacks, rows).
    """
    each = stack_autocast_bytes / np.maximum(stack_layers_here, 1)
    below = np.cumsum(stack_autocast_bytes, axis=0) - stack_autocast_bytes + place_blocks_below * each
    return np.where(keeps_input > 0, 0, below) + each


def place_gradients_bytes(
    stack_layers_here,
    place_trained_above,
    place_spread_above,
    fsdp_active,
    implementation_head_apart,
    trained_head_here,
    gradient_width_bytes_each,
    gradient_shards,
    offloads_weights,
    held_gradients_bytes,
    adds_gradients,
    tied,
):
    """Gradients of all that is done: the blocks above and the head, or more from earlier micro-batches. [B]

    Divided as ZeRO 2 and 3 do (arXiv 1910.02054, section 5.2). A tied head's waits for the embedding's before it is added to
    those of earlier micro-batches. Shape (places, stacks, rows).
    """
    head = np.where(fsdp_active * (1 - implementation_head_apart) > 0, 0, trained_head_here)
    done = (place_trained_above + place_spread_above + head) * gradient_width_bytes_each / gradient_shards * (1 - offloads_weights)
    waiting = adds_gradients * tied * trained_head_here * gradient_width_bytes_each
    return (stack_layers_here > 0) * np.maximum(done, held_gradients_bytes + waiting)


def place_resident_optimizer_bytes(resident_optimizer_bytes, stack_layers_here):
    """Optimizer state, counted where there is a block. Shape (stacks, rows). [B]"""
    return (stack_layers_here > 0) * resident_optimizer_bytes


def place_buffers_bytes(
    place_whole_bytes,
    place_reducing_bytes,
    place_reduced_bytes,
    place_autocast_bytes,
    place_live_bytes,
    bucket_bytes,
    dequantized_bytes,
    stack_merging_bytes,
    stage_buffers_bytes,
    stage_logits_bytes,
    past_head,
):
    """Whole weights, reductions, copies and buckets at this block. Shape (places, stacks, rows). [B]"""
    copies = place_autocast_bytes + dequantized_bytes + stack_merging_bytes + stage_buffers_bytes - past_head * stage_logits_bytes
    return place_whole_bytes + place_reducing_bytes + place_reduced_bytes + place_live_bytes + bucket_bytes + copies


def stack_residual_bytes(activation_bytes_each, stack_hidden, stack_tokens):
    """One tensor of the residual stream: tokens · hidden · width. Shape (stacks, rows). [B]"""
    return activation_bytes_each * stack_hidden * stack_tokens


def products_activations_bytes(stack_layers_here, place_kept_bytes, stack_backward_bytes_per_token, stack_tokens, outside_backward_bytes):
    """Activations while the block's widest products run. Shape (places, stacks, rows). [B]"""
    return (stack_layers_here > 0) * (place_kept_bytes + stack_backward_bytes_per_token * stack_tokens + outside_backward_bytes)


def products_working_bytes(
    stack_layers_here,
    place_buffers_bytes,
    fsdp_active,
    gathered_bytes_each,
    gradient_width_bytes_each,
    stack_largest_linear,
    stack_block_experts_here,
    tensor_parallel,
    adapts,
    implementation_adds_in_place,
    adds_gradients,
    keeps_all,
):
    """Working memory while the block's widest products run, and its weight gradients so far: one or two large matrices. [B]

    Those of experts are one tensor for each product. One where each product's activations are freed after it; two where all
    that was recomputed stays to the end, none if each is added to those of earlier micro-batches (simulated:
    validation/data/parallel). Megatron adds them into its buffer inside the product (core/tensor_parallel/layers.py).
    Shape (places, stacks, rows).
    """
    width = np.where(fsdp_active > 0, gathered_bytes_each, gradient_width_bytes_each)
    matrices = np.where(keeps_all > 0, 1, 2 * (1 - adds_gradients)) * (1 - implementation_adds_in_place)
    largest = np.maximum(stack_largest_linear / tensor_parallel, stack_block_experts_here / 3)
    products = matrices * width * largest * (adapts == 0)
    return (stack_layers_here > 0) * (place_buffers_bytes + products)


def attention_activations_bytes(
    stack_layers_here, place_kept_bytes, stack_attention_backward_bytes_per_token, stack_tokens, outside_backward_bytes
):
    """Activations at attention's worst moment. Shape (places, stacks, rows). [B]"""
    own = place_kept_bytes + stack_attention_backward_bytes_per_token * stack_tokens + outside_backward_bytes
    return (stack_layers_here > 0) * (stack_attention_backward_bytes_per_token > 0) * own


def attention_working_bytes(
    stack_layers_here,
    place_buffers_bytes,
    fsdp_active,
    gathered_bytes_each,
    gradient_width_bytes_each,
    stack_attention_backward_bytes_per_token,
    stack_block_linear_here,
    stack_hidden,
    stack_query_width,
    stack_key_width,
    stack_value_width,
    tensor_parallel,
    implementation_adds_in_place,
    adds_gradients,
):
    """Working memory at attention's worst moment: the network's and the output projection's gradients are there. [B]

    Simulated (validation/data/parallel/fsdp_peaks.csv). Shape (places, stacks, rows).
    """
    width = np.where(fsdp_active > 0, gathered_bytes_each, gradient_width_bytes_each)
    to_come = stack_hidden * (stack_query_width + stack_key_width + stack_value_width) / tensor_parallel
    made = width * np.maximum(stack_block_linear_here - to_come, 0) * (1 - np.maximum(implementation_adds_in_place, adds_gradients))
    return (stack_layers_here > 0) * (stack_attention_backward_bytes_per_token > 0) * (place_buffers_bytes + made)


def stack_norm_backward_bytes(
    rms_norms, implementation_fuses_norms, stack_shares_form, stack_residual_bytes, stack_hidden, stack_tokens, sequence_split
):
    """Activations while the block's first norm has its backward pass, its input and the block's gradient apart. [B]

    Six fp32 copies where RMSNorm is composed of simple operations; its output, that one's gradient twice and the last
    product's where it is one kernel (simulated: validation/data/parallel). Shape (stacks, rows).
    """
    composed = (rms_norms > 0) * (1 - implementation_fuses_norms) * (1 - stack_shares_form)
    fused = 4 * implementation_fuses_norms * stack_residual_bytes / sequence_split
    return np.where(composed > 0, (6 * 4) * stack_hidden * stack_tokens - stack_residual_bytes, fused)


def gradients_activations_bytes(
    stack_layers_here, place_kept_bytes, stack_residual_bytes, outside_backward_bytes, stack_norm_backward_bytes
):
    """Activations once the block has all its gradients: its input, its gradient, its first norm's. Shape (places, stacks, rows). [B]"""
    own = 2 * stack_residual_bytes + stack_norm_backward_bytes
    return (stack_layers_here > 0) * (place_kept_bytes + own + outside_backward_bytes)


def gradients_working_bytes(
    stack_layers_here,
    place_buffers_bytes,
    fsdp_active,
    gathered_bytes_each,
    gradient_width_bytes_each,
    stack_trained_here,
    implementation_adds_in_place,
    adds_gradients,
):
    """Working memory once the block has all its gradients. Shape (places, stacks, rows). [B]"""
    width = np.where(fsdp_active > 0, gathered_bytes_each, gradient_width_bytes_each)
    own = width * stack_trained_here * (1 - np.maximum(implementation_adds_in_place, adds_gradients))
    return (stack_layers_here > 0) * (place_buffers_bytes + own)


def reduction_activations_bytes(stack_layers_here, place_kept_bytes, stack_residual_bytes, outside_backward_bytes):
    """Activations while FSDP reduces the block's gradients. Shape (places, stacks, rows). [B]"""
    return (stack_layers_here > 0) * (place_kept_bytes + stack_residual_bytes + outside_backward_bytes)


def reduction_working_bytes(
    stack_layers_here, place_buffers_bytes, place_reducing_bytes, fsdp_active, reduces_at_end, reduce_bytes_each, stack_trained_here
):
    """Working memory while FSDP reduces the block's gradients, those of the block above being done. [B]

    The block's whole weights are gone, its whole gradients are there; one reduce-scatter is in flight
    (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce). Shape (places, stacks, rows).
    """
    own = fsdp_active * (1 - reduces_at_end) * (reduce_bytes_each * stack_trained_here - place_reducing_bytes)
    return (stack_layers_here > 0) * (place_buffers_bytes + own)


BLOCK_BACKWARD = (
    place_kept_bytes,
    place_autocast_bytes,
    place_gradients_bytes,
    place_resident_optimizer_bytes,
    place_buffers_bytes,
    stack_residual_bytes,
    products_activations_bytes,
    products_working_bytes,
    attention_activations_bytes,
    attention_working_bytes,
    stack_norm_backward_bytes,
    gradients_activations_bytes,
    gradients_working_bytes,
    reduction_activations_bytes,
    reduction_working_bytes,
)
