"""Prefill, bounded by arithmetic: the prompts of a whole batch at once, and one prompt that arrives while others are served."""

import numpy as np

STEPS_AHEAD = 1.5  # half of the running step and one scheduled ahead, which a prompt finds before it


def prefill_flops(matmul_flops, head_flops, attention_flops, tower_flops):
    """All arithmetic of the prefill of one replica's prompts, their images' too. [FLOP]"""
    return matmul_flops + head_flops + attention_flops + tower_flops


def streamed_bytes_per_second(gpu_bandwidth_bytes_per_second, engine_bandwidth_ratio):
    """What the software draws of the card's memory bandwidth. [B/s]"""
    return gpu_bandwidth_bytes_per_second * engine_bandwidth_ratio


def prompts_device_seconds(
    dense_equivalent_flops,
    head_flops,
    attention_flops,
    tower_flops,
    element_traffic_bytes,
    tensor_parallel,
    context_parallel,
    peak_flops_per_second,
    matmul_reach_ratio,
    head_flops_per_second,
    attention_flops_per_second,
    streamed_bytes_per_second,
):
    """What the forward pass of a batch of prompts takes on the GPU in proportion to them. [s]

    Arithmetic at the share of the rate that it reaches, and what norms and activations move (Pope et al. 2022, arXiv
    2211.05102, for the two bounds). A vision tower runs at the rate of the head: its weights stay in 16 bits.
    """
    products = dense_equivalent_flops / (peak_flops_per_second * matmul_reach_ratio)
    head = (head_flops + tower_flops) / head_flops_per_second
    attention = attention_flops / attention_flops_per_second
    traffic = element_traffic_bytes / streamed_bytes_per_second
    return (products + head + attention + traffic) / (tensor_parallel * context_parallel)


def dequantize_seconds(dequantize_bytes, streamed_bytes_per_second, tensor_parallel, context_parallel):
    """Widening quantised matrices, once per forward pass however many prompts run through. [s]"""
    return dequantize_bytes / streamed_bytes_per_second / (tensor_parallel * context_parallel)


def prefill_device_seconds(prompts_device_seconds, dequantize_seconds, read_weights_bytes, streamed_bytes_per_second):
    """The forward pass of a whole batch of prompts on the GPU; a short one takes at least the time to read the weights. [s]"""
    return np.maximum(prompts_device_seconds + dequantize_seconds, read_weights_bytes / streamed_bytes_per_second)


def prompt_device_seconds(batch, prompts_device_seconds, dequantize_seconds, read_weights_bytes, streamed_bytes_per_second):
    """The forward pass of one prompt alone on the GPU: the weights are read for it alone. [s]"""
    return np.maximum(prompts_device_seconds / batch + dequantize_seconds, read_weights_bytes / streamed_bytes_per_second)


def prefill_compute_seconds(
    prefill_device_seconds,
    host_seconds,
    pipeline_parallel,
    prefill_flops,
    peak_flops_per_second,
    tensor_parallel,
    context_parallel,
    utilization,
):
    """Prefill of a whole batch without communication, stage after stage; a set utilization overrules the catalog. [s]"""
    stated = prefill_flops / (peak_flops_per_second * tensor_parallel * context_parallel * utilization)
    return np.where(np.isnan(utilization), np.maximum(prefill_device_seconds, host_seconds * pipeline_parallel), stated)


def prompt_compute_seconds(
    batch,
    prompt_device_seconds,
    host_seconds,
    pipeline_parallel,
    prefill_flops,
    peak_flops_per_second,
    tensor_parallel,
    context_parallel,
    utilization,
):
    """Prefill of one prompt alone without communication; a set utilization overrules the catalog. [s]"""
    stated = prefill_flops / batch / (peak_flops_per_second * tensor_parallel * context_parallel * utilization)
    return np.where(np.isnan(utilization), np.maximum(prompt_device_seconds, host_seconds * pipeline_parallel), stated)


def prefill_link_seconds(tensor_parallel_seconds, context_parallel_seconds, pipeline_parallel, engine_replays_steps, card_all_reduce_ratio):
    """Communication of a whole batch's prefill; serving engines' all-reduces reach a share of the link's own rate. [s]"""
    reached = np.where(engine_replays_steps > 0, card_all_reduce_ratio, 1)
    return (tensor_parallel_seconds / reached + context_parallel_seconds) * pipeline_parallel


def burst_first_token_seconds(prefill_compute_seconds, prefill_link_seconds, engine_request_seconds):
    """From the arrival of a replica's whole batch of prompts at one moment to their first tokens. [s]"""
    return engine_request_seconds + prefill_compute_seconds + prefill_link_seconds


def other_prompts_per_second(batch, burst_first_token_seconds, generated_tokens, decode_step_seconds):
    """Prompts of others that arrive at a replica while it keeps `batch` sequences in flight. [prompts/s]

    batch prompts pass in the time of their prefill and decode steps; one that arrives sees the rate of the batch - 1 others
    (the arrival theorem of closed systems: Sevcik and Mitrani 1981, J. ACM 28(2), 358-371).
    """
    return (batch - 1) / (burst_first_token_seconds + generated_tokens * decode_step_seconds)


def prefill_queue_seconds(batch, other_prompts_per_second, prefill_compute_seconds, prefill_link_seconds):
    """How long an arriving prompt waits, on average, for those before it: s ρ / 2 (1 - ρ), ρ = rate · s. [s]

    M/D/1 by the Pollaczek-Khinchine formula (Kleinrock 1975, Queueing Systems 1, chapter 5). s is one prompt's share of a
    batch's prefill, since prompts that wait run through together.
    """
    each = (prefill_compute_seconds + prefill_link_seconds) / batch
    busy_ratio = other_prompts_per_second * each
    return each * busy_ratio / (2 * (1 - busy_ratio))


def time_to_first_token_seconds(
    batch,
    generated_tokens,
    prompt_compute_seconds,
    prefill_link_seconds,
    prefill_queue_seconds,
    engine_request_seconds,
    engine_replays_steps,
    decode_step_seconds,
):
    """From the arrival of one prompt to its first token at the steady rate. [s]

    It waits for the prompts before it, and one decode step of the others rides with it (iteration-level scheduling: Yu et al.
    2022, Orca, OSDI); an engine that schedules ahead has one and a half before it (vLLM's asynchronous scheduling). Where
    nothing is generated there is no steady rate: its prefill alone. Of a prompt that an engine cuts into several chunks the
    decode steps between the chunks are left out.
    """
    alone = engine_request_seconds + prompt_compute_seconds + prefill_link_seconds / batch
    between = np.where(batch > 1, (1 + STEPS_AHEAD * engine_replays_steps) * decode_step_seconds, 0)
    return alone + np.where(generated_tokens > 0, prefill_queue_seconds + between, 0)


PREFILL = (
    prefill_flops,
    streamed_bytes_per_second,
    prompts_device_seconds,
    dequantize_seconds,
    prefill_device_seconds,
    prompt_device_seconds,
    prefill_compute_seconds,
    prompt_compute_seconds,
    prefill_link_seconds,
    burst_first_token_seconds,
    other_prompts_per_second,
    prefill_queue_seconds,
    time_to_first_token_seconds,
)
