"""A serving engine (vLLM): what its start-up profile takes before the cache gets the rest. Bytes on one GPU.

Its defaults and constants: catalogs/serving_engines.yaml.
"""

import numpy as np


def is_engine(implementation_reserves_share):
    """1 for software that takes a share of the card and pages its cache. [0 or 1]"""
    return (implementation_reserves_share > 0) * 1.0


def on_large_card(is_engine, gpu_memory_bytes, gpu_takes_small_engine_defaults, serving_large_card_bytes):
    """1 where an engine runs on a card that it gives its larger defaults."""
    large = (gpu_memory_bytes >= serving_large_card_bytes) & ~(gpu_takes_small_engine_defaults > 0)
    return is_engine * large


def on_huge_card(on_large_card, gpu_memory_bytes, serving_huge_card_bytes):
    """1 where an engine runs on a card of its largest defaults."""
    return on_large_card * (gpu_memory_bytes >= serving_huge_card_bytes)


def engine_sequences(max_sequences, on_large_card, serving_small_sequences, serving_large_sequences):
    """Sequences that the start-up profile samples (max_num_seqs). [sequences]"""
    usual = np.where(on_large_card > 0, serving_large_sequences, serving_small_sequences)
    return np.where(np.isnan(max_sequences), usual, max_sequences)


def engine_batched_tokens(
    max_batched_tokens, on_large_card, on_huge_card, serving_small_batched_tokens, serving_large_batched_tokens, serving_huge_batched_tokens
):
    """Tokens of one forward pass of the profile (max_num_batched_tokens). [tokens]"""
    large = np.where(on_huge_card > 0, serving_huge_batched_tokens, serving_large_batched_tokens)
    usual = np.where(on_large_card > 0, large, serving_small_batched_tokens)
    return np.where(np.isnan(max_batched_tokens), usual, max_batched_tokens)


def sampler_bytes(engine_sequences, outputs, engine_batched_tokens, hidden, serving_sampler_bytes_each):
    """Logits of every sequence through the sampler, gathered over tensor parallel, and two hidden states. [B]"""
    return engine_sequences * outputs * (2 + serving_sampler_bytes_each) + 2 * 2 * hidden * engine_batched_tokens


def image_features_bytes(images_per_sequence, engine_batched_tokens, image_tokens, hidden):
    """What an engine keeps of images that its tower has seen: as many tokens as a pass takes, or one image, in 16 bits. [B]

    vLLM, vllm/v1/core/encoder_cache_manager.py, compute_mm_encoder_budget; its profile fills it.
    """
    return (images_per_sequence > 0) * 2 * hidden * np.fmax(engine_batched_tokens, image_tokens)


def tower_profile_width(images_per_sequence, patches_per_image_token, tower_hidden, tower_ffn, tensor_parallel):
    """Width of what the profile holds in the tower per image token: of each patch three hidden and three inner states. [elements]"""
    return (images_per_sequence > 0) * patches_per_image_token * 3 * (tower_hidden + tower_ffn / tensor_parallel)


def engine_forward_bytes(
    engine_batched_tokens,
    hidden,
    stack_ffn_width,
    stack_expert_ffn_width,
    stack_experts_per_token,
    stack_shared_ffn_width,
    stack_mixer_in_width,
    tower_profile_width,
    image_features_bytes,
    tensor_parallel,
):
    """A forward pass of the profile: three hidden states and three inner ones per token, or one of a mixer's, in 16 bits. [B]

    vLLM's profile_run (vllm/v1/worker/gpu_model_runner.py), the count of tensors ours. What a vision tower made stands beside it.
    """
    inner = np.max(np.maximum(stack_ffn_width, stack_expert_ffn_width * stack_experts_per_token + stack_shared_ffn_width), axis=0)
    inner = np.maximum(3 * inner, np.max(stack_mixer_in_width, axis=0))
    width = np.maximum(3 * hidden + inner / tensor_parallel, tower_profile_width)
    return engine_batched_tokens * 2 * width + image_features_bytes


def graphs_bytes(is_engine, weights_bytes, serving_graphs_bytes, serving_graphs_ratio):
    """CUDA graphs of an engine. [B]"""
    return is_engine * (serving_graphs_bytes + serving_graphs_ratio * weights_bytes)


CARD = (is_engine, on_large_card, on_huge_card)
ENGINE = (engine_sequences, engine_batched_tokens, sampler_bytes, image_features_bytes, tower_profile_width, engine_forward_bytes)
