"""The backward pass inside one block: its widest products, then all its gradients, then (FSDP) their reduction. Bytes.

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


def stack_trained_above(stack_parameters_above, trained_ratio):
    """Trained parameters of all stacks above this one. Shape (stacks, rows). [elements]"""
    return stack_parameters_above * trained_ratio


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
    place_blocks_below,
    stack_blocks_before,
    reshards_weights,
    pipeline_parallel,
    blocks_parameters_here,
    embedding_parameters_here,
):
    """Whole weights under FSDP: the root group, this block and the one fetched ahead; ZeRO 2 keeps all below, a pipeline all. [B]

    Zhao et al. 2023, arXiv 2304.11277; torch/distributed/fsdp/_fully_shard; set_reshard_after_backward(False) in
    torch/distributed/pipelining/stage.py. Shape (places, stacks, rows).
    """
    root = (1 - implementation_head_apart) * (outside_parameters_here + trained_head_here)
    before = stack_blocks_before + place_blocks_below
    fetched = np.where(before >= 1, stack_block_parameters_here, implementation_head_apart * embedding_parameters_here)
    kept = np.where(pipeline_parallel > 1, blocks_parameters_here - stack_block_parameters_here, stack_block_parameters_here * before)
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
    stack_trained_here,
):
    """Gradients of the block above while FSDP reduces them; above the topmost block those of the head. [B]

    One reduce-scatter at a time is in flight (torch/distributed/fsdp/_fully_shard). Shape (places, stacks, rows).
    """
    highest = (stack_is_top > 0) & (place_blocks_below == stack_layers_here - 1)
    return fsdp_active * reduce_bytes_each * np.where(highest, implementation_head_apart * trained_head_here, stack_trained_here)


def place_kept_bytes(stack_kept_bytes, stack_layers_here, place_blocks_below, keeps_input):
    """Saved activations of the blocks below, and of this one where it kept its input. [B]

    Chen et al. 2016, arXiv 1604.06174, for kept inputs. Shape (places, stacks, rows).
    """
    each = stack_kept_bytes / np.maximum(stack_layers_here, 1)
    before = np.cumsum(stack_kept_bytes, axis=0) - stack_kept_bytes
    return before + (place_blocks_below + keeps_input) * each


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
    place_blocks_below,
    stack_trained_above,
    stack_trained_here,
    fsdp_active,
    implementation_head_apart,
    trained_head_here,
    gradient_width_bytes_each,
    gradient_shards,
    offloads_weights,
    held_gradients_bytes,
):
    """Gradients of all that is done: the blocks above and the head, or more from earlier micro-batches. [B]

    Divided as ZeRO 2 and 3 do (arXiv 1910.02054, section 5.2). Shape (places, stacks, rows).
    """
    own = (stack_layers_here - 1 - place_blocks_below) * stack_trained_here
    head = np.where(fsdp_active * (1 - implementation_head_apart) > 0, 0, trained_head_here)
    done = (stack_trained_above + own + head) * gradient_width_bytes_each / gradient_shards * (1 - offloads_weights)
    return (stack_layers_here > 0) * np.maximum(done, held_gradients_bytes)


def place_resident_optimizer_bytes(resident_optimizer_bytes, stack_layers_here):
    """Optimizer state, counted where there is a block. Shape (stacks, rows). [B]"""
    return (stack_layers_here > 0) * resident_optimizer_bytes


def place_buffers_bytes(
    place_whole_bytes, place_reducing_bytes, place_autocast_bytes, place_live_bytes, bucket_bytes, dequantized_bytes, stack_merging_bytes
):
    """Whole weights, reductions, copies and buckets at this block. Shape (places, stacks, rows). [B]"""
    copies = place_autocast_bytes + dequantized_bytes + stack_merging_bytes
    return place_whole_bytes + place_reducing_bytes + place_live_bytes + bucket_bytes + copies


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
    tensor_parallel,
    adapts,
    implementation_adds_in_place,
):
    """Working memory while the block's widest products run, and its weight gradients so far: two of its largest matrices. [B]

    Simulated (validation/data/parallel); Megatron adds them into its buffer inside the product (core/tensor_parallel/layers.py).
    Shape (places, stacks, rows).
    """
    width = np.where(fsdp_active > 0, gathered_bytes_each, gradient_width_bytes_each)
    products = 2 * width * stack_largest_linear / tensor_parallel * (adapts == 0) * (1 - implementation_adds_in_place)
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
):
    """Working memory at attention's worst moment: the network's and the output projection's gradients are there. [B]

    Simulated (validation/data/parallel/fsdp_peaks.csv). Shape (places, stacks, rows).
    """
    width = np.where(fsdp_active > 0, gathered_bytes_each, gradient_width_bytes_each)
    to_come = stack_hidden * (stack_query_width + stack_key_width + stack_value_width) / tensor_parallel
    made = width * np.maximum(stack_block_linear_here - to_come, 0) * (1 - implementation_adds_in_place)
    return (stack_layers_here > 0) * (stack_attention_backward_bytes_per_token > 0) * (place_buffers_bytes + made)


def gradients_activations_bytes(stack_layers_here, place_kept_bytes, stack_residual_bytes, outside_backward_bytes):
    """Activations once the block has all its gradients: its input, its gradient. Shape (places, stacks, rows). [B]"""
    return (stack_layers_here > 0) * (place_kept_bytes + 2 * stack_residual_bytes + outside_backward_bytes)


def gradients_working_bytes(
    stack_layers_here,
    place_buffers_bytes,
    fsdp_active,
    gathered_bytes_each,
    gradient_width_bytes_each,
    stack_trained_here,
    implementation_adds_in_place,
):
    """Working memory once the block has all its gradients. Shape (places, stacks, rows). [B]"""
    width = np.where(fsdp_active > 0, gathered_bytes_each, gradient_width_bytes_each)
    return (stack_layers_here > 0) * (place_buffers_bytes + width * stack_trained_here * (1 - implementation_adds_in_place))


def reduction_activations_bytes(stack_layers_here, place_kept_bytes, stack_residual_bytes, outside_backward_bytes):
    """Activations while FSDP reduces the block's gradients. Shape (places, stacks, rows). [B]"""
    return (stack_layers_here > 0) * (place_kept_bytes + stack_residual_bytes + outside_backward_bytes)


def reduction_working_bytes(
    stack_layers_here, place_buffers_bytes, place_reducing_bytes, fsdp_active, reduce_bytes_each, stack_trained_here
):
    """Working memory while FSDP reduces the block's gradients, those of the block above being done. [B]

    The block's whole weights are gone, its whole gradients are there; one reduce-scatter is in flight
    (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce). Shape (places, stacks, rows).
    """
    own = fsdp_active * (reduce_bytes_each * stack_trained_here - place_reducing_bytes)
    return (stack_layers_here > 0) * (place_buffers_bytes + own)


BLOCK_BACKWARD = (
    place_blocks_below,
    stack_blocks_before,
    stack_parameters_above,
    stack_trained_above,
    stack_is_top,
    trained_head_here,
    stack_trained_here,
    place_whole_bytes,
    place_live_bytes,
    place_reducing_bytes,
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
    gradients_activations_bytes,
    gradients_working_bytes,
    reduction_activations_bytes,
    reduction_working_bytes,
)
