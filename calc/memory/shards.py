"""GPUs over which weights, gradients and optimizer state are divided.

Source: Rajbhandari et al. 2019, arXiv 1910.02054, section 5; Zhao et al. 2023, arXiv 2304.11277.
"""

import numpy as np

from calc.evaluate import variant


def trains_all(trains, adapts):
    """1 if all weights are trained; 0 if adapters are. [0 or 1]"""
    return trains * (1 - adapts)


def weight_shards(shard_gpus, shards_weights, fsdp_active, trains):
    """GPUs that divide the stored weights: ZeRO 3, and FSDP in ZeRO 2 as well. [GPUs]"""
    return np.where(np.maximum(shards_weights * trains, fsdp_active) > 0, shard_gpus, 1)


def gradient_shards(shard_gpus, shards_gradients, trains):
    """GPUs that divide the kept gradients: ZeRO 2 and 3. [GPUs]"""
    return np.where(shards_gradients * trains > 0, shard_gpus, 1)


optimizer_shards = variant(
    gradient_shards,
    rename={"gradients": "optimizer", "gradient": "optimizer"},
    doc="GPUs that divide optimizer state and master weights: ZeRO 1 to 3. [GPUs]",
)
