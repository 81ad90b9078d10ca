"""Slots of a serving engine: sequences that its cache holds at once, while others wait."""

import numpy as np

from calc.state_pool import states_that_fit

# What the slots of a cache read of its memory.
POOL_READS = (
    "limit_bytes",
    "allocated_peak_bytes",
    "kv_cache_bytes",
    "states_bytes",
    "pooled_bytes_per_token",
)


def cache_pool_bytes(limit_bytes, allocated_peak_bytes, kv_cache_bytes):
    """Memory left on one GPU for the cache of all sequences; NaN without a card. [B]

    By definition.
    """
    return limit_bytes - (allocated_peak_bytes - kv_cache_bytes)


def whole_sequences(
    batch,
    cache_pool_bytes,
    kv_cache_bytes,
    states_bytes,
    state_pool_ratio,
    pooled_bytes_per_token,
    sequence_tokens,
):
    """Sequences of the full length whose tokens the pool holds. [sequences]

    Recurrent states may have a pool of their own, and so may layers of a sliding window. Source:
    SGLang, mem_cache/kv_cache_configurator.py and server_args.py, swa_full_tokens_ratio.
    """
    counted_bytes = kv_cache_bytes - (state_pool_ratio > 0) * states_bytes
    pooled_bytes = pooled_bytes_per_token * sequence_tokens * batch
    token_bytes = np.maximum(np.maximum(counted_bytes, pooled_bytes), 1)
    return batch * cache_pool_bytes / (1 + state_pool_ratio) / token_bytes


def state_slots(cache_pool_bytes, states_bytes, batch, state_pool_ratio, serving_states_each):
    """Sequences whose states fit in a pool of their own; no limit without one. [sequences]

    Source: calc/state_pool.py.
    """
    return states_that_fit(
        cache_pool_bytes, states_bytes, batch, state_pool_ratio, serving_states_each
    )


def slots(
    whole_sequences,
    state_slots,
    cache_pool_bytes,
    kv_cache_bytes,
    prompt_tokens,
    sequence_tokens,
    is_engine,
):
    """Sequences that fit in the cache at once: pool / mean tokens of a sequence. [sequences]

    A sequence holds its prompt and on average half of its answer. Without an engine, or if not even
    the weights fit, none wait. Source: Little 1961, Operations Research 9(3), 383-387; vLLM,
    v1/core/kv_cache_manager.py, allocate_slots: pages as they fill.
    """
    held_ratio = (np.minimum(prompt_tokens, sequence_tokens) / sequence_tokens + 1) / 2
    pages = (is_engine > 0) & (cache_pool_bytes > 0) & (kv_cache_bytes > 0)
    return np.where(pages, np.minimum(whole_sequences / held_ratio, state_slots), np.inf)


def running_sequences(batch, slots, engine_sequences, is_engine):
    """Sequences that one replica decodes at once; the others wait. [sequences]

    No more than the engine's own limit. Source: vLLM, v1/core/sched/scheduler.py, schedule:
    len(self.running) == self.max_num_running_reqs; its default by card, engine/arg_utils.py.
    """
    limit = np.where(is_engine > 0, engine_sequences, np.inf)
    return np.minimum(batch, np.maximum(np.minimum(slots, limit), 1))
