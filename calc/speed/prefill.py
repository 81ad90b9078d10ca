"""Prefill, bounded by arithmetic: a whole batch at once, and one prompt among others."""

import numpy as np


def prefill_flops(matmul_flops, head_flops, attention_flops, tower_flops):
    """All arithmetic of the prefill of one replica's prompts, their images' too. [FLOP]"""
    return matmul_flops + head_flops + attention_flops + tower_flops


def prefill_split(tensor_parallel, context_parallel):
    """GPUs that share the work of one pipeline stage in prefill. [GPUs]"""
    return tensor_parallel * context_parallel


def prompts_wide_seconds(head_flops, tower_flops, head_flops_per_second, attention_flops, attention_flops_per_second):
    """Head, vision tower and attention of a batch of prompts, on one GPU alone. [s]

    A vision tower runs at the rate of the head: its weights stay in 16 bits.
    """
    return (head_flops + tower_flops) / head_flops_per_second + attention_flops / attention_flops_per_second


def prompts_device_seconds(
    dense_equivalent_flops, products_flops_per_second, prompts_wide_seconds, element_traffic_bytes, streamed_bytes_per_second, prefill_split
):
    """The part of a forward pass of a batch of prompts on the GPU that grows with them. [s]

    Arithmetic at the share of the rate that it reaches, and what norms and activations move.
    Source: Pope et al. 2022, arXiv 2211.05102, for the two bounds.
    """
    products = dense_equivalent_flops / products_flops_per_second
    return (products + prompts_wide_seconds + element_traffic_bytes / streamed_bytes_per_second) / prefill_split


def dequantize_seconds(dequantize_bytes, streamed_bytes_per_second, prefill_split):
    """Widening quantised matrices, once per forward pass however many prompts run through. [s]"""
    return dequantize_bytes / streamed_bytes_per_second / prefill_split


def prefill_device_seconds(prompts_device_seconds, dequantize_seconds, read_weights_bytes, streamed_bytes_per_second):
    """Forward pass of a batch of prompts on the GPU, at least the time to read the weights. [s]"""
    return np.maximum(prompts_device_seconds + dequantize_seconds, read_weights_bytes / streamed_bytes_per_second)


def prompt_device_seconds(batch, prompts_device_seconds, dequantize_seconds, read_weights_bytes, streamed_bytes_per_second):
    """Forward pass of one prompt alone on the GPU, at least the time to read the weights. [s]"""
    return np.maximum(prompts_device_seconds / batch + dequantize_seconds, read_weights_bytes / streamed_bytes_per_second)


def stated_prefill_seconds(prefill_flops, peak_flops_per_second, prefill_split, utilization):
    """Prefill of a batch at the utilization that the scenario sets; NaN where it sets none. [s]"""
    return prefill_flops / (peak_flops_per_second * prefill_split * utilization)


def prefill_compute_seconds(prefill_device_seconds, host_seconds, pipeline_parallel, stated_prefill_seconds):
    """Prefill of a batch without communication; a set utilization overrules the catalog. [s]"""
    estimated = np.maximum(prefill_device_seconds, host_seconds * pipeline_parallel)
    return np.where(np.isnan(stated_prefill_seconds), estimated, stated_prefill_seconds)


def prompt_compute_seconds(batch, prompt_device_seconds, host_seconds, pipeline_parallel, stated_prefill_seconds):
    """Prefill of one prompt without communication, at the set utilization or the catalog's. [s]"""
    estimated = np.maximum(prompt_device_seconds, host_seconds * pipeline_parallel)
    return np.where(np.isnan(stated_prefill_seconds), estimated, stated_prefill_seconds / batch)


def prefill_link_seconds(tensor_parallel_seconds, context_parallel_seconds, pipeline_parallel, engine_replays_steps, card_all_reduce_ratio):
    """Communication of a batch's prefill; an engine's all-reduces reach a share of the link. [s]"""
    reached = np.where(engine_replays_steps > 0, card_all_reduce_ratio, 1)
    return (tensor_parallel_seconds / reached + context_parallel_seconds) * pipeline_parallel


def burst_first_token_seconds(prefill_compute_seconds, prefill_link_seconds, engine_request_seconds, first_token_run_ratio):
    """From the arrival of a whole batch of prompts at one moment to their first tokens. [s]"""
    return (engine_request_seconds + prefill_compute_seconds + prefill_link_seconds) * first_token_run_ratio


def other_prompts_per_second(batch, burst_first_token_seconds, generated_tokens, decode_token_seconds):
    """Others' prompts that arrive at a replica with `batch` sequences in flight. [prompts/s]

    `batch` prompts pass in the time of their prefill and decode steps; one that arrives sees the rate of the others, the
    arrival theorem of closed systems.
    Source: Sevcik and Mitrani 1981, J. ACM 28(2), 358-371.
    """
    return (batch - 1) / (burst_first_token_seconds + generated_tokens * decode_token_seconds)


def prompt_seconds(batch, prefill_compute_seconds, prefill_link_seconds):
    """One prompt's share of the prefill of a batch. [s]"""
    return (prefill_compute_seconds + prefill_link_seconds) / batch


def prefill_queue_seconds(other_prompts_per_second, prompt_seconds):
    """Mean wait of an arriving prompt for those before it: s ρ / 2 (1 − ρ), ρ = rate · s. [s]

    s is one prompt's share of a batch's prefill, since prompts that wait run through together.
    Source: M/D/1 by the Pollaczek-Khinchine formula, Kleinrock 1975, Queueing Systems 1, chapter 5.
    """
    busy_ratio = other_prompts_per_second * prompt_seconds
    return prompt_seconds * busy_ratio / (2 * (1 - busy_ratio))


def prompt_wait_seconds(batch, prefill_queue_seconds, decode_step_seconds, scheduled_ahead_steps, engine_replays_steps):
    """Time that a prompt waits for others at the steady rate: prompts and decode steps. [s]

    One decode step of the others rides with it; an engine that schedules ahead has more before it.
    Source: iteration-level scheduling, Yu et al. 2022, Orca, OSDI; vLLM's asynchronous scheduling.
    """
    steps = np.where(batch > 1, (1 + scheduled_ahead_steps * engine_replays_steps) * decode_step_seconds, 0)
    return prefill_queue_seconds + steps


def time_to_first_token_seconds(
    batch,
    generated_tokens,
    prompt_compute_seconds,
    prefill_link_seconds,
    prompt_wait_seconds,
    engine_request_seconds,
    first_token_run_ratio,
):
    """From the arrival of one prompt to its first token at the steady rate. [s]

    Where nothing is generated there is no steady rate: its prefill alone.
    Valid: prompts that an engine does not cut into chunks; the decode steps between chunks are left out.
    """
    alone = engine_request_seconds + prompt_compute_seconds + prefill_link_seconds / batch
    return (alone + np.where(generated_tokens > 0, prompt_wait_seconds, 0)) * first_token_run_ratio
