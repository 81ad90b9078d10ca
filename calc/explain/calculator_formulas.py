"""The formulas of the four published systems that Headroom grew from, each as its own text states it.

Components are bytes and sum to the system's total; `_printed_gb` is the figure in the unit that the system calls GB.
Which choices of a scenario each system knows is in `calc/explain/calculators.py`.
"""

from collections.abc import Callable

import numpy as np

from calc.units import GIB

GB = 10**9


# A. "GPU Sizing for ML Workloads", a tutorial with a Python calculator.


def origin_a_weights_bytes(parameters, origin_a_bytes_each):
    """Weights: P e. [B]"""
    return parameters * origin_a_bytes_each


def origin_a_gradients_bytes(parameters, trains):
    """Gradients: 2 P, whatever the precision. [B]"""
    return 2 * parameters * trains


def origin_a_optimizer_bytes(parameters, origin_a_state_bytes_each, trains):
    """Optimizer state: Adam and AdamW 8 P, SGD with momentum 4 P, SGD 0. [B]"""
    return np.where(trains, origin_a_state_bytes_each, 0) * parameters


def origin_a_activations_bytes(batch, sequence_tokens, hidden, layers, origin_a_bytes_each, origin_a_recomputes, trains):
    """Activations: layers (b s^2 e + 2 b s h e + 4 b s h e) + b s h e. [B]

    With checkpointing floor(sqrt(layers)) + 1 layers count; inference takes a tenth of that. Scores are of one head.
    """
    stream = batch * sequence_tokens * hidden * origin_a_bytes_each
    layer = batch * sequence_tokens**2 * origin_a_bytes_each + 2 * stream + 4 * stream
    checkpointed = layer * (np.floor(np.sqrt(layers)) + 1) + stream
    trained = np.where(origin_a_recomputes, checkpointed, layer * layers + stream)
    return np.where(trains, trained, checkpointed / 10)


def origin_a_overhead_bytes(origin_a_weights_bytes, origin_a_gradients_bytes, origin_a_optimizer_bytes, origin_a_activations_bytes):
    """A fifth on everything. [B]"""
    return 0.2 * (origin_a_weights_bytes + origin_a_gradients_bytes + origin_a_optimizer_bytes + origin_a_activations_bytes)


def origin_a_printed_gb(origin_a_weights_bytes, origin_a_gradients_bytes, origin_a_optimizer_bytes, origin_a_activations_bytes):
    """Its total, which adds activations in GiB to all else in 10^9 bytes, times 1.2. [its GB]"""
    states = origin_a_weights_bytes + origin_a_gradients_bytes + origin_a_optimizer_bytes
    return 1.2 * (states / GB + origin_a_activations_bytes / GIB)


# B. "GPU Memory Benchmarks: Will This Model Fit?", an article with two interactive tools.


def origin_b_weights_bytes(parameters, origin_b_bytes_each, origin_b_shards, gpus):
    """Parameters: N e, divided by the GPUs under ZeRO-3 or FSDP. [B]"""
    return parameters * origin_b_bytes_each / np.where(origin_b_shards, gpus, 1)


def origin_b_gradients_bytes(origin_b_weights_bytes, trains):
    """Gradients: N e. [B]"""
    return origin_b_weights_bytes * trains


def origin_b_optimizer_bytes(parameters, origin_b_state_bytes_each, origin_b_shards, gpus, trains):
    """Optimizer: Adam 12 N (fp32 master, m, v), SGD 4 N. [B]"""
    return np.where(trains, origin_b_state_bytes_each, 0) * parameters / np.where(origin_b_shards, gpus, 1)


def origin_b_activations_bytes(batch, sequence_tokens, hidden, layers, origin_b_bytes_each, trains):
    """Activations of training: 12 h s L e b. [B]"""
    return 12 * hidden * sequence_tokens * layers * origin_b_bytes_each * batch * trains


def origin_b_kv_cache_bytes(batch, sequence_tokens, hidden, layers, origin_b_bytes_each, trains):
    """KV cache in inference: 2 L (h / 128) 128 e b s: every model has heads of 128 and none is shared. [B]"""
    return 2 * layers * (hidden / 128) * 128 * origin_b_bytes_each * batch * sequence_tokens * (1 - trains)


def origin_b_printed_gb(origin_b_bytes):
    """Its total in GB of 10^9 bytes. [GB]"""
    return origin_b_bytes / GB


# C. "Training Memory Calculator", a live web tool.


def origin_c_weights_bytes(parameters, origin_c_bytes_each, origin_c_stage, gpus):
    """Parameters: N e, divided by the GPUs at ZeRO-3. [B]"""
    return parameters * origin_c_bytes_each / np.where(origin_c_stage >= 3, gpus, 1)


def origin_c_gradients_bytes(parameters, origin_c_bytes_each, origin_c_stage, gpus, trains):
    """Gradients: N e, divided at ZeRO-2 and 3. [B]"""
    return parameters * origin_c_bytes_each / np.where(origin_c_stage >= 2, gpus, 1) * trains


def origin_c_optimizer_bytes(parameters, origin_c_state_bytes_each, origin_c_stage, gpus, trains):
    """Optimizer: Adam 12 N, 8-bit Adam 6 N, SGD with momentum 8 N, divided at ZeRO-1, 2 and 3. [B]"""
    return np.where(trains, origin_c_state_bytes_each, 0) * parameters / np.where(origin_c_stage >= 1, gpus, 1)


def origin_c_activations_bytes(batch, sequence_tokens, hidden, heads, layers, origin_c_hidden_multiple, origin_c_scores_multiple, trains):
    """Activations: L s b h (34 + 5 a s / h); selective without the second term; full 2 L s b h. [B]

    Korthikanti et al. 2022, equation 2 and sections 5 and 6.
    """
    per_element = origin_c_hidden_multiple + origin_c_scores_multiple * heads * sequence_tokens / hidden
    return np.where(trains, layers * sequence_tokens * batch * hidden * per_element, 0)


def origin_c_kv_cache_bytes(batch, sequence_tokens, layers, kv_heads, head_dim, origin_c_bytes_each, trains):
    """KV cache in inference with grouped heads: 2 L n d s b e. [B]"""
    return 2 * layers * kv_heads * head_dim * sequence_tokens * batch * origin_c_bytes_each * (1 - trains)


def origin_c_overhead_bytes(
    origin_c_weights_bytes, origin_c_gradients_bytes, origin_c_optimizer_bytes, origin_c_activations_bytes, origin_c_kv_cache_bytes
):
    """A tenth on everything. [B]"""
    states = origin_c_weights_bytes + origin_c_gradients_bytes + origin_c_optimizer_bytes
    return 0.1 * (states + origin_c_activations_bytes + origin_c_kv_cache_bytes)


def origin_c_printed_gb(origin_c_bytes):
    """Its total in GB of 10^9 bytes. [GB]"""
    return origin_c_bytes / GB


# D. "Do you have enough GPU memory to handle large models?", an article.


def origin_d_weights_bytes(parameters, trained_parameters, origin_d_bytes_each, origin_d_adds_adapters, trains):
    """Parameters: N e, and the adapters' own beside them under LoRA. [B]"""
    adapters = np.where(trains, origin_d_adds_adapters, 0) * trained_parameters
    return (parameters + adapters) * origin_d_bytes_each


def origin_d_gradients_bytes(trained_parameters, origin_d_bytes_each, trains):
    """Gradients: e for each trained parameter. [B]"""
    return trained_parameters * origin_d_bytes_each * trains


def origin_d_optimizer_bytes(trained_parameters, origin_d_state_bytes_each, trains):
    """AdamW: 8 for each trained parameter. [B]"""
    return np.where(trains, origin_d_state_bytes_each, 0) * trained_parameters


def origin_d_activations_bytes(parameters):
    """Activations: 10 to 30 GB whatever the model; here the middle, 20. [B]"""
    return np.full_like(parameters, 20 * GB)


def origin_d_kv_cache_bytes(batch, sequence_tokens, hidden, layers, origin_d_bytes_each, trains):
    """KV cache in inference: 2 L h s b e, no grouped heads. [B]"""
    return 2 * layers * hidden * sequence_tokens * batch * origin_d_bytes_each * (1 - trains)


def origin_d_overhead_bytes(parameters):
    """Overhead: 1 to 2 GB; here the middle. [B]"""
    return np.full_like(parameters, 1.5 * GB)


def origin_d_low_bytes(origin_d_bytes):
    """The low end of its range: activations 10 below and overhead half a GB below the middle. [B]"""
    return origin_d_bytes - 10.5 * GB


def origin_d_high_bytes(origin_d_bytes):
    """The high end of its range. [B]"""
    return origin_d_bytes + 10.5 * GB


def origin_d_printed_gb(origin_d_bytes):
    """Its total in GB of 10^9 bytes. [GB]"""
    return origin_d_bytes / GB


# In the order of their text; origins.py runs the components, sums them, then the totals.
COMPONENTS: dict[str, tuple[Callable, ...]] = {
    "a": (origin_a_weights_bytes, origin_a_gradients_bytes, origin_a_optimizer_bytes, origin_a_activations_bytes, origin_a_overhead_bytes),
    "b": (origin_b_weights_bytes, origin_b_gradients_bytes, origin_b_optimizer_bytes, origin_b_activations_bytes, origin_b_kv_cache_bytes),
    "c": (
        origin_c_weights_bytes,
        origin_c_gradients_bytes,
        origin_c_optimizer_bytes,
        origin_c_activations_bytes,
        origin_c_kv_cache_bytes,
        origin_c_overhead_bytes,
    ),
    "d": (
        origin_d_weights_bytes,
        origin_d_gradients_bytes,
        origin_d_optimizer_bytes,
        origin_d_activations_bytes,
        origin_d_kv_cache_bytes,
        origin_d_overhead_bytes,
    ),
}
TOTALS: dict[str, tuple[Callable, ...]] = {
    "a": (origin_a_printed_gb,),
    "b": (origin_b_printed_gb,),
    "c": (origin_c_printed_gb,),
    "d": (origin_d_low_bytes, origin_d_high_bytes, origin_d_printed_gb),
}
