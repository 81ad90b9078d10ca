"""Slots of a serving engine: sequences that its cache holds at once, while others wait."""

import numpy as np


def cache_pool_bytes(limit_bytes, allocated_peak_bytes, kv_cache_bytes):
    """Memory left on one GPU for the cache of all sequences; NaN without a card. [B]

    By definition.
    """
    return limit_bytes - (allocated_peak_bytes - kv_cache_bytes)


def slots(batch, cache_pool_bytes, kv_cache_bytes, prompt_tokens, sequence_tokens, is_engine):
    """Sequences that fit in the cache at once: pool / mean tokens of a sequence. [sequences]

    A sequence holds its prompt and on average half of its answer. Without an engine, or if not even
    the weights fit, none wait. Source: Little 1961, Operations Research 9(3), 383-387; vLLM,
    v1/core/kv_cache_manager.py, allocate_slots: pages as they fill.
    """
    held_ratio = (np.minimum(prompt_tokens, sequence_tokens) / sequence_tokens + 1) / 2
    pages = (is_engine > 0) & (cache_pool_bytes > 0) & (kv_cache_bytes > 0)
    return np.where(
        pages, batch * cache_pool_bytes / np.where(pages, kv_cache_bytes, 1) / held_ratio, np.inf
    )


def running_sequences(batch, slots, engine_sequences, is_engine):
    """Sequences that one replica decodes at once; the others wait. [sequences]

    No more than the engine's own limit. Source: vLLM, v1/core/sched/scheduler.py, schedule:
    len(self.running) == self.max_num_running_reqs; its default by card, engine/arg_utils.py.
    """
    limit = np.where(is_engine > 0, engine_sequences, np.inf)
    return np.minimum(batch, np.maximum(np.minimum(slots, limit), 1))
