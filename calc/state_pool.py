"""A pool of recurrent states beside the pool of tokens, as SGLang keeps one.

Source: SGLang, mem_cache/kv_cache_configurator.py, _calculate_mamba_ratio.
"""

import numpy as np


def states_that_fit(
    cache_bytes: np.ndarray,
    states_bytes: np.ndarray,
    batch: np.ndarray,
    state_pool_ratio: np.ndarray,
    serving_states_each: np.ndarray,
) -> np.ndarray:
    """Return the requests whose states fit in a pool of their own; no limit without one.

    `cache_bytes`: of both pools; `states_bytes`: of all sequences of the batch. Each request takes
    several states: its own, and those that its prefix cache and the next step need.
    """
    is_apart = (state_pool_ratio > 0) & (states_bytes > 0)
    pool_bytes = cache_bytes * state_pool_ratio / (1 + state_pool_ratio)
    request_bytes = states_bytes / np.maximum(batch, 1) * serving_states_each
    return np.where(is_apart, pool_bytes / np.where(is_apart, request_bytes, 1), np.inf)
