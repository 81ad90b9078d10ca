"""Exchange once per optimizer step, and how much of it computation hides."""

import numpy as np

from calc.speed.hiding import exposed_seconds


def step_reduce_seconds(reduce_seconds, shards_gradients, shards_optimizer):
    """Gradients reduced once per optimizer step. [s]

    An all-reduce is a reduce-scatter and an all-gather.
    Source: Rajbhandari et al. 2019, arXiv 1910.02054, section 7.1.
    """
    return (1 - shards_gradients) * reduce_seconds * (2 - shards_optimizer)


def step_gather_seconds(gather_seconds, shards_weights, shards_optimizer):
    """Weights whose update is divided gathered, once per optimizer step. [s]

    Source: Rajbhandari et al. 2019, arXiv 1910.02054, section 7.1.
    """
    return (1 - shards_weights) * shards_optimizer * gather_seconds


def synchronization_seconds(
    step_reduce_seconds,
    step_gather_seconds,
    reduce_seconds,
    shards_gradients,
    training_compute_seconds,
    backward_passes,
    engine_gathers_ahead,
    overlap_ratio,
):
    """Exchange of a step that remains after the last backward pass has hidden a part. [s]

    Software that gathers weights ahead hides that behind the next forward pass. Nothing hides while
    gradients that are divided are reduced: they have the network.
    Source: Li et al. 2020, arXiv 2006.15704; Megatron-LM, distributed_data_parallel.py,
    overlap_param_gather.
    """
    forward_seconds = training_compute_seconds / (1 + backward_passes)
    backward_seconds = forward_seconds * backward_passes
    ahead = engine_gathers_ahead * step_gather_seconds
    behind = step_reduce_seconds + step_gather_seconds - ahead
    free_seconds = np.maximum(backward_seconds - shards_gradients * reduce_seconds, 0)
    return exposed_seconds(behind, free_seconds, overlap_ratio) + exposed_seconds(
        ahead, forward_seconds, overlap_ratio
    )
