"""Traits of a serving engine before the layout: class and share of card, state of a layer.

Defaults and constants: catalogs/edited/serving_engines.yaml.
"""

import numpy as np

MULTICAST_BYTES_PER_SECOND = 900e9  # NVLink of Hopper, both directions
PARALLEL_GRAPHS_FROM = 4  # GPUs; SGLang, arg_groups/memory_hook.py


def is_engine(implementation_reserves_share):
    """1 for software that reserves a share of the card and pages its cache. [0 or 1]"""
    return (implementation_reserves_share > 0) * 1.0


def on_large_card(
    is_engine,
    gpu_memory_bytes,
    gpu_takes_small_engine_defaults,
    serving_marked_cards_small,
    serving_large_card_bytes,
):
    """1 if an engine runs on a card that gets its larger defaults. [0 or 1]"""
    is_marked_card = gpu_takes_small_engine_defaults * serving_marked_cards_small > 0
    return is_engine * ((gpu_memory_bytes >= serving_large_card_bytes) & ~is_marked_card)


def on_huge_card(on_large_card, gpu_memory_bytes, serving_huge_card_bytes):
    """1 if an engine runs on a card that gets its largest defaults. [0 or 1]"""
    return on_large_card * (gpu_memory_bytes >= serving_huge_card_bytes)


def engine_batched_tokens(
    max_batched_tokens,
    on_large_card,
    on_huge_card,
    serving_small_batched_tokens,
    serving_large_batched_tokens,
    serving_huge_batched_tokens,
):
    """Tokens of one forward pass of the profile (max_num_batched_tokens). [tokens]"""
    large = np.where(on_huge_card > 0, serving_huge_batched_tokens, serving_large_batched_tokens)
    default = np.where(on_large_card > 0, large, serving_small_batched_tokens)
    return np.where(np.isnan(max_batched_tokens), default, max_batched_tokens)


def graph_sequences(
    on_large_card,
    tensor_parallel,
    serving_small_graph_sequences,
    serving_large_graph_sequences,
    serving_small_parallel_graph_sequences,
    serving_large_parallel_graph_sequences,
):
    """Sequences of the largest CUDA graph that an engine reserves memory for. [sequences]

    Source: SGLang, arg_groups/memory_hook.py, _handle_gpu_memory_settings.
    """
    alone = np.where(
        on_large_card > 0, serving_large_graph_sequences, serving_small_graph_sequences
    )
    parallel_sequences = np.where(
        on_large_card > 0,
        serving_large_parallel_graph_sequences,
        serving_small_parallel_graph_sequences,
    )
    return np.where(tensor_parallel >= PARALLEL_GRAPHS_FROM, parallel_sequences, alone)


def reserve_bytes(
    on_large_card,
    engine_batched_tokens,
    graph_sequences,
    tensor_parallel,
    pipeline_parallel,
    serving_reserve_bytes,
    serving_reserve_per_token_bytes,
    serving_reserve_per_graph_sequence_bytes,
    serving_reserve_per_gpu_bytes,
    serving_least_reserve_bytes,
):
    """Memory that an engine leaves free if it computes its share itself. [B]

    Source: SGLang, arg_groups/memory_hook.py, _handle_gpu_memory_settings.
    """
    reserve = (
        serving_reserve_bytes
        + serving_reserve_per_token_bytes * engine_batched_tokens
        + serving_reserve_per_graph_sequence_bytes * graph_sequences
        + serving_reserve_per_gpu_bytes * tensor_parallel * pipeline_parallel
    )
    return np.maximum(reserve, serving_least_reserve_bytes * on_large_card)


def tower_share_ratio(loads_tower, tower_layers, tower_hidden):
    """Factor by which a vision tower lowers the share that an engine computes itself. [ratio]

    It is 0.95, and a tenth less for each tower of ViT-L's size beyond the first. Source: SGLang,
    arg_groups/memory_hook.py, adjust_mem_fraction_for_vlm.
    """
    towers_of_vit_l = tower_layers * tower_hidden**2 / (24 * 1024**2)
    ratio = 0.95 * np.clip(1 - 0.1 * (towers_of_vit_l - 1), 0.8, 1.05)
    return np.where(loads_tower * (tower_layers > 0) > 0, ratio, 1.0)


def memory_utilization(
    asked_memory_utilization,
    is_engine,
    serving_share,
    reserve_bytes,
    gpu_memory_bytes,
    tower_share_ratio,
):
    """Share that a serving engine takes; NaN for other software. [share]

    Source: vLLM, gpu_memory_utilization; SGLang, mem_fraction_static, which it rounds to three
    digits; TensorRT-LLM, free_gpu_memory_fraction. Defaults: catalogs/edited/serving_engines.yaml.
    """
    computed_ratio = np.round(1 - reserve_bytes / gpu_memory_bytes, 3) * tower_share_ratio
    default = np.where(serving_share > 0, serving_share, computed_ratio)
    share = np.where(np.isnan(asked_memory_utilization), default, asked_memory_utilization)
    return np.where(is_engine > 0, share, np.nan)


def counts_graphs(serving_counts_graphs, release_leaves_graphs_out):
    """1 if an engine's release counts CUDA graphs inside its share. [0 or 1]

    Source: catalogs/calibrated/earlier_releases.yaml.
    """
    return serving_counts_graphs * (1 - np.nan_to_num(release_leaves_graphs_out))


def links_without_multicast(is_engine, gpu_nvlink_bytes_per_second):
    """1 if an engine runs on a card whose NVLink is slower than Hopper's. [0 or 1]

    Such links do not multicast. Source: NCCL_NVLS_ENABLE of NCCL's environment variables.
    """
    return is_engine * (gpu_nvlink_bytes_per_second < MULTICAST_BYTES_PER_SECOND)


def expert_tile(is_engine, experts_only, card_expert_tile):
    """The tile of the card's MXFP4 kernel for experts, else 0. [elements]"""
    return np.where(is_engine * experts_only > 0, np.nan_to_num(card_expert_tile), 0.0)


def stack_state_bytes(
    stack_recurrent_state_elements,
    stack_convolution_state_elements,
    stack_convolution_channels,
    recurrent_bytes_each,
    outer_bytes_each,
    is_engine,
    tensor_parallel,
):
    """State that one layer stores for a sequence instead of its tokens. [B]

    transformers stores the state in fp32. vLLM stores it as the config asks, else as wide as the
    model, with one input less. Tensor parallel divides heads and channels. Source: transformers,
    cache_utils.py, LinearAttentionLayer; vLLM, model_executor/layers/mamba/mamba_utils.py.
    """
    width = np.where(
        is_engine > 0,
        np.where(recurrent_bytes_each > 0, recurrent_bytes_each, outer_bytes_each),
        4.0,
    )
    inputs = stack_convolution_state_elements - is_engine * stack_convolution_channels
    return (stack_recurrent_state_elements * width + inputs * outer_bytes_each) / tensor_parallel


def stack_cache_split(tensor_parallel, stack_kv_heads, stack_latent_width):
    """GPUs that divide a cache; heads beyond these, and MLA's latent, are copied. [GPUs]

    Source: Pope et al. 2022, arXiv 2211.05102; Ainslie et al. 2023, arXiv 2305.13245; DeepSeek-V2,
    arXiv 2405.04434.
    """
    return np.where(
        stack_latent_width > 0, 1, np.minimum(tensor_parallel, np.maximum(stack_kv_heads, 1))
    )


def state_pool_ratio(stack_state_bytes, serving_state_pool_ratio):
    """Pool of recurrent states over the pool of tokens; 0 if they share one. [ratio]

    Source: SGLang, mem_cache/kv_cache_configurator.py, _handle_max_mamba_cache.
    """
    return np.any(stack_state_bytes > 0, axis=0) * serving_state_pool_ratio
