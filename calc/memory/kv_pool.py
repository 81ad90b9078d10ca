"""Requests and tokens that the cache of a serving engine holds.

Source: vLLM, vllm/v1/core/kv_cache_utils.py (get_kv_cache_config); SGLang,
model_executor/model_runner_kv_cache_mixin.py (set_num_tokens_hybrid_swa).
"""

import numpy as np

from calc.state_pool import states_that_fit


def request_cache_bytes(decode_cache_bytes, batch, partial_cache):
    """KV cache of one request of the full length; NaN if only a part of it is counted. [B]"""
    return np.where(partial_cache > 0, np.nan, decode_cache_bytes / np.maximum(batch, 1))


def state_requests(kv_pool_bytes, states_bytes, batch, state_pool_ratio, serving_states_each):
    """Requests whose states fit in a pool of their own; no limit without one. [requests]

    Source: calc/state_pool.py.
    """
    return states_that_fit(
        kv_pool_bytes, states_bytes, batch, state_pool_ratio, serving_states_each
    )


def token_requests(
    kv_pool_bytes,
    request_cache_bytes,
    states_bytes,
    batch,
    state_pool_ratio,
    pooled_bytes_per_token,
    sequence_tokens,
    partial_cache,
):
    """Requests of the full length whose tokens the cache holds on each replica. [requests]

    By definition; recurrent states may have a pool of their own.
    """
    pooled_bytes = pooled_bytes_per_token * (partial_cache == 0) * sequence_tokens
    apart_bytes = (state_pool_ratio > 0) * states_bytes / np.maximum(batch, 1)
    request_bytes = np.where(pooled_bytes > 0, pooled_bytes, request_cache_bytes - apart_bytes)
    pool_bytes = kv_pool_bytes / (1 + state_pool_ratio)
    return pool_bytes / np.where(request_bytes > 0, request_bytes, np.nan)


def max_concurrency(token_requests, state_requests):
    """Requests of the full length that the cache holds on each replica. [requests]

    By definition.
    """
    return np.minimum(token_requests, state_requests)


def kv_pool_tokens(token_requests, sequence_tokens):
    """Tokens that the cache holds on each replica, as vLLM's log prints them. [tokens]"""
    return np.floor(token_requests * sequence_tokens)


def distinct_pool_tokens(kv_pool_tokens, batch, sequence_tokens, cached_prompt_tokens):
    """Tokens that the cache holds on each replica, a shared beginning counted once. [tokens]

    By definition.
    """
    return kv_pool_tokens * (1 - cached_prompt_tokens * (1 - 1 / batch) / sequence_tokens)
