"""The components of the allocated peak: each one's bytes at the moment of the peak.

`peak_moment` is the number of the largest moment, and `moment_NAME` holds the component's bytes at
every moment (calc/memory/moments.py), so that the components sum to the peak. By definition.
"""

import numpy as np

from calc.evaluate import variant


def kv_cache_bytes(peak_moment, moment_kv_cache_bytes):
    """Cached keys, values and layer states at the moment of the peak. [B]"""
    return np.choose(peak_moment, moment_kv_cache_bytes)


weights_bytes = variant(
    kv_cache_bytes,
    rename={"kv_cache": "weights"},
    doc="Parameters as stored on the GPU, at the moment of the peak. [B]",
)
gradients_bytes = variant(
    kv_cache_bytes,
    rename={"kv_cache": "gradients"},
    doc="Gradients at the moment of the peak. [B]",
)
optimizer_bytes = variant(
    kv_cache_bytes,
    rename={"kv_cache": "optimizer"},
    doc="Moments and fp32 master copy of the optimizer, at the moment of the peak. [B]",
)
activations_bytes = variant(
    kv_cache_bytes,
    rename={"kv_cache": "activations"},
    doc="Activations saved for the backward pass or in use, at the moment of the peak. [B]",
)
logits_bytes = variant(
    kv_cache_bytes,
    rename={"kv_cache": "logits"},
    doc="Scores over the vocabulary, and the loss in training, at the moment of the peak. [B]",
)
working_bytes = variant(
    kv_cache_bytes,
    rename={"kv_cache": "working"},
    doc="Copies, gathered shards, temporaries and buffers at the moment of the peak. [B]",
)
other_models_bytes = variant(
    kv_cache_bytes,
    rename={"kv_cache": "other_models"},
    doc="Reference, reward and value models with their states, at the moment of the peak. [B]",
)
rollout_engine_bytes = variant(
    kv_cache_bytes,
    rename={"kv_cache": "rollout_engine"},
    doc="Weights, cache and buffers of an engine on the same card, at the moment of the peak. [B]",
)
