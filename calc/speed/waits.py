"""How long random arrivals wait, generate and stay: the mean and the variance of each time.

Of the parts of calc/speed/arrivals.py. Held against a simulation of every step: validation/arrivals.py.
"""

import numpy as np

LEAST_DEVIATIONS = 0.05  # of free slots: full replicas still have a wait


def queued_prompt_seconds(
    others_ratio,
    ahead_steps,
    decode_token_seconds,
    mixed_step_seconds,
    prefill_busy_ratio,
    chunk_steps_seconds,
    mean_prompt_seconds,
    prompts_queue_seconds,
    behind_seconds,
):
    """From a random arrival to its first token, on average, a free slot found. [s]

    Its own prompt, those before it, those that end in the same step, and the decode steps before and beside them.
    """
    steps = mixed_step_seconds * (ahead_steps + prefill_busy_ratio / 2) + decode_token_seconds + chunk_steps_seconds
    return others_ratio * steps + mean_prompt_seconds + prompts_queue_seconds + behind_seconds


def met_step_variance(
    arrivals_per_second, mean_prompt_seconds, prefill_squares_ratio, prefill_busy_ratio, mixed_step_seconds, met_step_seconds
):
    """Variance of the step that an arrival meets: E[X³] / E[X] − (E[X²] / E[X])². [s^2]

    With X' = d + the prompts that came during X, the third cumulant of X is x (λ E[s³] + 3 ρ λ E[s²] v) / (1 − ρ³), v that of the
    second over x.
    """
    v, p = met_step_seconds - mixed_step_seconds, prefill_busy_ratio
    square = arrivals_per_second * mean_prompt_seconds**2 * prefill_squares_ratio
    cube = square * mean_prompt_seconds * prefill_squares_ratio**2
    third = (cube + 3 * p * square * v) / (1 - p**3)
    return np.maximum(third + v * mixed_step_seconds - v * v, 0)


def first_token_variance(
    arrivals_per_second,
    mean_prompt_seconds,
    prefill_squares_ratio,
    prefill_busy_ratio,
    mixed_step_seconds,
    met_step_seconds,
    met_step_variance,
    others_ratio,
    decode_token_seconds,
):
    """Variance of the time to first token, a free slot found. [s^2]

    Of its own prompt; of the rest of the met step and the prompts that came during it, (1/2 + ρ) X; of the step between; and of
    whether others are in flight at all.
    """
    squares = mean_prompt_seconds**2 * prefill_squares_ratio
    of_step = (0.5 + prefill_busy_ratio) ** 2 * met_step_variance + (met_step_variance + met_step_seconds**2) / 12
    between = (met_step_seconds - mixed_step_seconds) * mixed_step_seconds
    alone = others_ratio * (1 - others_ratio) * (mixed_step_seconds + decode_token_seconds) ** 2
    return squares - mean_prompt_seconds**2 + of_step + arrivals_per_second * squares * met_step_seconds + between + alone


def backlog_seconds(prefill_busy_ratio, queued_prompt_seconds, behind_seconds):
    """Prompts that wait at the first token of a request: they came while it waited. [s]"""
    return np.maximum(prefill_busy_ratio * queued_prompt_seconds - behind_seconds, 0)


def backlog_tokens(backlog_seconds, prefill_busy_ratio, full_step_seconds):
    """Tokens after which half of the backlog has run: steps have a budget. [tokens]"""
    return backlog_seconds / ((1 - prefill_busy_ratio) * np.maximum(prefill_busy_ratio, 1e-9) ** 2 * full_step_seconds)


def answer_seconds(generated_tokens, bare_step_seconds, sequence_step_seconds, backlog_seconds, backlog_tokens, free_ratio):
    """From the first token of a request to its last, on average. [s]

    (g (d + d') + backlog) / (1 − ρ): the steps stretch by the prompts and the sequences that arrive in the meantime.
    """
    backlog = backlog_seconds * generated_tokens / (generated_tokens + backlog_tokens)
    return (generated_tokens * (bare_step_seconds + sequence_step_seconds) + backlog) / free_ratio


def in_flight_variance(
    arrivals_per_second, answer_seconds, queued_prompt_seconds, first_token_variance, prefill_busy_ratio, decode_busy_ratio
):
    """Variance of the sequences in flight, decoding or waiting with their prompt. [ratio]

    Source: the distributional law of Little, Keilson and Servi 1988, Operations Research Letters 7(5), 223-227.
    """
    decoding = arrivals_per_second * answer_seconds / (1 - np.minimum(decode_busy_ratio / (1 - prefill_busy_ratio), 0.95))
    return decoding + arrivals_per_second * queued_prompt_seconds + arrivals_per_second**2 * first_token_variance


def slot_wait_ratio(arrivals_per_second, answer_seconds, queued_prompt_seconds, in_flight_variance, cache_slots):
    """Share of arrivals that find no free slot: φ / (φ + z Φ). [share]

    z is the number of free slots in deviations of the sequences in flight.

    Source: Halfin and Whitt 1981, Operations Research 29(3), 567-588.
    """
    free = cache_slots - arrivals_per_second * (answer_seconds + queued_prompt_seconds)
    z = np.maximum(free / np.sqrt(in_flight_variance), LEAST_DEVIATIONS)
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    return density / (density + z / (1 + np.exp(-1.702 * z)))


def slot_wait_seconds(arrivals_per_second, arrivals_load_ratio, answer_squares_ratio):
    """Wait of those that find no free slot: (1 + c²) / 2 over the answers a second to spare. [s]

    Source: Allen 1990, Probability, Statistics and Queueing Theory, section 5.3: M/G/k after Allen and Cunneen.
    """
    spare = arrivals_per_second * (1 - arrivals_load_ratio) / arrivals_load_ratio
    return answer_squares_ratio / 2 / spare


def sequences_spread_ratio(arrivals_per_second, answer_seconds, decode_busy_ratio, free_ratio):
    """Squared variation of a request's steps by the sequences beside it. [ratio]

    These are negative binomial, and change during the request itself.
    """
    return decode_busy_ratio**2 / free_ratio * (1 - free_ratio / 3) / (arrivals_per_second * answer_seconds)


def prompts_spread_ratio(arrivals_per_second, mean_prompt_seconds, prefill_squares_ratio, answer_seconds, prefill_busy_ratio):
    """Squared variation of a request's time by the prompts in its steps. [ratio]

    That of a delay busy period: λ E[s²] T / (1 − ρ)². Source: Kleinrock 1975, Queueing Systems 1, section 5.8.
    """
    squares = arrivals_per_second * mean_prompt_seconds**2 * prefill_squares_ratio
    return squares / answer_seconds / (1 - prefill_busy_ratio) ** 2


def full_token_seconds(arrivals_per_second, answer_seconds, bare_step_seconds, sequence_step_seconds, prefill_busy_ratio):
    """From one token of a long answer to its next under random arrivals, on average. [s]"""
    step = bare_step_seconds + sequence_step_seconds * (1 + arrivals_per_second * answer_seconds)
    return step / (1 - prefill_busy_ratio)


def mean_token_seconds(full_token_seconds, backlog_seconds, backlog_tokens, prefill_busy_ratio, generated_tokens, answer_squares_ratio):
    """From one token of a request to its next, on average over requests. [s]

    Short answers share the backlog among few tokens: the mean of 1 / g is (1 + c²) / g.
    """
    tokens = generated_tokens / answer_squares_ratio + backlog_tokens
    return full_token_seconds + backlog_seconds / (1 - prefill_busy_ratio) / tokens


def backlog_variance(
    arrivals_per_second, queued_prompt_seconds, mean_prompt_seconds, prefill_squares_ratio, prefill_busy_ratio, first_token_variance
):
    """Variance of the time that the backlog of a request takes. [s^2]"""
    prompts = arrivals_per_second * queued_prompt_seconds * mean_prompt_seconds**2 * prefill_squares_ratio
    return (prompts + prefill_busy_ratio**2 * first_token_variance) / (1 - prefill_busy_ratio) ** 2


def token_variance(
    full_token_seconds,
    sequences_spread_ratio,
    prompts_spread_ratio,
    answer_squares_ratio,
    backlog_variance,
    backlog_tokens,
    generated_tokens,
):
    """Variance of a request's time per token over requests. [s^2]"""
    h = answer_squares_ratio
    steps = full_token_seconds**2 * (sequences_spread_ratio + prompts_spread_ratio * h)
    return steps + backlog_variance * h / (generated_tokens + backlog_tokens * h) ** 2


def mean_request_seconds(arrival_seconds, queued_prompt_seconds, answer_seconds, slot_wait_ratio, slot_wait_seconds):
    """From a random arrival to its last token, on average. [s]"""
    return arrival_seconds + queued_prompt_seconds + answer_seconds + slot_wait_ratio * slot_wait_seconds


def request_variance(
    first_token_variance,
    answer_seconds,
    answer_squares_ratio,
    sequences_spread_ratio,
    prompts_spread_ratio,
    slot_wait_ratio,
    slot_wait_seconds,
):
    """Variance of the time of a request; most of it that of the answers' lengths. [s^2]"""
    answer = answer_squares_ratio * (1 + sequences_spread_ratio + prompts_spread_ratio) - 1
    waits = slot_wait_ratio * (2 - slot_wait_ratio) * slot_wait_seconds**2
    return first_token_variance + answer_seconds**2 * answer + waits
