"""Waiting, generating and total time of random arrivals: mean and variance of each.

Of the parts of calc/speed/arrivals.py. Held against a simulation of every step:
validation/arrivals.py. Source: Kleinrock 1975,
Queueing Systems 1, chapter 5, for a queue of random arrivals with one server, unless a formula
names another.
"""

import numpy as np

from calc.speed.arrivals import MOST_BUSY
from calc.speed.normal import beyond_ratio

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

    Its own prompt, those before it, those that end in the same step, and the decode steps before
    and beside them.
    """
    steps = (
        mixed_step_seconds * (ahead_steps + prefill_busy_ratio / 2)
        + decode_token_seconds
        + chunk_steps_seconds
    )
    return others_ratio * steps + mean_prompt_seconds + prompts_queue_seconds + behind_seconds


def met_step_variance(
    arrivals_per_second,
    mean_prompt_seconds,
    prefill_squares_ratio,
    prefill_busy_ratio,
    mixed_step_seconds,
    met_step_seconds,
):
    """Variance of the step that an arrival meets: E[X³] / E[X] − (E[X²] / E[X])². [s^2]

    With X' = d + the prompts that came during X, the third cumulant of X is x (λ E[s³] + 3 ρ λ
    E[s²] v) / (1 − ρ³), v that of the second over x.
    """
    v, p = met_step_seconds - mixed_step_seconds, prefill_busy_ratio
    square = arrivals_per_second * mean_prompt_seconds**2 * prefill_squares_ratio
    cube = square * mean_prompt_seconds * prefill_squares_ratio**2
    third = (cube + 3 * p * square * v) / (1 - p**3)
    return np.maximum(third + v * mixed_step_seconds - v * v, 0)


def gathered_variance(
    arrivals_per_second,
    mean_prompt_seconds,
    prefill_squares_ratio,
    prefill_busy_ratio,
    mixed_step_seconds,
    met_step_seconds,
    met_step_variance,
):
    """Variance of the wait where a step runs all prompts that came during the one before. [s^2]

    Of the rest of the met step and the prompts that came during it, (1/2 + ρ) X, and of the step
    between.
    """
    squares = mean_prompt_seconds**2 * prefill_squares_ratio
    of_step = (0.5 + prefill_busy_ratio) ** 2 * met_step_variance + (
        met_step_variance + met_step_seconds**2
    ) / 12
    between = (met_step_seconds - mixed_step_seconds) * mixed_step_seconds
    return of_step + arrivals_per_second * squares * met_step_seconds + between


def queued_variance(
    arrivals_per_second,
    mean_prompt_seconds,
    prefill_squares_ratio,
    prefill_cubes_ratio,
    chunk_steps_seconds,
):
    """Variance of the wait where prompts run in a queue: λ E[s³] / 3 (1 − ρ) + W². [s^2]

    Source: Takacs 1962, Introduction to the Theory of Queues, chapter 1: the second moment of the
    wait of M/G/1.
    """
    occupied_seconds = mean_prompt_seconds + chunk_steps_seconds
    busy = np.minimum(arrivals_per_second * occupied_seconds, MOST_BUSY)
    mean = arrivals_per_second * occupied_seconds**2 * prefill_squares_ratio / (2 * (1 - busy))
    return (
        arrivals_per_second * occupied_seconds**3 * prefill_cubes_ratio / (3 * (1 - busy)) + mean**2
    )


def filled_ratio(prompt_tokens, prompt_squares_ratio, engine_batched_tokens):
    """Square of the share of two steps that the prompt of an average token fills. [share]"""
    return np.minimum(prompt_tokens * prompt_squares_ratio / (2 * engine_batched_tokens), 1) ** 2


def first_token_variance(
    mean_prompt_seconds,
    prefill_squares_ratio,
    mixed_step_seconds,
    others_ratio,
    decode_token_seconds,
    gathered_variance,
    queued_variance,
    filled_ratio,
):
    """Variance of the time to first token, a free slot found. [s^2]

    Of its own prompt, of its wait, and of whether others are in flight at all. Prompts that fill
    steps run one after the other.
    """
    prompt_variance = mean_prompt_seconds**2 * (prefill_squares_ratio - 1)
    alone = others_ratio * (1 - others_ratio) * (mixed_step_seconds + decode_token_seconds) ** 2
    return (
        prompt_variance
        + alone
        + gathered_variance
        + filled_ratio * (queued_variance - gathered_variance)
    )


def backlog_seconds(prefill_busy_ratio, queued_prompt_seconds, behind_seconds):
    """Prompts that wait at the first token of a request: they came while it waited. [s]"""
    return np.maximum(prefill_busy_ratio * queued_prompt_seconds - behind_seconds, 0)


def backlog_tokens(backlog_seconds, prefill_busy_ratio, full_step_seconds):
    """Tokens after which half of the backlog has run; each step takes only so much. [tokens]"""
    return backlog_seconds / (
        (1 - prefill_busy_ratio) * np.maximum(prefill_busy_ratio, 1e-9) ** 2 * full_step_seconds
    )


def met_backlog_ratio(generated_tokens, backlog_tokens):
    """Share of its backlog that runs before a request ends. [share]"""
    return generated_tokens / (generated_tokens + backlog_tokens)


def steps_seconds(generated_tokens, bare_step_seconds, sequence_step_seconds, free_ratio):
    """Steps of an answer, stretched by what arrives in the meantime. [s]

    (g − 1) (d + d') / (1 − ρ): the first token is that of the prompt.
    """
    return (
        np.maximum(generated_tokens - 1, 0)
        * (bare_step_seconds + sequence_step_seconds)
        / free_ratio
    )


def answer_seconds(steps_seconds, backlog_seconds, met_backlog_ratio, free_ratio):
    """From the first token of a request to its last, on average. [s]"""
    return steps_seconds + backlog_seconds * met_backlog_ratio / free_ratio


def in_flight_variance(
    arrivals_per_second,
    answer_seconds,
    queued_prompt_seconds,
    first_token_variance,
    mean_prompt_seconds,
    prefill_squares_ratio,
    prefill_busy_ratio,
    free_ratio,
):
    """Variance of the sequences in flight, decoding or waiting with their prompt. [ratio]

    Each prompt brings a sequence and holds up those that end: λ T r / 2 (1 + E[(1 + λ s / (1 −
    ρ))²]), r = (1 − ρ) / (1 − ρ − ρ') the longer the time in which they pass. Source: the linear
    noise approximation, van Kampen 2007, Stochastic Processes in Physics and Chemistry, chapter X;
    waiting: the distributional law of Little, Keilson and Servi 1988, Operations Research Letters
    7(5), 223-227.
    """
    rate, free = arrivals_per_second, 1 - prefill_busy_ratio
    held_up = (
        2 * prefill_busy_ratio / free
        + (rate * mean_prompt_seconds / free) ** 2 * prefill_squares_ratio
    )
    decoding = rate * answer_seconds * free / free_ratio * (1 + held_up / 2)
    return decoding + rate * queued_prompt_seconds + rate**2 * first_token_variance


def slot_wait_ratio(
    arrivals_per_second, answer_seconds, queued_prompt_seconds, in_flight_variance, cache_slots
):
    """Share of arrivals that find no free slot: φ / (φ + z Φ). [share]

    z is the deviations at which a gamma distribution of the sequences in flight, skewed as theirs,
    fills all slots.

    Source: Halfin and Whitt 1981, Operations Research 29(3), 567-588; Wilson and Hilferty 1931,
    PNAS 17(12), 684-688.
    """
    mean = arrivals_per_second * (answer_seconds + queued_prompt_seconds)
    variation = in_flight_variance / mean**2 / 9
    z = np.maximum(
        (np.cbrt(cache_slots / mean) - 1 + variation) / np.sqrt(variation), LEAST_DEVIATIONS
    )
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    return density / (density + z * (1 - beyond_ratio(z)))


def slot_wait_seconds(arrivals_per_second, arrivals_load_ratio):
    """Wait of those that find no free slot: 1 over the answers a second to spare. [s]

    That of M/M/k: sequences share the steps, and processor sharing is insensitive to the spread of
    answers. Source: Kleinrock 1975, Queueing Systems 1, chapter 3; Kelly 1979, Reversibility and
    Stochastic Networks, section 3.3.
    """
    return arrivals_load_ratio / (arrivals_per_second * (1 - arrivals_load_ratio))


def sequences_spread_ratio(arrivals_per_second, answer_seconds, decode_busy_ratio, free_ratio):
    """Squared variation of a request's steps by the sequences beside it. [ratio]

    These are negative binomial, and change during the request itself.
    """
    return (
        decode_busy_ratio**2
        / free_ratio
        * (1 - free_ratio / 3)
        / (arrivals_per_second * answer_seconds)
    )


def prompts_spread_ratio(
    arrivals_per_second,
    mean_prompt_seconds,
    prefill_squares_ratio,
    answer_seconds,
    prefill_busy_ratio,
    decode_busy_ratio,
    free_ratio,
):
    """Squared variation of a request's time by the prompts in its steps. [ratio]

    That of a delay busy period: λ E[s²] T / (1 − ρ)². Sequences pile up behind prompts: steps are
    longer by x = ρ' / (1 − ρ) of what the prompts of the request itself take, and by those that
    piled up before, which pass in T (1 − ρ) / (1 − ρ − ρ'). Source: Kleinrock 1975, Queueing
    Systems 1, chapter 5; the linear noise approximation, van Kampen 2007, Stochastic Processes in
    Physics and Chemistry, chapter X.
    """
    squares = arrivals_per_second * mean_prompt_seconds**2 * prefill_squares_ratio
    piled = decode_busy_ratio / (1 - prefill_busy_ratio)
    gain = 1 + piled + piled * decode_busy_ratio / (2 * free_ratio)
    return squares / answer_seconds / (1 - prefill_busy_ratio) ** 2 * gain


def full_token_seconds(
    arrivals_per_second,
    answer_seconds,
    bare_step_seconds,
    sequence_step_seconds,
    prefill_busy_ratio,
):
    """From one token of a long answer to its next under random arrivals, on average. [s]"""
    step = bare_step_seconds + sequence_step_seconds * (1 + arrivals_per_second * answer_seconds)
    return step / (1 - prefill_busy_ratio)


def mean_token_seconds(
    full_token_seconds,
    backlog_seconds,
    backlog_tokens,
    prefill_busy_ratio,
    generated_tokens,
    answer_squares_ratio,
):
    """From one token of a request to its next, on average over requests. [s]

    Short answers share the backlog among few tokens: the mean of 1 / g is (1 + c²) / g.
    """
    tokens = generated_tokens / answer_squares_ratio + backlog_tokens
    return full_token_seconds + backlog_seconds / (1 - prefill_busy_ratio) / tokens


def backlog_variance(
    arrivals_per_second,
    queued_prompt_seconds,
    backlog_seconds,
    mean_prompt_seconds,
    prefill_squares_ratio,
    prefill_busy_ratio,
    first_token_variance,
):
    """Variance of the time of a request's backlog, with what comes while it runs. [s^2]

    Source: the delay busy period, Kleinrock 1975, Queueing Systems 1, chapter 5.
    """
    squares = arrivals_per_second * mean_prompt_seconds**2 * prefill_squares_ratio
    free = 1 - prefill_busy_ratio
    return (
        squares * (queued_prompt_seconds + backlog_seconds / free)
        + prefill_busy_ratio**2 * first_token_variance
    ) / free**2


def least_token_seconds(bare_step_seconds, sequence_step_seconds):
    """A decode step of one request alone. [s]"""
    return bare_step_seconds + sequence_step_seconds


def most_token_seconds(full_token_seconds, prefill_busy_ratio, full_step_seconds):
    """A step whose budget is full of prompts: no token takes longer. [s]"""
    return full_token_seconds * (1 - prefill_busy_ratio) + full_step_seconds


def token_variance(
    mean_token_seconds,
    least_token_seconds,
    most_token_seconds,
    full_token_seconds,
    sequences_spread_ratio,
    prompts_spread_ratio,
    answer_squares_ratio,
    backlog_variance,
    backlog_tokens,
    generated_tokens,
):
    """Variance of a request's time per token over requests. [s^2]

    The times lie between that of a plain step and that of a step whose budget is full, so that
    their variance is at most (mean − least)(most − mean). The variance without these bounds is
    reduced smoothly to stay below it. Source: Bhatia and Davis 2000, American Mathematical Monthly
    107(4), 353-357.
    """
    h = answer_squares_ratio
    steps_variance = full_token_seconds**2 * (sequences_spread_ratio + prompts_spread_ratio * h)
    unbounded_variance = (
        steps_variance + backlog_variance * h / (generated_tokens + backlog_tokens * h) ** 2
    )
    largest_variance = np.maximum(
        (mean_token_seconds - least_token_seconds) * (most_token_seconds - mean_token_seconds),
        1e-12,
    )
    return unbounded_variance * largest_variance / np.hypot(unbounded_variance, largest_variance)


def answer_spread_ratio(
    full_token_seconds,
    least_token_seconds,
    most_token_seconds,
    sequences_spread_ratio,
    prompts_spread_ratio,
):
    """Squared variation of the time of a mean answer, within the same bounds. [ratio]"""
    free = sequences_spread_ratio + prompts_spread_ratio
    most = (
        (full_token_seconds - least_token_seconds)
        * (most_token_seconds - full_token_seconds)
        / full_token_seconds**2
    )
    return free * most / np.hypot(free, most)


def mean_request_seconds(
    arrival_seconds, queued_prompt_seconds, answer_seconds, slot_wait_ratio, slot_wait_seconds
):
    """From a random arrival to its last token, on average. [s]"""
    return (
        arrival_seconds
        + queued_prompt_seconds
        + answer_seconds
        + slot_wait_ratio * slot_wait_seconds
    )


def request_variance(
    first_token_variance,
    backlog_variance,
    met_backlog_ratio,
    steps_seconds,
    answer_squares_ratio,
    answer_spread_ratio,
    slot_wait_ratio,
    slot_wait_seconds,
):
    """Variance of the time of a request; most of it comes from the lengths of answers. [s^2]

    The backlog is as long for a short answer as for a long one. It grows with the time to first
    token, so that their standard deviations add up.
    """
    steps_variance = steps_seconds**2 * (answer_squares_ratio * (1 + answer_spread_ratio) - 1)
    start_deviation_seconds = (
        np.sqrt(first_token_variance) + np.sqrt(backlog_variance) * met_backlog_ratio
    )
    slot_variance = slot_wait_ratio * (2 - slot_wait_ratio) * slot_wait_seconds**2
    return steps_variance + start_deviation_seconds**2 + slot_variance
