"""A serving engine's share of a card, and the cache that it leaves. Bytes on one GPU.

vLLM takes a share of the card, SGLang of what is free before it loads a model, TensorRT-LLM of what
is free afterwards. Source: vLLM, vllm/v1/worker/gpu_worker.py (determine_available_memory); SGLang,
model_executor/model_runner_kv_cache_mixin.py (profile_max_num_token); TensorRT-LLM,
_torch/pyexecutor/_util.py (_cal_max_memory); which does what: catalogs/edited/serving_engines.yaml.
"""

import numpy as np


def least_pool_bytes(
    memory_utilization,
    gpu_memory_bytes,
    context_bytes,
    graphs_bytes,
    counts_graphs,
    weights_bytes,
    start_up_bytes,
    serving_leaves_context,
    serving_leaves_model,
    serving_profile_beside,
):
    """The least cache of an engine: its share of the card less all that the share must hold. [B]

    Negative if the share is too small. Each engine subtracts the context and the model before it
    takes its share, or afterwards from the share.
    """
    model_bytes = weights_bytes + start_up_bytes * (1 - serving_profile_beside)
    before_bytes = serving_leaves_context * context_bytes + serving_leaves_model * model_bytes
    after_bytes = (
        (1 - serving_leaves_context) * context_bytes
        + (1 - serving_leaves_model) * model_bytes
        + counts_graphs * graphs_bytes
    )
    return memory_utilization * (gpu_memory_bytes - before_bytes) - after_bytes


def engine_limit_bytes(
    least_pool_bytes,
    weights_bytes,
    start_up_bytes,
    gpu_memory_bytes,
    context_bytes,
    graphs_bytes,
    serving_profile_beside,
):
    """Largest allocated peak of an engine: its cache, the weights and its start-up profile. [B]

    If the profile and the CUDA graphs need more than the rest of the card, they take it from the
    cache: the share would have to be smaller.
    """
    peak_bytes = least_pool_bytes + weights_bytes + start_up_bytes
    card_bytes = gpu_memory_bytes - context_bytes - graphs_bytes
    return np.where(serving_profile_beside > 0, np.minimum(peak_bytes, card_bytes), peak_bytes)


def kv_pool_bytes(least_pool_bytes, is_engine):
    """The cache that an engine reserves on each GPU; NaN for other software. [B]"""
    return np.where(is_engine > 0, np.maximum(least_pool_bytes, 0), np.nan)
