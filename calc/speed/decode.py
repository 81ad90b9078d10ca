"""A decode step: one token for each of a replica's sequences, bounded by memory traffic.

Source: Pope et al. 2022, arXiv 2211.05102, section 2, for the bound; fixed times and ratios:
catalogs/calibrated, fitted to published serving (validation/speed.py).
"""

import numpy as np

# Sequences in flight at which catalogs/edited/speculations.yaml has gains.
IN_FLIGHT = (4, 8, 32, 64, 256)


def streamed_bytes_per_second(gpu_bandwidth_bytes_per_second, engine_bandwidth_ratio):
    """Memory bandwidth that the software draws. [B/s]"""
    return gpu_bandwidth_bytes_per_second * engine_bandwidth_ratio


def generated_tokens(sequence_tokens, prompt_tokens):
    """Tokens that one sequence generates: what its cache holds beyond the prompt. [tokens]"""
    return np.maximum(sequence_tokens - prompt_tokens, 0)


def mean_cached_tokens(sequence_tokens, prompt_tokens):
    """Tokens in one sequence's cache, on average over its generation. [tokens]"""
    return (np.minimum(prompt_tokens, sequence_tokens) + sequence_tokens) / 2


def dense_matrix_bytes_each(matrix_bytes_each, outer_bytes_each, experts_only, most_experts):
    """Width of a block's matrices beside its experts, which may be narrower. [B]"""
    return np.where(experts_only * most_experts > 0, outer_bytes_each, matrix_bytes_each)


def matrix_read_ratio(
    release_plain_awq, kernel_plain_read_ratio, kernel_read_ratio, product_bytes_each
):
    """Share of other reads' bandwidth at which an engine reads quantized matrices. [share]

    Products in 4 bits draw less of it than those in 8 bits. Source: vLLM, pull request 6612, the
    Marlin kernel for AWQ, first in release 0.5.3; of NVFP4, catalogs/calibrated/kernels.yaml.
    """
    plain = (release_plain_awq > 0) & (kernel_plain_read_ratio > 0)
    in_4_bits = (product_bytes_each < 1) & (kernel_read_ratio > 0)
    usual = np.where(in_4_bits, kernel_read_ratio, 1)
    return np.where(plain, kernel_plain_read_ratio, usual)


def dense_weights_bytes(
    linear_parameters,
    expert_parameters,
    dense_matrix_bytes_each,
    matrix_read_ratio,
    outputs,
    hidden,
    outer_bytes_each,
    tensor_parallel,
):
    """One GPU's share of the blocks beside their experts, and of the head. [B]

    As many bytes as other reads move in the time of these.
    """
    dense = (linear_parameters - expert_parameters) * dense_matrix_bytes_each / matrix_read_ratio
    return (dense + outputs * hidden * outer_bytes_each) / tensor_parallel


def read_weights_bytes(dense_weights_bytes, read_experts_bytes):
    """Weights that one GPU reads in a decode step (Pope et al. 2022, arXiv 2211.05102). [B]"""
    return dense_weights_bytes + read_experts_bytes


def stack_cache_passes(
    stack_heads,
    stack_kv_heads,
    engine_cache_copies,
    engine_cache_passes,
    engine_repeats_keys,
    release_repeats_keys,
):
    """Number of times that a decode step moves the cache. [passes]

    A paged engine reads it once. transformers appends by copying it whole, and first widens it.
    Source: Kwon et al. 2023, arXiv 2309.06180; vLLM 0.4, csrc/attention/attention_kernels.cu, a
    block of threads per query head.
    """
    repeats = np.where(np.isnan(release_repeats_keys), engine_repeats_keys, release_repeats_keys)
    pass_ratio = 1 + repeats * (stack_heads / np.maximum(stack_kv_heads, 1) - 1)
    return engine_cache_copies + engine_cache_passes * pass_ratio


def stack_read_elements(
    stack_layers,
    stack_window_tokens,
    stack_read_elements_per_token,
    mean_cached_tokens,
    stack_cache_split,
):
    """Elements of one sequence's cache that a decode step reads on one GPU. [elements]"""
    elements = (
        stack_layers
        * np.minimum(mean_cached_tokens, stack_window_tokens)
        * stack_read_elements_per_token
    )
    return elements / stack_cache_split


def cross_read_elements(
    stack_layers, stack_cross_cached_elements_per_token, stack_source_tokens, stack_cache_split
):
    """Elements of one sequence's source that cross attention reads on one GPU. [elements]

    Every decode step reads the whole source: nothing is appended to it. Source: Vaswani et al.
    2017, arXiv 1706.03762, section 3.2.3.
    """
    elements = stack_layers * stack_cross_cached_elements_per_token * stack_source_tokens
    return np.sum(elements / stack_cache_split, axis=0)


def read_cache_bytes(
    running_sequences,
    stack_layers,
    stack_read_elements,
    cross_read_elements,
    stack_cache_passes,
    stack_state_bytes,
    kv_bytes_each,
):
    """Keys, values and states that one GPU moves in one decode step. [B]"""
    moved = np.sum(stack_read_elements * stack_cache_passes, axis=0) + cross_read_elements
    return running_sequences * (
        kv_bytes_each * moved + 2 * np.sum(stack_layers * stack_state_bytes, axis=0)
    )


def decode_widened_bytes(
    batch,
    linear_parameters,
    kernel_decode_bytes_each,
    kernel_decode_widens_from,
    engine_replays_steps,
    tensor_parallel,
):
    """Bytes moved to widen quantized matrices in a decode step, where the kernel must. [B]

    bitsandbytes multiplies one token with 4-bit weights and widens them for more; serving engines'
    kernels widen in registers. Source: bitsandbytes/autograd/_functions.py, matmul_4bit; Frantar et
    al. 2024, MARLIN, arXiv 2408.11743.
    """
    widens = (batch >= kernel_decode_widens_from) * (1 - engine_replays_steps)
    return widens * kernel_decode_bytes_each * linear_parameters / tensor_parallel


def decode_products_seconds(
    running_sequences,
    stack_active_parameters,
    outputs,
    hidden,
    tensor_parallel,
    products_flops_per_second,
):
    """Products of one decode step: 2 · sequences · active parameters, head included. [s]

    Attention over the cache, bounded by memory, is left out.
    Source: Kaplan et al. 2020, arXiv 2001.08361, section 2.1.
    """
    flops = 2 * running_sequences * (np.sum(stack_active_parameters, axis=0) + outputs * hidden)
    return flops / (tensor_parallel * products_flops_per_second)


def all_reduce_start_seconds(collective_latency_seconds, card_all_reduce_seconds):
    """Start-up of one small all-reduce: as set, else the card's. [s]"""
    return np.where(
        collective_latency_seconds > 0, collective_latency_seconds, card_all_reduce_seconds
    )


def decode_reduce_seconds(
    running_sequences,
    whole_blocks,
    hidden,
    tensor_parallel,
    tensor_ring_bytes_per_second,
    all_reduce_start_seconds,
):
    """Two all-reduces per block of a decode step, in 16 bits: start-up and bytes. [s]

    Source: Shoeybi et al. 2019, arXiv 1909.08053, section 3.
    """
    sent_seconds = (
        2
        * running_sequences
        * hidden
        * 2
        * (1 - 1 / tensor_parallel)
        / tensor_ring_bytes_per_second
    )
    return np.where(
        tensor_parallel > 1, 2 * whole_blocks * (all_reduce_start_seconds + sent_seconds), 0
    )


def decode_exchange_seconds(
    expert_blocks,
    hidden,
    tensor_parallel,
    expert_gpus,
    expert_batch,
    expert_ring_bytes_per_second,
    all_reduce_start_seconds,
):
    """Two exchanges per block of experts spread over replicas of attention, in 16 bits. [s]

    Every GPU gathers all their tokens and scatters the sums.
    Source: vLLM, all2all.py, its plain way.
    """
    gathered_seconds = (
        expert_batch
        * hidden
        * 2
        * (1 - tensor_parallel / expert_gpus)
        / expert_ring_bytes_per_second
    )
    return np.where(
        expert_gpus > tensor_parallel,
        2 * expert_blocks * (all_reduce_start_seconds + gathered_seconds),
        0,
    )


def decode_device_seconds(
    decode_fixed_seconds,
    read_weights_bytes,
    read_cache_bytes,
    decode_widened_bytes,
    decode_products_seconds,
    streamed_bytes_per_second,
):
    """One decode step on the GPU: weights or products, the cache, and fixed times. [s]

    The bound of memory bandwidth, or of arithmetic at large batches.
    Source: Pope et al. 2022, arXiv 2211.05102.
    """
    weights = np.maximum(read_weights_bytes / streamed_bytes_per_second, decode_products_seconds)
    return (
        decode_fixed_seconds
        + weights
        + (read_cache_bytes + decode_widened_bytes) / streamed_bytes_per_second
    )


def adapter_read_bytes(stack_layers, stack_adapter_parameters, outer_bytes_each, tensor_parallel):
    """One served LoRA adapter, as a decode step reads it on one GPU. [B]"""
    return (
        np.sum(stack_layers * stack_adapter_parameters, axis=0) * outer_bytes_each / tensor_parallel
    )


def decode_adapters_seconds(
    batch, served_adapters, adapter_read_bytes, streamed_bytes_per_second, adapter_step_seconds
):
    """Time that served adapters add to a decode step: kernels, and reading them. [s]

    Source: Chen et al. 2023, Punica, arXiv 2310.18547: 2 ms a token. Valid: the prefill of adapted
    prompts, which published reports do not tell apart, is counted as without.
    """
    read_seconds = (
        np.minimum(served_adapters, batch) * adapter_read_bytes / streamed_bytes_per_second
    )
    return np.where(served_adapters > 0, adapter_step_seconds + read_seconds, 0)


def decode_step_seconds(
    decode_device_seconds,
    decode_reduce_seconds,
    decode_exchange_seconds,
    decode_adapters_seconds,
    decode_host_seconds,
):
    """One decode step: the GPU's time, or the CPU's to launch it where that is longer. [s]"""
    on_gpu = (
        decode_device_seconds
        + decode_reduce_seconds
        + decode_exchange_seconds
        + decode_adapters_seconds
    )
    return np.maximum(on_gpu, decode_host_seconds)


def decode_gain_ratio(
    batch,
    speculates,
    speculation_gain_ratio,
    speculation_4_ratio,
    speculation_8_ratio,
    speculation_32_ratio,
    speculation_64_ratio,
    speculation_256_ratio,
):
    """Tokens of a decode step and sequence, verifying counted; 1 without a draft. [ratio]

    As the scenario sets it, else by the sequences in flight, log-linear between those that are
    known. Source: catalogs/edited/speculations.yaml.
    """
    points = (
        speculation_4_ratio,
        speculation_8_ratio,
        speculation_32_ratio,
        speculation_64_ratio,
        speculation_256_ratio,
    )
    doublings = np.log2(IN_FLIGHT)
    gain = points[0]
    for start, end, before, after in zip(
        doublings, doublings[1:], points, points[1:], strict=False
    ):
        gain = gain + (after - before) * np.clip((np.log2(batch) - start) / (end - start), 0, 1)
    return np.where(
        speculates > 0, np.where(speculation_gain_ratio > 0, speculation_gain_ratio, gain), 1.0
    )


def decode_token_seconds(
    decode_step_seconds, decode_gain_ratio, decode_products_seconds, time_run_ratio
):
    """Mean time between tokens of a sequence while no other prompt runs. [s]

    Each token takes its arithmetic, however it was proposed. Your own runs correct it.
    """
    return (
        np.maximum(decode_step_seconds / decode_gain_ratio, decode_products_seconds)
        * time_run_ratio
    )
