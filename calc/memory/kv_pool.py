"""Requests and tokens that the cache of a serving engine holds.

Source: vLLM, vllm/v1/core/kv_cache_utils.py (get_kv_cache_config); SGLang,
model_executor/model_runner_kv_cache_mixin.py (set_num_tokens_hybrid_swa).
"""

import numpy as np


def request_cache_bytes(decode_cache_bytes, batch, partial_cache):
    """KV cache of one request of the full length; NaN if only a part of it is counted. [B]"""
    return np.where(partial_cache > 0, np.nan, decode_cache_bytes / np.maximum(batch, 1))


def max_concurrency(
    kv_pool_bytes, request_cache_bytes, pooled_bytes_per_token, sequence_tokens, partial_cache
):
    """Requests of the full length that the cache holds on each replica. [requests]"""
    pooled_bytes = pooled_bytes_per_token * (partial_cache == 0) * sequence_tokens
    request_bytes = np.where(pooled_bytes > 0, pooled_bytes, request_cache_bytes)
    return kv_pool_bytes / np.where(request_bytes > 0, request_bytes, np.nan)


def kv_pool_tokens(max_concurrency, sequence_tokens):
    """Tokens that the cache holds on each replica, as vLLM's log prints them. [tokens]"""
    return np.floor(max_concurrency * sequence_tokens)


def distinct_pool_tokens(kv_pool_tokens, batch, sequence_tokens, cached_prompt_tokens):
    """Tokens that the cache holds on each replica, a shared beginning counted once. [tokens]

    By definition.
    """
    return kv_pool_tokens * (1 - cached_prompt_tokens * (1 - 1 / batch) / sequence_tokens)
