"""The components of the allocated peak: each one's bytes at the moment of the peak.

`peak_moment` is the number of the largest moment, and `moment_NAME` holds the component's bytes at
every moment (calc/memory/moments.py), so that the components sum to the peak. By definition.
"""

import numpy as np


def weights_bytes(peak_moment, moment_weights_bytes):
    """Parameters as stored on the GPU, at the moment of the peak. [B]"""
    return np.choose(peak_moment, moment_weights_bytes)


def gradients_bytes(peak_moment, moment_gradients_bytes):
    """Gradients at the moment of the peak. [B]"""
    return np.choose(peak_moment, moment_gradients_bytes)


def optimizer_bytes(peak_moment, moment_optimizer_bytes):
    """Moments and fp32 master copy of the optimizer, at the moment of the peak. [B]"""
    return np.choose(peak_moment, moment_optimizer_bytes)


def activations_bytes(peak_moment, moment_activations_bytes):
    """Activations saved for the backward pass or in use, at the moment of the peak. [B]"""
    return np.choose(peak_moment, moment_activations_bytes)


def logits_bytes(peak_moment, moment_logits_bytes):
    """Scores over the vocabulary, and the loss in training, at the moment of the peak. [B]"""
    return np.choose(peak_moment, moment_logits_bytes)


def kv_cache_bytes(peak_moment, moment_kv_cache_bytes):
    """Cached keys, values and layer states at the moment of the peak. [B]"""
    return np.choose(peak_moment, moment_kv_cache_bytes)


def working_bytes(peak_moment, moment_working_bytes):
    """Copies, gathered shards, temporaries and buffers at the moment of the peak. [B]"""
    return np.choose(peak_moment, moment_working_bytes)


def other_models_bytes(peak_moment, moment_other_models_bytes):
    """Reference, reward and value models with their states, at the moment of the peak. [B]"""
    return np.choose(peak_moment, moment_other_models_bytes)


def rollout_engine_bytes(peak_moment, moment_rollout_engine_bytes):
    """Weights, cache and buffers of an engine on the same card, at the moment of the peak. [B]"""
    return np.choose(peak_moment, moment_rollout_engine_bytes)
