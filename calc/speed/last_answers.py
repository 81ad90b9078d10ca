"""The end of offline work: no request follows the last ones, whose answers differ in length.

Answers are log-normal around the length of the row; at equal lengths the last ones began one after
the other. Where the last request begins, all others in flight have a rest before them. Source:
Feller 1971, An Introduction to Probability Theory, volume 2, section XI.4 (renewals), unless a
formula names another.
"""

import numpy as np

from calc.speed.normal import beyond_ratio
from calc.table import distinct

LONGEST_OF = np.exp(-np.euler_gamma)  # expected beyond the longest of n: Gumbel 1958, section 5.2
HALVINGS = 30


def answers_at_the_end(tokens_total, generated_tokens, running_sequences, data_parallel):
    """Answers in flight when the last one begins; 0 for a service without end. [answers]

    By definition.
    """
    ends = (tokens_total > 0) & (generated_tokens > 0)
    asked = tokens_total / np.where(ends, generated_tokens, 1)
    return np.where(ends, np.minimum(running_sequences * data_parallel, asked), 0)


def _beyond(length, spread):
    """Share of answers in flight whose rest is longer than a length, in mean answers. [share]

    E[(L − x)⁺] of log-normal lengths of mean 1.
    """
    high = (spread / 2) - np.log(length) / spread
    return beyond_ratio(-high) - length * beyond_ratio(spread - high)


def longest_rest_ratio(answers_at_the_end, answer_variation_ratio, max_position, generated_tokens):
    """Tokens before the end of the longest of the last answers, over the mean answer. [ratio]

    The rest of an answer in flight is longer than x with the probability E[(L − x)⁺] / E[L]. None
    is longer than the context. Source: Feller 1971, volume 2, section XI.4 (renewals).
    """
    several = answers_at_the_end > 1
    columns = [
        np.broadcast_to(np.asarray(column, dtype=float), several.shape)[several]
        for column in (answers_at_the_end, max_position, generated_tokens, answer_variation_ratio)
    ]
    first, copies = distinct(columns, int(np.count_nonzero(several)))
    ratio = np.zeros(several.shape)
    ratio[several] = _longest_rest(*(column[first] for column in columns))[copies]
    return ratio


def _longest_rest(count, context, answer, variation):
    """The longest rest of the answers in flight, over the mean answer, by bisection. [ratio]"""
    spread = np.sqrt(np.log1p(np.maximum(variation, 0.05) ** 2))
    low, high = np.full(count.shape, 1e-3), np.maximum(context / answer, 1)
    for _ in range(HALVINGS):
        middle = np.sqrt(low * high)
        longer = _beyond(middle, spread) > LONGEST_OF / count
        low, high = np.where(longer, middle, low), np.where(longer, high, middle)
    return low


def last_read_bytes(dense_weights_bytes, stack_expert_bytes, stack_chosen_experts_ratio):
    """Weights that a decode step of one sequence reads. [B]

    By definition.
    """
    return dense_weights_bytes + np.sum(stack_expert_bytes * stack_chosen_experts_ratio, axis=0)


def last_decode_step_seconds(
    decode_fixed_seconds,
    replayed_sequences_seconds,
    engine_replays_steps,
    last_read_bytes,
    streamed_bytes_per_second,
    decode_host_seconds,
):
    """Time of a decode step that no sequence shortens: fixed times, and weights. [s]

    By definition.
    """
    fixed = decode_fixed_seconds - (engine_replays_steps > 0) * replayed_sequences_seconds
    return np.maximum(fixed + last_read_bytes / streamed_bytes_per_second, decode_host_seconds)


def answer_squares_ratio(answer_variation_ratio):
    """Mean square of the answers' lengths over the square of their mean: 1 + c². [ratio]"""
    return 1 + answer_variation_ratio**2


def last_answers_seconds(
    longest_rest_ratio,
    answer_squares_ratio,
    generated_tokens,
    last_decode_step_seconds,
    decode_gain_ratio,
    time_run_ratio,
):
    """Time that the last answers take beyond what their tokens take at the steady rate. [s]

    The engine's step lasts as long for few sequences, from where the mean answer in flight ends,
    which has half of (1 + c²) answers before it, to where the longest does. Held against bursts of
    1,000 requests: GPUStack's performance lab, 47277d79 (validation/data/fresh).
    """
    rest = np.maximum(longest_rest_ratio - answer_squares_ratio / 2, 0)
    return rest * generated_tokens * last_decode_step_seconds / decode_gain_ratio * time_run_ratio
