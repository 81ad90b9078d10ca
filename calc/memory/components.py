"""GPU memory of one GPU, by what it is made of. Bytes; stack quantities have shape (stacks, rows).

What is alive when is in phases.py; what a layout leaves on a GPU in parallel.py; what a block saves in blocks.py.
"""

import numpy as np

# What stands on the GPU -------------------------------------------------------------------------------------------------

def weight_shards(shard_gpus, shards_weights, fsdp_active, trains):
    """GPUs that the stored weights are divided over. FSDP stores shards in ZeRO 2 as well."""
    return np.where(np.maximum(shards_weights * trains, fsdp_active) > 0, shard_gpus, 1)


def gradient_shards(shard_gpus, shards_gradients, trains):
    """GPUs that the kept gradients are divided over."""
    return np.where(shards_gradients * trains > 0, shard_gpus, 1)


def optimizer_shards(shard_gpus, shards_optimizer, trains):
    """GPUs that optimizer state and master weights are divided over."""
    return np.where(shards_optimizer * trains > 0, shard_gpus, 1)


def formatted_parameters_here(stack_layers_here, stack_block_linear_here, stack_block_experts_here, experts_only):
    """Elements of block matrices that are in the precision's own format: all, or the experts' where it is made for
    them."""
    has_experts = np.sum(stack_block_experts_here, axis=0) > 0
    return np.sum(stack_layers_here * np.where(experts_only * has_experts > 0, stack_block_experts_here, stack_block_linear_here), axis=0)


def weights_bytes(
    formatted_parameters_here, blocks_parameters_here, outside_parameters_here, adapter_parameters_here, matrix_bytes_each,
    outer_bytes_each, adapter_bytes_each, weight_shards, adapts, offloads_weights,
):
    """Stored weights: matrices in their format, all else in its own. [B]"""
    rest = blocks_parameters_here - formatted_parameters_here + outside_parameters_here
    base = formatted_parameters_here * matrix_bytes_each + rest * outer_bytes_each
    return (base + adapts * adapter_parameters_here * adapter_bytes_each) / weight_shards * (1 - offloads_weights)


def trained_parameters_here(trained_blocks_here, trained_outside_here):
    """Trained parameters on one GPU before sharding."""
    return trained_blocks_here + trained_outside_here


def trained_bytes_each(adapts, adapter_bytes_each, matrix_bytes_each):
    """Stored width of a trained parameter. [B]"""
    return np.where(adapts > 0, adapter_bytes_each, matrix_bytes_each)


def gradient_width_bytes_each(adapts, adapter_bytes_each, gradient_bytes_each, gradient_override_bytes_each):
    """Width of a kept gradient: that of its weight, unless kept wider (Megatron's fp32 accumulation). [B]"""
    own = np.where(adapts > 0, adapter_bytes_each, gradient_bytes_each)
    return np.where(gradient_override_bytes_each > 0, gradient_override_bytes_each, own)


def full_gradients_bytes(trained_parameters_here, gradient_width_bytes_each, offloads_weights):
    """All gradients of this GPU's parameters, unsharded; they follow offloaded weights to the CPU. [B]"""
    return trained_parameters_here * gradient_width_bytes_each * (1 - offloads_weights)


def state_width_bytes_each(adapts, adapter_bytes_each, state_bytes_each, fixed_state_bytes_each):
    """Width of one optimizer state element: of the weight, or fixed (8 bits and a scale per 256). [B]"""
    return np.where(fixed_state_bytes_each > 0, fixed_state_bytes_each, np.where(adapts > 0, adapter_bytes_each, state_bytes_each))


def resident_optimizer_bytes(
    trained_blocks_here, trained_outside_here, matrix_states, outer_states, state_width_bytes_each, master_bytes_each, adapts,
    embedding_in_fp32, implementation_embedding_state_in_fp32, embedding_parameters_here, optimizer_shards, offloads_optimizer, trains,
):
    """Optimizer state and the fp32 master copy. ZeRO divides both (Rajbhandari et al. 2019). [B]"""
    state = (trained_blocks_here * matrix_states + trained_outside_here * outer_states) * state_width_bytes_each
    wide_embedding = embedding_in_fp32 * implementation_embedding_state_in_fp32 * trains * (1 - adapts)
    state = state + wide_embedding * embedding_parameters_here * outer_states * (4 - state_width_bytes_each)
    master = master_bytes_each * (1 - adapts) * (trained_blocks_here + trained_outside_here)
    return (state + master) / optimizer_shards * (1 - offloads_optimizer)


# What a training step saves ---------------------------------------------------------------------------------------------

def stack_kept_bytes(
    stack_layers_here, stack_kept_bytes_per_token, stack_tokens, microbatches_in_flight, offloads_activations,
):
    """Kept by all blocks of a stack between forward and backward; offloaded, only two blocks' worth stays. [B]"""
    blocks = np.where(offloads_activations > 0, np.minimum(stack_layers_here, 2), stack_layers_here)
    return blocks * stack_kept_bytes_per_token * stack_tokens * microbatches_in_flight


def saved_activations_bytes(stack_kept_bytes, outside_saved_bytes):
    """All that waits for the backward pass, logits apart. [B]"""
    return np.sum(stack_kept_bytes, axis=0) + outside_saved_bytes


def stack_autocast_bytes(
    stack_layers_here, stack_block_linear_here, stack_block_experts_here, autocast_bytes_each, autocast_active,
    adapts_experts, stack_adapter_experts_in, matrix_bytes_each,
):
    """The 16-bit copy of every matrix that autocast makes once and keeps; adapted experts are merged into a copy
    likewise (peft 0.21). [B]"""
    cast = stack_block_linear_here * autocast_bytes_each * autocast_active
    merged = adapts_experts * (stack_adapter_experts_in > 0) * stack_block_experts_here * matrix_bytes_each
    return stack_layers_here * (cast + merged)


def head_autocast_bytes(
    head_matrix_parameters, holds_head, vocabulary_split, autocast_active, autocast_bytes_each, head_is_linear,
):
    """Autocast's copy of the head's matrix. [B]"""
    return head_matrix_parameters * holds_head * head_is_linear / vocabulary_split * autocast_active * autocast_bytes_each


# Logits and loss --------------------------------------------------------------------------------------------------------

def logits_elements(logits_tokens, outputs, vocabulary_split, holds_head):
    """Logits of one micro-batch on one GPU."""
    return logits_tokens * outputs / vocabulary_split * holds_head


def chunk_tokens(logits_tokens, outputs, hidden):
    """Tokens per chunk of the fused loss: so many that a chunk of logits is as large as the hidden states (Liger
    0.8.5)."""
    wanted = np.maximum(np.ceil(logits_tokens / np.maximum(np.ceil(outputs / hidden), 1)), 1)
    return np.minimum(logits_tokens, 2 ** np.ceil(np.log2(wanted)))


def fused_loss_bytes(
    chunk_tokens, outputs, hidden, logits_tokens, head_matrix_parameters, compute_bytes_each, adapts,
    vocabulary_split, holds_head,
):
    """Head and loss per chunk: one chunk, the gradient of its input, and of the head's matrix where it is trained.
    [B]"""
    width = np.maximum(compute_bytes_each, 2)
    kept = width * hidden * logits_tokens + width * head_matrix_parameters * (1 - adapts) / vocabulary_split
    return holds_head * (width * chunk_tokens * outputs / vocabulary_split + kept)


def forward_logits_bytes(logits_elements, logits_forward_bytes_each, loss, fused_loss_bytes):
    """Logits at the forward peak: as computed, upcast, and their log-softmax. [B]"""
    full = logits_forward_bytes_each * logits_elements
    return np.select([loss == "fused", loss == "kernel"], [fused_loss_bytes, 4 * logits_elements], full)


def backward_logits_bytes(logits_elements, logits_backward_bytes_each, loss, fused_loss_bytes):
    """Logits when the backward pass begins: log-softmax and two gradients. [B]"""
    full = logits_backward_bytes_each * logits_elements
    return np.select([loss == "fused", loss == "kernel"], [fused_loss_bytes, 4 * logits_elements], full)


# Inference --------------------------------------------------------------------------------------------------------------

def stack_cache_split(tensor_parallel, stack_kv_heads, stack_latent_width):
    """GPUs over which a cache is divided: a head is never split, and MLA's latent is copied whole."""
    return np.where(stack_latent_width > 0, 1, np.minimum(tensor_parallel, np.maximum(stack_kv_heads, 1)))


def prompt_share(prompt_tokens, sequence_tokens):
    """Part of the cached sequence that is prefilled at once."""
    return np.minimum(prompt_tokens / sequence_tokens, 1)


def _rounded(tokens, page):
    return np.where(page > 0, np.ceil(tokens / np.maximum(page, 1)) * np.maximum(page, 1), tokens)


def stack_cached_tokens(stack_sequence, implementation_pages_tokens, context_parallel):
    """Cached tokens per sequence, in whole pages where the engine pages them."""
    return _rounded(stack_sequence, implementation_pages_tokens) / context_parallel


def cross_cache_bytes(
    stack_layers_here, stack_cross_cached_elements_per_token, stack_source_tokens, batch, kv_bytes_each,
    stack_cache_split,
):
    """Keys and values of the source that cross attention keeps. [B]"""
    elements = stack_layers_here * stack_cross_cached_elements_per_token * stack_source_tokens
    return np.sum(elements * batch * kv_bytes_each / stack_cache_split, axis=0)


def prefill_cache_bytes(
    stack_layers_here, stack_cached_elements_per_token, stack_cached_tokens, stack_window_tokens, prompt_share, batch, kv_bytes_each,
    stack_cache_split, cross_cache_bytes, implementation_pages_tokens,
):
    """Cache after the prompt. A sliding layer's window is a view of all tokens until the first decode step. [B]"""
    paged = np.minimum(stack_cached_tokens, stack_window_tokens)
    tokens = np.where(implementation_pages_tokens > 0, paged, stack_cached_tokens * prompt_share)
    elements = stack_layers_here * stack_cached_elements_per_token * tokens
    return np.sum(elements * batch * kv_bytes_each / stack_cache_split, axis=0) + cross_cache_bytes


def decode_cache_bytes(
    stack_layers_here, stack_cached_elements_per_token, stack_cached_tokens, stack_window_tokens, batch, kv_bytes_each, stack_cache_split,
    cross_cache_bytes,
):
    """Cache of every token of the sequence; sliding layers keep their window. elements · tokens · width. [B]"""
    tokens = np.minimum(stack_cached_tokens, stack_window_tokens)
    elements = stack_layers_here * stack_cached_elements_per_token * tokens
    return np.sum(elements * batch * kv_bytes_each / stack_cache_split, axis=0) + cross_cache_bytes


def cache_growth_bytes(
    stack_cached_tokens, stack_window_tokens, stack_key_width, stack_query_width, stack_value_width, stack_latent_width,
    stack_cached_elements_per_token,
    stack_layers_here, batch, kv_bytes_each, stack_cache_split, implementation_pages_tokens, tensor_parallel,
):
    """One layer's keys once more while the cache grows by a token; MLA expands one layer's keys and values. Paged
    caches: 0. [B]"""
    tokens = batch * np.minimum(stack_cached_tokens, stack_window_tokens) * (stack_cached_elements_per_token > 0) * (stack_layers_here > 0)
    plain = stack_cached_elements_per_token / 2 * kv_bytes_each / stack_cache_split
    latent = 2 * (stack_query_width + 2 * stack_value_width) / tensor_parallel
    return np.max(tokens * np.where(stack_latent_width > 0, latent, plain), axis=0) * (implementation_pages_tokens == 0)


def dequantized_bytes(dequantized_bytes_each, stack_largest_linear, tensor_parallel):
    """One matrix at a time is widened for its product. [B]"""
    return dequantized_bytes_each * np.max(stack_largest_linear, axis=0) / tensor_parallel


def prefill_activations_bytes(stack_forward_bytes_per_token, stack_tokens, stack_layers_here, prompt_share):
    """Working set of the widest block over the prompt. [B]"""
    return np.max(stack_forward_bytes_per_token * stack_tokens * (stack_layers_here > 0), axis=0) * prompt_share


def offloaded_bytes(
    offloads_optimizer, offloads_weights, trained_parameters_here, matrix_states, state_width_bytes_each, master_bytes_each,
    optimizer_shards, gradient_width_bytes_each, gradient_shards, blocks_parameters_here, outside_parameters_here,
    matrix_bytes_each, weight_shards, offloads_activations, stack_kept_bytes_per_token, stack_tokens, stack_layers_here,
):
    """What a GPU leaves in CPU memory: optimizer state with its gradients, weights, saved activations. [B]"""
    state = trained_parameters_here * (matrix_states * state_width_bytes_each + master_bytes_each) / optimizer_shards
    gradients = trained_parameters_here * gradient_width_bytes_each / gradient_shards
    weights = (blocks_parameters_here + outside_parameters_here) * matrix_bytes_each / weight_shards
    activations = np.sum(np.maximum(stack_layers_here - 2, 0) * stack_kept_bytes_per_token * stack_tokens, axis=0)
    return offloads_optimizer * (state + gradients) + offloads_weights * weights + offloads_activations * activations


BEFORE_BLOCKS = (weight_shards, gradient_shards, optimizer_shards)
RESIDENT = (
    formatted_parameters_here, weights_bytes, trained_parameters_here, trained_bytes_each, gradient_width_bytes_each, full_gradients_bytes,
    state_width_bytes_each, resident_optimizer_bytes,
)
TRAINING = (
    stack_kept_bytes, saved_activations_bytes, stack_autocast_bytes, head_autocast_bytes, logits_elements, chunk_tokens,
    fused_loss_bytes, forward_logits_bytes, backward_logits_bytes,
)
INFERENCE = (
    stack_cache_split, prompt_share, stack_cached_tokens, cross_cache_bytes, prefill_cache_bytes, decode_cache_bytes,
    cache_growth_bytes, dequantized_bytes, prefill_activations_bytes,
)
