"""A serving engine (vLLM): what its start-up profile takes before the cache. Bytes.

Defaults and constants: catalogs/edited/serving_engines.yaml.
"""

import numpy as np


def engine_sequences(
    max_sequences, on_large_card, serving_small_sequences, serving_large_sequences
):
    """Sequences that the start-up profile samples (max_num_seqs). [sequences]"""
    usual = np.where(on_large_card > 0, serving_large_sequences, serving_small_sequences)
    return np.where(np.isnan(max_sequences), usual, max_sequences)


def sorted_logit_bytes_each(serving_sorted_bytes_each, release_sorts_logits, is_tuned):
    """Bytes per logit in which PyTorch's sampler sorts them, in releases that take it. [B]

    A tuned engine has FlashInfer, which finds the largest without sorting. Source: vLLM,
    v1/sample/ops/topk_topp_sampler.py, apply_top_k_top_p: logits.sort; pull request 40376.
    """
    return serving_sorted_bytes_each * np.nan_to_num(release_sorts_logits) * (1 - is_tuned)


def sampler_bytes(
    engine_sequences,
    outputs,
    engine_batched_tokens,
    hidden,
    serving_sampler_bytes_each,
    sorted_logit_bytes_each,
):
    """Logits of every sequence through the sampler, and two hidden states. [B]"""
    logit_bytes_each = 2 + serving_sampler_bytes_each + sorted_logit_bytes_each
    return engine_sequences * outputs * logit_bytes_each + 2 * 2 * hidden * engine_batched_tokens


def image_features_bytes(images_per_sequence, engine_batched_tokens, image_tokens, hidden):
    """Images that an engine stores after its tower has seen them, in 16 bits. [B]

    Source: vLLM, vllm/v1/core/encoder_cache_manager.py, compute_mm_encoder_budget, which its
    profile fills.
    """
    return (images_per_sequence > 0) * 2 * hidden * np.fmax(engine_batched_tokens, image_tokens)


def tower_profile_width(
    images_per_sequence, patches_per_image_token, tower_hidden, tower_ffn, tensor_parallel
):
    """Width in the tower per image token: three hidden, three inner states. [elements]"""
    return (
        (images_per_sequence > 0)
        * patches_per_image_token
        * 3
        * (tower_hidden + tower_ffn / tensor_parallel)
    )


def profile_inner_width(
    stack_ffn_width,
    stack_expert_ffn_width,
    stack_experts_per_token,
    stack_shared_ffn_width,
    stack_mixer_in_width,
):
    """Inner width of the profile's widest block: three inner states, or a mixer's. [elements]"""
    inner = np.maximum(
        stack_ffn_width, stack_expert_ffn_width * stack_experts_per_token + stack_shared_ffn_width
    )
    return np.maximum(3 * np.max(inner, axis=0), np.max(stack_mixer_in_width, axis=0))


def engine_forward_bytes(
    engine_batched_tokens,
    hidden,
    profile_inner_width,
    tower_profile_width,
    image_features_bytes,
    tensor_parallel,
):
    """A forward pass of the profile: three hidden and the inner states of each token. [B]

    Source: vLLM's profile_run (vllm/v1/worker/gpu_model_runner.py); the number of tensors is ours.
    """
    width = np.maximum(3 * hidden + profile_inner_width / tensor_parallel, tower_profile_width)
    return engine_batched_tokens * 2 * width + image_features_bytes
