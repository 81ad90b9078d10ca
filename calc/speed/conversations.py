"""Conversations of several turns: how much of each prompt the prefix cache still has.

After a turn its tokens stay in the cache until others need the room. They are reused if the next
turn comes before that. How long they stay follows from the size of the cache and the rate of turns.

Source: Che, Tung and Wang 2002, IEEE JSAC 20(7), 1305-1314, for least-recently-used caches;
validation/queues/sessions.py compares it with a simulation of the cache's blocks.
"""

import numpy as np

from calc.speed.cache_stays import hit_ratio_at

HIT_RATIOS = np.linspace(0, 1, 6)  # at which the rate of turns is estimated, linear between
HALVINGS = 30  # of the share of turns that find their conversation


def turn_tokens(turns, prompt_tokens, sequence_tokens, cached_prompt_tokens):
    """Tokens that each turn adds to a conversation: a question and an answer. [tokens]

    The prompt of the row is that of a mean turn, which has (turns − 1) / 2 turns before it. By
    definition.
    """
    answer = np.maximum(sequence_tokens - prompt_tokens, 0)
    return (prompt_tokens - cached_prompt_tokens + answer) / ((turns + 1) / 2)


def reusable_prompt_tokens(turns, turn_tokens):
    """Tokens of a mean prompt that earlier turns of its conversation computed. [tokens]

    By definition.
    """
    return turn_tokens * (turns - 1) / 2


def in_flight_tokens(batch, prompt_tokens, sequence_tokens, cached_prompt_tokens):
    """Tokens of the cache that requests in flight take on each replica, on average. [tokens]

    Half of the answer is there on average; a shared beginning is cached once. By definition.
    """
    answer = np.maximum(sequence_tokens - prompt_tokens, 0)
    return batch * (prompt_tokens - cached_prompt_tokens + answer / 2) + cached_prompt_tokens


def unused_pool_tokens(distinct_pool_tokens, in_flight_tokens):
    """Tokens of the cache that conversations may keep between two turns. [tokens]

    By definition.
    """
    return np.maximum(distinct_pool_tokens - in_flight_tokens, 0)


def conversation_hit_ratio(
    turns,
    think_seconds,
    think_variation_ratio,
    turn_tokens,
    unused_pool_tokens,
    turns_per_second_at_hits,
):
    """Turns after the first that find their conversation in the cache; 0 without. [share]

    More hits make turns faster, and more turns fill the cache faster: the ratio is the fixed point.
    `turns_per_second_at_hits`: of a replica at each of HIT_RATIOS, shape (ratios, rows). Source:
    Che, Tung and Wang 2002, IEEE JSAC 20(7), 1305-1314.
    """
    rates = np.asarray(turns_per_second_at_hits, dtype=float)
    several = np.asarray(turns) > 1
    if not np.any(several):
        return np.zeros(1)
    given = (turns, think_seconds, think_variation_ratio, turn_tokens, unused_pool_tokens)
    columns = np.broadcast_arrays(rates[0], *(np.asarray(column, float) for column in given))[1:]
    count, think, variation, added, unused = columns
    low, high = np.zeros(count.shape), np.ones(count.shape)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        found = hit_ratio_at(
            count, variation, unused / (think * added * _between(rates, middle) / count)
        )
        low, high = np.where(found > middle, middle, low), np.where(found > middle, high, middle)
    return np.where(count > 1, low, 0.0)


def _between(rates: np.ndarray, hit_ratio: np.ndarray) -> np.ndarray:
    """The rate of turns at a hit ratio, linear between those of HIT_RATIOS. [turns/s]"""
    place = hit_ratio * (len(HIT_RATIOS) - 1)
    below = np.minimum(place.astype(int), len(HIT_RATIOS) - 2)
    rates = np.broadcast_to(rates, (len(HIT_RATIOS), len(hit_ratio)))
    first, second = (np.take_along_axis(rates, below[None] + step, axis=0)[0] for step in (0, 1))
    return first + (place - below) * (second - first)


def prefix_prompt_tokens(
    trains,
    cached_prompt_tokens,
    reused_prompt_tokens,
    conversation_hit_ratio,
    reusable_prompt_tokens,
    prompt_tokens,
    implementation_pages_tokens,
):
    """Prompt tokens that are not computed: shared ones and those of earlier turns. [tokens]

    In whole pages.
    Source: vLLM, vllm/v1/core/kv_cache_manager.py, get_computed_blocks.
    """
    page = np.maximum(implementation_pages_tokens, 1)
    of_turns = np.nan_to_num(reused_prompt_tokens) + conversation_hit_ratio * reusable_prompt_tokens
    found = np.minimum(cached_prompt_tokens + of_turns, prompt_tokens - 1)
    return np.where(
        (trains == 0) & (implementation_pages_tokens > 0), np.floor(found / page) * page, 0.0
    )
