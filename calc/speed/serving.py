"""Serving: decode steps, bounded by memory traffic, and what prefill and decode come to in tokens per second.

A decode step makes one token for each of a replica's sequences; calc/speed/prefill.py has the time of the prompts.
"""

import numpy as np

from calc.speed.collectives import group_bytes_per_second


def generated_tokens(sequence_tokens, prompt_tokens):
    """Tokens that one sequence generates: what its cache holds beyond the prompt. [tokens]"""
    return np.maximum(sequence_tokens - prompt_tokens, 0)


def mean_cached_tokens(sequence_tokens, prompt_tokens):
    """Tokens in one sequence's cache, on average over its generation. [tokens]"""
    return (np.minimum(prompt_tokens, sequence_tokens) + sequence_tokens) / 2


def touched_experts_ratio(batch, stack_experts, stack_experts_per_token):
    """Share of the experts that a decode step reads, those that some token chose: 1 − (1 − k/E)^batch. [share]

    As if each token chose on its own and all experts alike. Shape (stacks, rows).
    """
    idle_ratio = 1 - np.minimum(stack_experts_per_token / np.maximum(stack_experts, 1), 1)
    return np.where(stack_experts > 0, 1 - idle_ratio**batch, 1)


def read_weights_bytes(
    stack_layers,
    stack_block_linear_parameters,
    stack_block_expert_parameters,
    touched_experts_ratio,
    matrix_bytes_each,
    outputs,
    hidden,
    outer_bytes_each,
    tensor_parallel,
):
    """Weights that one GPU reads in one decode step: its share of the blocks and of the head. [B]

    Pope et al. 2022, arXiv 2211.05102. Of experts those that the batch touches.
    """
    idle = stack_block_expert_parameters * (1 - touched_experts_ratio)
    blocks = np.sum(stack_layers * (stack_block_linear_parameters - idle), axis=0)
    return (blocks * matrix_bytes_each + outputs * hidden * outer_bytes_each) / tensor_parallel


def read_cache_bytes(
    batch,
    stack_layers,
    stack_window_tokens,
    stack_cached_elements_per_token,
    stack_heads,
    stack_kv_heads,
    stack_latent_width,
    mean_cached_tokens,
    kv_bytes_each,
    tensor_parallel,
    engine_cache_copies,
    engine_cache_passes,
    engine_repeats_keys,
):
    """Keys and values that one GPU moves in one decode step. [B]

    A paged engine reads the cache once (Kwon et al. 2023, arXiv 2309.06180). transformers appends by copying it whole and
    first widens it to all heads.
    """
    elements = stack_layers * np.minimum(mean_cached_tokens, stack_window_tokens) * stack_cached_elements_per_token
    split = np.where(stack_latent_width > 0, 1, np.minimum(tensor_parallel, np.maximum(stack_kv_heads, 1)))
    widened = 1 + engine_repeats_keys * (stack_heads / np.maximum(stack_kv_heads, 1) - 1)
    moved = np.sum(elements / split * (engine_cache_copies + engine_cache_passes * widened), axis=0)
    return batch * kv_bytes_each * moved


def decode_flops(batch, stack_active_parameters, outputs, hidden):
    """Products of one decode step: 2 · batch · active parameters, head included. [FLOP]

    Kaplan et al. 2020, arXiv 2001.08361, section 2.1; attention over the cache, bounded by memory, is left out.
    """
    return 2 * batch * (np.sum(stack_active_parameters, axis=0) + outputs * hidden)


def decode_link_seconds(
    batch,
    stack_layers,
    hidden,
    tensor_parallel,
    island_gpus,
    link_bytes_per_second,
    network_share_bytes_per_second,
    collective_latency_seconds,
):
    """Two all-reduces per block over the tensor-parallel GPUs: a start-up time and the bytes, in 16 bits. [s]

    Shoeybi et al. 2019, arXiv 1909.08053, section 3.
    """
    rate = group_bytes_per_second(tensor_parallel, 1, island_gpus, link_bytes_per_second, network_share_bytes_per_second)
    each = collective_latency_seconds + 2 * batch * hidden * 2 * (1 - 1 / tensor_parallel) / rate
    return np.where(tensor_parallel > 1, 2 * np.sum(stack_layers, axis=0) * each, 0)


def decode_device_seconds(
    stack_layers,
    read_weights_bytes,
    read_cache_bytes,
    decode_flops,
    tensor_parallel,
    peak_flops_per_second,
    matmul_reach_ratio,
    gpu_bandwidth_bytes_per_second,
    engine_bandwidth_ratio,
    engine_device_seconds_per_block,
    engine_seconds_per_sequence,
    batch,
):
    """One decode step on the GPU: weights read or products taken, whichever is longer, the cache, and fixed times. [s]

    The bound of memory bandwidth, or of arithmetic at large batches: Pope et al. 2022, arXiv 2211.05102. The fixed times are
    the gaps between the kernels of a block, and the sampling and bookkeeping of each sequence.
    """
    bandwidth = gpu_bandwidth_bytes_per_second * engine_bandwidth_ratio
    products = decode_flops / (tensor_parallel * peak_flops_per_second * matmul_reach_ratio)
    fixed = np.sum(stack_layers, axis=0) * engine_device_seconds_per_block + batch * engine_seconds_per_sequence
    return fixed + np.maximum(read_weights_bytes / bandwidth, products) + read_cache_bytes / bandwidth


def decode_host_seconds(
    stack_layers, stack_experts, touched_experts_ratio, engine_host_seconds_per_block, engine_host_seconds_per_expert, kernel_host_ratio
):
    """Time in which the CPU launches one decode step's kernels, block by block and expert by expert. [s]"""
    experts = stack_experts * touched_experts_ratio * engine_host_seconds_per_expert
    return np.sum(stack_layers * (engine_host_seconds_per_block * kernel_host_ratio + experts), axis=0)


def time_per_output_token_seconds(decode_device_seconds, decode_link_seconds, decode_host_seconds):
    """One decode step: the GPU's time, or the CPU's to launch it where that is longer. [s]"""
    return np.maximum(decode_device_seconds + decode_link_seconds, decode_host_seconds)


def prefill_tokens_per_second(batch, prompt_tokens, data_parallel, burst_first_token_seconds):
    """Prompt tokens that all GPUs together take in, while they prefill. [tokens/s]"""
    return data_parallel * batch * prompt_tokens / burst_first_token_seconds


def decode_tokens_per_second(batch, data_parallel, time_per_output_token_seconds):
    """Tokens that all GPUs together generate, while they decode. [tokens/s]"""
    return data_parallel * batch / time_per_output_token_seconds


def serving_tokens_per_second(
    batch, data_parallel, generated_tokens, burst_first_token_seconds, time_per_output_token_seconds, decode_tokens_per_second
):
    """Tokens generated over all GPUs when prefill takes its share: batch · g / (prefill + g · step). [tokens/s]

    Without tokens to generate (a prompt as long as the sequence) it is the rate of decoding at that length.
    """
    g = generated_tokens
    served = data_parallel * batch * g / (burst_first_token_seconds + g * time_per_output_token_seconds)
    return np.where(g > 0, served, decode_tokens_per_second)


DECODE = (
    generated_tokens,
    mean_cached_tokens,
    touched_experts_ratio,
    read_weights_bytes,
    read_cache_bytes,
    decode_flops,
    decode_link_seconds,
    decode_device_seconds,
    decode_host_seconds,
    time_per_output_token_seconds,
)
THROUGHPUT = (prefill_tokens_per_second, decode_tokens_per_second, serving_tokens_per_second)
