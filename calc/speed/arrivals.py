"""Random arrivals at a replica: how busy they keep it, and what one request waits for.

Requests arrive at random (Poisson) at the rate that keeps `batch` of them in flight. Prompts and
answers are log-normal around the lengths of the row. Prompts run first come, first served, in
chunks beside the decode steps. Held against a simulation of every step: validation/arrivals.py,
validation/results/arrivals.csv. Source: Kleinrock 1975,
Queueing Systems 1, chapter 5, for a queue of random arrivals with one server, unless a formula
names another.
"""

from math import comb

import numpy as np

from calc.speed.normal import beyond_ratio

MOST_BUSY = 0.99  # beyond, a queue has no mean worth printing


def prompt_spread_ratio(prompt_variation_ratio):
    """Deviation of the logarithm of the prompts' lengths. [ratio]"""
    return np.sqrt(np.log1p(np.maximum(prompt_variation_ratio, 1e-3) ** 2))


def longest_prompt_ratio(max_position, generated_tokens, prompt_tokens):
    """The longest prompt that the model's context takes, over the mean. [ratio]"""
    return np.maximum((max_position - generated_tokens) / prompt_tokens, 1)


def _power_mean(power, spread, longest):
    """Mean of a power k of log-normal lengths of mean 1, none above M. [ratio]

    e^(k (k − 1) σ² / 2) Φ(m − k σ) + M^k (1 − Φ(m)), m = ln M / σ + σ / 2.
    """
    most = np.log(longest) / spread + spread / 2
    return np.exp(power * (power - 1) * spread**2 / 2) * beyond_ratio(
        power * spread - most
    ) + longest**power * beyond_ratio(most)


def prompt_squares_ratio(prompt_spread_ratio, longest_prompt_ratio):
    """Mean square of the prompts' lengths over the square of their mean. [ratio]"""
    return _power_mean(2, prompt_spread_ratio, longest_prompt_ratio)


def arrivals_per_second(
    batch,
    running_sequences,
    tokens_total,
    generated_tokens,
    time_to_first_token_seconds,
    time_per_output_token_seconds,
):
    """Requests that keep `batch` in flight, by Little's law; NaN of work that ends. [requests/s]

    NaN also where the cache or the engine's limit does not hold them all: requests that come at
    random then never find room in time.
    """
    keeps_up = (generated_tokens > 0) & ~(tokens_total > 0) & (running_sequences >= batch)
    g = np.where(keeps_up, generated_tokens, np.nan)
    return batch / (time_to_first_token_seconds + (g - 1) * time_per_output_token_seconds)


def prompt_attention_ratio(
    batch, attention_flops, attention_flops_per_second, prefill_split, prompt_seconds
):
    """Share of a prompt's prefill that grows with the square of its length. [share]"""
    return np.minimum(
        attention_flops / (attention_flops_per_second * prefill_split * batch * prompt_seconds), 1
    )


def felt_prompt_seconds(
    arrivals_per_second,
    prompt_seconds,
    shared_prompt_seconds,
    expert_gpus,
    tensor_parallel,
):
    """Time in which the steps of a copy of attention have prompts, for each of its own. [s]

    Copies that share experts take every step together. If each has prompts in a share u of the
    time, some of n copies has one in 1 − (1 − u)^n of it; they do the experts' part together. Of a
    single copy its own prompt. By definition.
    """
    copies = expert_gpus / tensor_parallel
    busy_ratio = np.clip(arrivals_per_second * prompt_seconds, 1e-9, MOST_BUSY)
    some_ratio = 1 - (1 - busy_ratio) ** copies
    own_seconds = prompt_seconds - shared_prompt_seconds
    apart = own_seconds * some_ratio / busy_ratio + shared_prompt_seconds
    return np.where(copies > 1, apart, prompt_seconds)


def prompt_work_seconds(
    felt_prompt_seconds, prompt_attention_ratio, prompt_squares_ratio, first_token_run_ratio
):
    """Prefill of one prompt alone, on average over the lengths of prompts. [s]"""
    return (
        felt_prompt_seconds
        * (1 + prompt_attention_ratio * (prompt_squares_ratio - 1))
        * first_token_run_ratio
    )


def prompt_steps(
    arrivals_per_second,
    prompt_work_seconds,
    prompt_squares_ratio,
    decode_token_seconds,
    prompt_tokens,
    engine_batched_tokens,
):
    """Steps with prompts per prompt: its chunks, less what it shares with others. [steps]

    A step runs the prompts that arrived during the step before. Its time beyond the decode step is
    taken as gamma distributed with scale θ and shape k, so that no prompt arrives during a step
    with probability e^(−λ·decode) (1 + λθ)^(−k). If prompts fill steps, a prompt that finds a
    backlog joins the last of its steps.
    """
    busy_ratio = np.minimum(arrivals_per_second * prompt_work_seconds, MOST_BUSY)
    step_seconds = decode_token_seconds / (1 - busy_ratio)
    # Without an engine no prompt is cut into chunks.
    budget_tokens = np.where(engine_batched_tokens > 0, engine_batched_tokens, np.inf)
    chunks = prompt_tokens / budget_tokens
    squares = arrivals_per_second * prompt_work_seconds**2 * prompt_squares_ratio
    # The variance of a step's prompts over the mean step.
    dispersion_seconds = np.minimum(squares / (1 - busy_ratio**2), prompt_work_seconds / chunks)
    gamma_shape = busy_ratio * busy_ratio * step_seconds / dispersion_seconds
    without_arrival_ratio = np.exp(-arrivals_per_second * decode_token_seconds) * (
        1 + arrivals_per_second * dispersion_seconds / busy_ratio
    ) ** (-gamma_shape)
    first_steps_per_prompt = (1 - without_arrival_ratio) / (arrivals_per_second * step_seconds)
    joins_last_step_ratio = (np.minimum(chunks, 1) * busy_ratio) ** 2
    steps_alone = np.maximum(chunks + 0.5, 1)
    return chunks + (steps_alone - chunks) * first_steps_per_prompt * (1 - joins_last_step_ratio)


def mean_prompt_seconds(prompt_work_seconds, ridden_seconds, prompt_steps):
    """Mean time that one prompt adds to the steps. [s]

    The weights are read once for a step and the prompts in it.
    """
    return prompt_work_seconds - np.minimum(ridden_seconds * prompt_steps, prompt_work_seconds / 2)


def prompt_fixed_ratio(batch, dequantize_seconds, pass_experts_seconds, prompt_seconds):
    """Share of a prompt's prefill that no length changes. [share]

    Weights are widened and experts read once for a pass.
    """
    return np.minimum((dequantize_seconds + pass_experts_seconds) / (batch * prompt_seconds), 1)


def growing_prompt_ratio(prompt_fixed_ratio, prompt_work_seconds, mean_prompt_seconds):
    """Part of a prompt's time that grows with its length, over all of its time. [ratio]"""
    return (1 - prompt_fixed_ratio) * prompt_work_seconds / mean_prompt_seconds


def _prefill_mean(power, attention, spread, longest):
    """Mean of a power k of prefill, (1 − a) q + a q² of the length: a binomial sum. [ratio]"""
    terms = ((comb(power, j), j, _power_mean(power + j, spread, longest)) for j in range(power + 1))
    return sum(
        ways * (1 - attention) ** (power - j) * attention**j * mean for ways, j, mean in terms
    )


def prefill_squares_ratio(
    growing_prompt_ratio, prompt_attention_ratio, prompt_spread_ratio, longest_prompt_ratio
):
    """Mean square of what prompts add over the square of its mean. [ratio]"""
    mean, square = (
        _prefill_mean(k, prompt_attention_ratio, prompt_spread_ratio, longest_prompt_ratio)
        for k in (1, 2)
    )
    return 1 + growing_prompt_ratio**2 * (square / mean**2 - 1)


def prefill_power(prompt_attention_ratio, prompt_squares_ratio):
    """Power of the length with which prefill grows where an average token stands. [1]"""
    squared = prompt_attention_ratio * prompt_squares_ratio
    return 1 + squared / (1 - prompt_attention_ratio + squared)


def prefill_cubes_ratio(
    growing_prompt_ratio, prefill_power, prompt_spread_ratio, longest_prompt_ratio
):
    """Mean cube of what prompts add over the cube of its mean. [ratio]"""
    mean, square, cube = (
        _power_mean(k * prefill_power, prompt_spread_ratio, longest_prompt_ratio) for k in (1, 2, 3)
    )
    square, cube = square / mean**2, cube / mean**3
    return (
        1
        + 3 * growing_prompt_ratio**2 * (square - 1)
        + growing_prompt_ratio**3 * (cube - 3 * square + 2)
    )


def more_sequences_ratio(batch):
    """Additional sequences at a busy moment over the mean: three Poisson deviations. [ratio]"""
    return 3 / np.sqrt(batch)


def more_experts_bytes(
    more_sequences_ratio, stack_expert_bytes, busiest_rank_ratio, touched_experts_ratio
):
    """Experts that those sequences read besides: each further one touches fewer new experts. [B]"""
    rest = 1 - touched_experts_ratio
    return np.sum(
        stack_expert_bytes * busiest_rank_ratio * (rest - rest ** (1 + more_sequences_ratio)),
        axis=0,
    )


def more_streamed_bytes(
    more_sequences_ratio,
    more_experts_bytes,
    read_weights_bytes,
    read_cache_bytes,
    decode_products_seconds,
    streamed_bytes_per_second,
):
    """Bytes that a decode step streams for its own sequences, by the chord to the most. [B]

    Products stand in its place where they are slower.
    """
    most = read_weights_bytes + more_experts_bytes
    products = decode_products_seconds * streamed_bytes_per_second
    grown = np.maximum(most, products * (1 + more_sequences_ratio)) - np.maximum(
        read_weights_bytes, products
    )
    return read_cache_bytes + grown / more_sequences_ratio


def decode_growing_ratio(
    batch,
    engine_seconds_per_sequence,
    engine_replays_steps,
    replayed_sequences_seconds,
    more_streamed_bytes,
    streamed_bytes_per_second,
    decode_step_seconds,
):
    """Share of a decode step that grows with the sequences in it. [share]"""
    sequences = (
        batch * engine_seconds_per_sequence + engine_replays_steps * replayed_sequences_seconds
    )
    return np.minimum(
        (sequences + more_streamed_bytes / streamed_bytes_per_second) / decode_step_seconds, 1
    )


def sequence_step_seconds(batch, decode_token_seconds, decode_growing_ratio):
    """Time that one sequence adds to a decode step. [s]"""
    return decode_token_seconds * decode_growing_ratio / batch


def bare_step_seconds(decode_token_seconds, decode_growing_ratio):
    """Time of a decode step that does not depend on the number of sequences. [s]"""
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


def cache_slots(whole_sequences, state_slots, sequence_tokens, held_tokens, engine_sequences):
    """Concurrent sequences: what the cache of a replica holds, and its limit. [sequences]"""
    held = whole_sequences * np.minimum(sequence_tokens / held_tokens, 2)
    return np.fmin(np.fmin(held, state_slots), engine_sequences)


def arrivals_load_ratio(
    arrivals_per_second,
    generated_tokens,
    bare_step_seconds,
    cache_slots,
    prefill_busy_ratio,
    decode_busy_ratio,
):
    """The rate of arrivals over the most that a replica answers with all slots in use. [ratio]

    With K sequences in flight a request takes g (d + K d') + K s; the replica answers K in that
    time.
    """
    steps = arrivals_per_second * generated_tokens * bare_step_seconds / np.maximum(cache_slots, 1)
    return prefill_busy_ratio + decode_busy_ratio + steps


def free_ratio(prefill_busy_ratio, decode_busy_ratio, arrivals_load_ratio):
    """Share of the time that no sequence adds; NaN where the queue never ends. [share]"""
    return np.where(
        arrivals_load_ratio < 1,
        np.maximum(1 - prefill_busy_ratio - decode_busy_ratio, 1 - MOST_BUSY),
        np.nan,
    )


def others_ratio(batch, free_ratio):
    """Share of arrivals that find others in flight: 1 − (1 − ρ)^(1 + n (1 − ρ) / ρ). [share]

    The sequences in flight are negative binomial: each is served alone for a part of its time,
    shared for the rest. Source: a symmetric queue, Kelly 1979, Reversibility and Stochastic
    Networks, section 3.3.
    """
    return 1 - free_ratio ** (1 + batch * free_ratio / (1 - free_ratio))


def mixed_step_seconds(decode_token_seconds, prefill_busy_ratio):
    """A decode step with the prompts that run in it, on average. [s]"""
    return decode_token_seconds / (1 - prefill_busy_ratio)


def met_step_seconds(
    arrivals_per_second,
    mean_prompt_seconds,
    prefill_squares_ratio,
    prefill_busy_ratio,
    mixed_step_seconds,
):
    """The step that an arrival meets, longer than the mean one as long steps meet more. [s]

    A step runs the prompts that came during the one before: E[X²] / E[X] = x + λ E[s²] / (1 − ρ²).
    """
    squares = arrivals_per_second * mean_prompt_seconds**2 * prefill_squares_ratio
    return mixed_step_seconds + squares / (1 - prefill_busy_ratio**2)


def ahead_steps(engine_ahead_steps, engine_replays_steps):
    """Steps before an arrival: half of the running one, and those scheduled ahead. [steps]"""
    return np.where(engine_replays_steps > 0, engine_ahead_steps, 0.5)


def chunk_steps_seconds(
    bare_step_seconds,
    sequence_step_seconds,
    free_ratio,
    prefill_busy_ratio,
    prompt_tokens,
    engine_batched_tokens,
):
    """Decode steps beside the chunks of one prompt, with what piles up behind prompts. [s]"""
    step = (bare_step_seconds + sequence_step_seconds) * (1 - prefill_busy_ratio) / free_ratio
    return step * prompt_tokens / engine_batched_tokens


def prompts_queue_seconds(
    arrivals_per_second, mean_prompt_seconds, prefill_squares_ratio, chunk_steps_seconds
):
    """Mean wait for the prompts before: λ E[s²] / 2 (1 − ρ), their chunks' steps counted. [s]

    Source: the Pollaczek-Khinchine formula, Kleinrock 1975, Queueing Systems 1, chapter 5.
    """
    square = mean_prompt_seconds * (
        mean_prompt_seconds * prefill_squares_ratio + 2 * chunk_steps_seconds
    )
    busy = np.minimum(arrivals_per_second * (mean_prompt_seconds + chunk_steps_seconds), MOST_BUSY)
    return arrivals_per_second * square / (2 * (1 - busy))


def full_step_seconds(mean_prompt_seconds, prompt_tokens, engine_batched_tokens):
    """Prefill of a step whose budget is full of prompts. [s]"""
    return mean_prompt_seconds * engine_batched_tokens / prompt_tokens


def behind_seconds(
    prefill_busy_ratio, prompts_queue_seconds, others_ratio, mixed_step_seconds, full_step_seconds
):
    """Prompts that came later and end in the same step. [s]"""
    later = prompts_queue_seconds / (1 + prefill_busy_ratio) + others_ratio * mixed_step_seconds / 2
    return prefill_busy_ratio * full_step_seconds / 2 * -np.expm1(-2 * later / full_step_seconds)
