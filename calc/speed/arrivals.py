"""Random arrivals at a replica: how busy they keep it, and what one request waits for.

Requests arrive at random (Poisson) at the rate that keeps `batch` of them in flight. Prompts and answers are log-normal around
the lengths of the row. Prompts run first come, first served, in chunks beside the decode steps.
Held against a simulation of every step: validation/arrivals.py, validation/results/arrivals.csv.
"""

import numpy as np

MOST_BUSY = 0.99  # beyond, a queue has no mean worth printing


def prompt_squares_ratio(prompt_variation_ratio):
    """Mean square of the prompts' lengths over the square of their mean: 1 + c². [ratio]"""
    return 1 + prompt_variation_ratio**2


def answer_squares_ratio(answer_variation_ratio):
    """Mean square of the answers' lengths over the square of their mean: 1 + c². [ratio]"""
    return 1 + answer_variation_ratio**2


def arrivals_per_second(
    batch, running_sequences, tokens_total, generated_tokens, time_to_first_token_seconds, time_per_output_token_seconds
):
    """Requests that keep `batch` in flight, by Little's law; NaN of work that ends. [requests/s]

    NaN also where the cache does not hold them all: requests that come at random then never find room in time.
    """
    keeps_up = (generated_tokens > 0) & ~(tokens_total > 0) & (running_sequences >= batch)
    g = np.where(keeps_up, generated_tokens, np.nan)
    return batch / (time_to_first_token_seconds + (g - 1) * time_per_output_token_seconds)


def prompt_attention_ratio(batch, attention_flops, attention_flops_per_second, prefill_split, prompt_seconds):
    """Share of a prompt's prefill that grows with the square of its length. [share]"""
    return np.minimum(attention_flops / (attention_flops_per_second * prefill_split * batch * prompt_seconds), 1)


def prompt_work_seconds(prompt_seconds, prompt_attention_ratio, prompt_variation_ratio, first_token_run_ratio):
    """Prefill of one prompt by itself, on average over their lengths: s (1 + a c²). [s]"""
    return prompt_seconds * (1 + prompt_attention_ratio * prompt_variation_ratio**2) * first_token_run_ratio


def mean_prompt_seconds(prompt_work_seconds, ridden_seconds, arrivals_per_second, decode_token_seconds):
    """What one prompt adds to the steps, on average. [s]

    The weights are read once for a step and all the prompts in it: m / (1 − e^(−m)) where m come during a step.
    """
    step = decode_token_seconds / (1 - np.minimum(arrivals_per_second * prompt_work_seconds, MOST_BUSY))
    prompts = arrivals_per_second * step
    saved = ridden_seconds * -np.expm1(-prompts) / prompts
    return prompt_work_seconds - np.minimum(saved, prompt_work_seconds / 2)


def prefill_squares_ratio(prompt_squares_ratio, prompt_attention_ratio, prompt_work_seconds, mean_prompt_seconds):
    """Mean square of what prompts add over the square of its mean. [ratio]

    Prefill grows with the power e of the length, 1 + a q / (1 − a + a q) at the length that an average token stands in: its mean
    square is q^(e²) of its squared mean.
    """
    squared = prompt_attention_ratio * prompt_squares_ratio
    power = 1 + squared / (1 - prompt_attention_ratio + squared)
    return 1 + (prompt_squares_ratio ** (power * power) - 1) * (prompt_work_seconds / mean_prompt_seconds) ** 2


def growing_experts_bytes(stack_expert_bytes, busiest_rank_ratio, touched_experts_ratio):
    """Experts read in a decode step, as its growth by one sequence times the sequences. [B]

    Of 1 − e^(−x) touched experts x e^(−x) grow in proportion.
    """
    rest = np.maximum(1 - touched_experts_ratio, 1e-9)
    return np.sum(stack_expert_bytes * busiest_rank_ratio * rest * -np.log(rest), axis=0)


def decode_growing_ratio(
    batch,
    engine_seconds_per_sequence,
    engine_replays_steps,
    replayed_sequences_seconds,
    read_cache_bytes,
    growing_experts_bytes,
    decode_products_seconds,
    read_weights_bytes,
    streamed_bytes_per_second,
    decode_step_seconds,
):
    """Share of a decode step that grows with the sequences in it. [share]"""
    sequences = batch * engine_seconds_per_sequence + engine_replays_steps * replayed_sequences_seconds
    by_products = decode_products_seconds * streamed_bytes_per_second > read_weights_bytes
    weights = np.where(by_products, decode_products_seconds, growing_experts_bytes / streamed_bytes_per_second)
    return np.minimum((sequences + weights + read_cache_bytes / streamed_bytes_per_second) / decode_step_seconds, 1)


def sequence_step_seconds(batch, decode_token_seconds, decode_growing_ratio):
    """What one sequence adds to a decode step. [s]"""
    return decode_token_seconds * decode_growing_ratio / batch


def bare_step_seconds(decode_token_seconds, decode_growing_ratio):
    """What a decode step takes for any number of sequences. [s]"""
    return decode_token_seconds * (1 - decode_growing_ratio)


def prefill_busy_ratio(arrivals_per_second, mean_prompt_seconds):
    """Share of the time in which prompts run. [share]"""
    return np.minimum(arrivals_per_second * mean_prompt_seconds, MOST_BUSY)


def decode_busy_ratio(arrivals_per_second, generated_tokens, sequence_step_seconds):
    """Share of the time that sequences add to the decode steps. [share]"""
    return arrivals_per_second * generated_tokens * sequence_step_seconds


def held_tokens(prompt_tokens, generated_tokens, answer_squares_ratio):
    """Tokens that a request in flight holds: its prompt and half of its answer. [tokens]

    Long answers are in flight longer: the mean answer in flight is g (1 + c²).
    Source: the inspection paradox, Kleinrock 1975, Queueing Systems 1, section 5.2.
    """
    return prompt_tokens + generated_tokens * answer_squares_ratio / 2


def cache_slots(batch, cache_pool_bytes, kv_cache_bytes, sequence_tokens, held_tokens, engine_sequences):
    """Sequences at once: what the cache of a replica holds, and its limit. [sequences]"""
    room_ratio = cache_pool_bytes / np.maximum(kv_cache_bytes, 1)
    return np.fmin(batch * room_ratio * np.minimum(sequence_tokens / held_tokens, 2), engine_sequences)


def arrivals_load_ratio(arrivals_per_second, generated_tokens, bare_step_seconds, cache_slots, prefill_busy_ratio, decode_busy_ratio):
    """The rate of arrivals over the most that a replica answers with all slots in use. [ratio]

    With K sequences in flight a request takes g (d + K d') + K s; the replica answers K in that time.
    """
    steps = arrivals_per_second * generated_tokens * bare_step_seconds / np.maximum(cache_slots, 1)
    return prefill_busy_ratio + decode_busy_ratio + steps


def free_ratio(prefill_busy_ratio, decode_busy_ratio, arrivals_load_ratio):
    """Share of the time that no sequence adds; NaN where the queue never ends. [share]"""
    return np.where(arrivals_load_ratio < 1, np.maximum(1 - prefill_busy_ratio - decode_busy_ratio, 1 - MOST_BUSY), np.nan)


def others_ratio(batch, free_ratio):
    """Share of arrivals that find others in flight: 1 − (1 − ρ)^(1 + n (1 − ρ) / ρ). [share]

    The sequences in flight are negative binomial: each is served alone for a part of its time, shared for the rest.
    Source: a symmetric queue, Kelly 1979, Reversibility and Stochastic Networks, section 3.3.
    """
    return 1 - free_ratio ** (1 + batch * free_ratio / (1 - free_ratio))


def mixed_step_seconds(decode_token_seconds, prefill_busy_ratio):
    """A decode step with the prompts that run in it, on average. [s]"""
    return decode_token_seconds / (1 - prefill_busy_ratio)


def met_step_seconds(arrivals_per_second, mean_prompt_seconds, prefill_squares_ratio, prefill_busy_ratio, mixed_step_seconds):
    """The step that an arrival meets, longer than the mean one as long steps meet more. [s]

    A step runs the prompts that came during the one before: E[X²] / E[X] = x + λ E[s²] / (1 − ρ²).
    """
    squares = arrivals_per_second * mean_prompt_seconds**2 * prefill_squares_ratio
    return mixed_step_seconds + squares / (1 - prefill_busy_ratio**2)


def ahead_steps(scheduled_ahead_steps, engine_replays_steps):
    """Steps before an arrival: half of the running one, and those scheduled ahead. [steps]"""
    return np.where(engine_replays_steps > 0, scheduled_ahead_steps, 0.5)


def chunk_steps_seconds(decode_token_seconds, prompt_tokens, engine_batched_tokens):
    """Decode steps that run beside the chunks of one prompt. [s]"""
    return decode_token_seconds * prompt_tokens / engine_batched_tokens


def prompts_queue_seconds(arrivals_per_second, mean_prompt_seconds, prefill_squares_ratio, chunk_steps_seconds):
    """Mean wait for the prompts before: λ E[s²] / 2 (1 − ρ), their chunks' steps counted. [s]

    Source: the Pollaczek-Khinchine formula, Kleinrock 1975, Queueing Systems 1, section 5.6.
    """
    square = mean_prompt_seconds * (mean_prompt_seconds * prefill_squares_ratio + 2 * chunk_steps_seconds)
    busy = np.minimum(arrivals_per_second * (mean_prompt_seconds + chunk_steps_seconds), MOST_BUSY)
    return arrivals_per_second * square / (2 * (1 - busy))


def full_step_seconds(mean_prompt_seconds, prompt_tokens, engine_batched_tokens):
    """Prefill of a step whose budget is full of prompts. [s]"""
    return mean_prompt_seconds * engine_batched_tokens / prompt_tokens


def behind_seconds(prefill_busy_ratio, prompts_queue_seconds, others_ratio, mixed_step_seconds, full_step_seconds):
    """Prompts that came later and end in the same step. [s]"""
    later = prompts_queue_seconds / (1 + prefill_busy_ratio) + others_ratio * mixed_step_seconds / 2
    return prefill_busy_ratio * np.minimum(later, full_step_seconds / 2)
