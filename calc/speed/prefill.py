"""Prefill, bounded by arithmetic: a whole batch at once, and one prompt among others.

Source: Pope et al. 2022, arXiv 2211.05102, section 2, for the bound; ratios: catalogs/calibrated,
fitted to published serving (validation/speed.py).
"""

import numpy as np


def prefill_flops(matmul_flops, head_flops, attention_flops, tower_flops):
    """All arithmetic of the prefill of one replica's prompts, their images' too. [FLOP]"""
    return matmul_flops + head_flops + attention_flops + tower_flops


def prefill_split(tensor_parallel, context_parallel):
    """GPUs that share the work of one pipeline stage in prefill. [GPUs]"""
    return tensor_parallel * context_parallel


def prompts_wide_seconds(
    head_flops, tower_flops, head_flops_per_second, attention_flops, attention_flops_per_second
):
    """Time of a batch's head, vision tower and attention, if one GPU computes them. [s]

    A vision tower runs at the rate of the head: its weights stay in 16 bits.
    """
    return (
        head_flops + tower_flops
    ) / head_flops_per_second + attention_flops / attention_flops_per_second


def prompts_device_seconds(
    dense_equivalent_flops,
    products_flops_per_second,
    prompts_wide_seconds,
    element_traffic_bytes,
    whole_element_bytes,
    streamed_bytes_per_second,
    prefill_split,
    context_parallel,
):
    """The part of a forward pass of a batch of prompts on the GPU that grows with them. [s]

    Arithmetic at the share of the rate that it reaches, and what norms and activations move; of
    that tensor parallel divides what is as wide as the attention and the networks, not what is as
    wide as the hidden states. Source: Pope et al. 2022, arXiv 2211.05102, for the two bounds; vLLM,
    layers/layernorm.py and fused_moe/fused_moe.py, which every rank runs over all tokens.
    """
    divided = dense_equivalent_flops / products_flops_per_second + prompts_wide_seconds
    moved = (
        element_traffic_bytes - whole_element_bytes
    ) / prefill_split + whole_element_bytes / context_parallel
    return divided / prefill_split + moved / streamed_bytes_per_second


def dequantize_seconds(dequantize_bytes, streamed_bytes_per_second, prefill_split):
    """Widening quantized matrices, once per forward pass however many prompts run through. [s]"""
    return dequantize_bytes / streamed_bytes_per_second / prefill_split


def pass_experts_seconds(
    stack_expert_bytes,
    stack_experts,
    stack_chosen_experts_ratio,
    passed_tokens,
    streamed_bytes_per_second,
):
    """Reading the experts that the tokens of one pass chose: 1 − (1 − k / E)^tokens of all. [s]

    Beside the products, since few tokens of a pass meet each expert. Source: vLLM,
    fused_moe/fused_moe.py, whose kernel reads the weights of an expert for each block of its
    tokens.
    """
    idle_ratio = 1 - stack_chosen_experts_ratio
    touched = np.where(stack_experts > 0, 1 - idle_ratio**passed_tokens, 0)
    return np.sum(stack_expert_bytes * touched, axis=0) / streamed_bytes_per_second


def prefill_device_seconds(
    prompts_device_seconds,
    dequantize_seconds,
    burst_passes,
    pass_experts_seconds,
    read_weights_bytes,
    streamed_bytes_per_second,
):
    """Passes of a batch of prompts on the GPU, at least the time to read the weights. [s]"""
    passes = prompts_device_seconds + dequantize_seconds + burst_passes * pass_experts_seconds
    return np.maximum(passes, read_weights_bytes / streamed_bytes_per_second)


def prompt_device_seconds(
    batch,
    prompts_device_seconds,
    dequantize_seconds,
    prompt_passes,
    pass_experts_seconds,
    read_weights_bytes,
    streamed_bytes_per_second,
):
    """Passes of one prompt alone on the GPU, at least the time to read the weights. [s]"""
    passes = (
        prompts_device_seconds / batch + dequantize_seconds + prompt_passes * pass_experts_seconds
    )
    return np.maximum(passes, read_weights_bytes / streamed_bytes_per_second)


def stated_prefill_seconds(prefill_flops, peak_flops_per_second, prefill_split, utilization):
    """Prefill of a batch at the utilization that the scenario sets; NaN where it sets none. [s]"""
    return prefill_flops / (peak_flops_per_second * prefill_split * utilization)


def prefill_compute_seconds(
    prefill_device_seconds,
    host_seconds,
    pipeline_parallel,
    stated_prefill_seconds,
    replays_burst,
    decode_fixed_seconds,
):
    """Prefill of a batch without communication; a set utilization overrules the catalog. [s]

    The CPU launches its kernels, or they are replayed with the gaps that a decode step has.
    """
    launched = np.maximum(prefill_device_seconds, host_seconds * pipeline_parallel)
    estimated = np.where(replays_burst, prefill_device_seconds + decode_fixed_seconds, launched)
    return np.where(np.isnan(stated_prefill_seconds), estimated, stated_prefill_seconds)


def prompt_compute_seconds(
    batch,
    prompt_device_seconds,
    host_seconds,
    pipeline_parallel,
    stated_prefill_seconds,
    replays_prompt,
    decode_fixed_seconds,
):
    """Prefill of one prompt without communication, at the set utilization or the catalog's. [s]"""
    launched = np.maximum(prompt_device_seconds, host_seconds * pipeline_parallel)
    estimated = np.where(replays_prompt, prompt_device_seconds + decode_fixed_seconds, launched)
    return np.where(np.isnan(stated_prefill_seconds), estimated, stated_prefill_seconds / batch)


def handling_seconds(engine_request_seconds, release_request_seconds, further_request_seconds):
    """Time in which the software's front end takes a lone request and sends its answer. [s]"""
    newest = engine_request_seconds + further_request_seconds
    return np.where(np.isnan(release_request_seconds), newest, release_request_seconds)


def arrival_seconds(
    handling_seconds,
    is_engine,
    generates,
    prompt_tokens,
    tokenize_seconds_each,
    batch,
    many_sequences,
    generated_tokens,
    answer_seconds_each,
):
    """Time from a request's arrival to its first kernel, and back; engines tokenize it. [s]

    Their front end also handles the answers of all that run, one after another, so that a request
    waits longer the more there are; counted up to as many as published runs have. A model that
    answers no token and runs in the caller's process handles no request: benchmarks time the batch
    alone. Source: vLLM, v1/engine/async_llm.py, output_handler; its documentation, CPU resources.
    """
    handled = handling_seconds * np.maximum(is_engine, generates)
    others = np.where(generated_tokens > 0, np.minimum(batch, many_sequences) - 1, 0)
    each = prompt_tokens * tokenize_seconds_each + others * answer_seconds_each
    return handled + is_engine * generates * each


def burst_first_token_seconds(
    prefill_compute_seconds, prefill_link_seconds, arrival_seconds, first_token_run_ratio
):
    """Time until a batch of prompts that arrives at one moment has its first tokens. [s]"""
    return (
        arrival_seconds + prefill_compute_seconds + prefill_link_seconds
    ) * first_token_run_ratio


def other_prompts_per_second(
    running_sequences, burst_first_token_seconds, generated_tokens, decode_token_seconds
):
    """Others' prompts that arrive at a replica with `batch` sequences in flight. [prompts/s]

    `batch` prompts pass in the time of their prefill and decode steps; one that arrives sees the
    rate of the others, the arrival theorem of closed systems. Source: Sevcik and Mitrani 1981, J.
    ACM 28(2), 358-371.
    """
    return (running_sequences - 1) / (
        burst_first_token_seconds + generated_tokens * decode_token_seconds
    )


def prompt_seconds(batch, prefill_compute_seconds, prefill_link_seconds):
    """One prompt's share of the prefill of a batch. [s]"""
    return (prefill_compute_seconds + prefill_link_seconds) / batch


def added_prompt_seconds(
    batch,
    prompts_device_seconds,
    prefill_link_seconds,
    stated_prefill_seconds,
    first_token_run_ratio,
):
    """Time that each additional prompt adds to a batch of any size. [s]

    Its inverse is the highest rate of prompts: ever more of them share what a batch takes once.
    Source: Inoue 2021, arXiv 1912.06322, whose batches take τ + α b, and wait without bound as the
    rate nears 1 / α.
    """
    is_stated = ~np.isnan(stated_prefill_seconds)
    computed = np.where(is_stated, stated_prefill_seconds, prompts_device_seconds)
    return (computed + prefill_link_seconds) / batch * first_token_run_ratio


def prefill_queue_seconds(other_prompts_per_second, prompt_seconds):
    """Mean wait of an arriving prompt for those before it: s ρ / 2 (1 − ρ), ρ = rate · s. [s]

    s is one prompt's share of a batch's prefill, since prompts that wait run through together.
    Source: M/D/1 by the Pollaczek-Khinchine formula, Kleinrock 1975, Queueing Systems 1, chapter 5.
    """
    busy_ratio = other_prompts_per_second * prompt_seconds
    return prompt_seconds * busy_ratio / (2 * (1 - busy_ratio))


def shared_read_seconds(
    read_weights_bytes,
    streamed_bytes_per_second,
    decode_step_seconds,
    engine_replays_steps,
    replays_prompt,
    decode_fixed_seconds,
):
    """Reading the weights once for a decode step and a prompt in its pass, not twice. [s]

    An engine puts the tokens to decode and those of prompts into one pass; a prompt by itself takes
    at least this reading. Source: vLLM, v1/core/sched/scheduler.py, schedule: running, then waiting
    requests from one token_budget; Agrawal et al. 2024, arXiv 2403.02310.
    """
    read = read_weights_bytes / streamed_bytes_per_second + replays_prompt * decode_fixed_seconds
    return engine_replays_steps * np.minimum(read, decode_step_seconds)


def ridden_seconds(shared_read_seconds, prompt_seconds):
    """Time that a prompt in its pass saves a decode step: at most the prompt's. [s]"""
    return np.minimum(shared_read_seconds, prompt_seconds)
