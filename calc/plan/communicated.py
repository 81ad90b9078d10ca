"""Bytes that one GPU sends in an optimizer step, by kind of parallelism.

The same collectives that the time of a step counts (calc/speed/collectives.py), as bytes instead of seconds.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.one_scenario import one_scenario

ACTIVATION_BYTES = 2  # sent between tensor and pipeline parallel GPUs in 16 bits


def data_parallel_bytes(
    parameters, gathered_bytes_each, reduced_bytes_each, weight_gradient_ratio, shards, accumulation_steps, members, replica_gpus
):
    """Bytes of gradients all-reduced, or scattered with divided weights gathered. [B]

    A ring sends (g - 1) / g of what it passes on; an all-reduce is two of them (Rajbhandari et al. 2019, arXiv 1910.02054, 7).
    """
    shards_weights, shards_gradients, shards_optimizer = shards
    share = (1 - 1 / members) / replica_gpus * parameters
    weights, gradients = share * gathered_bytes_each, share * reduced_bytes_each * weight_gradient_ratio
    by_micro_batch = 2 * shards_weights * weights + shards_gradients * gradients
    once = (1 - shards_gradients) * gradients * (2 - shards_optimizer) + (1 - shards_weights) * shards_optimizer * weights
    return accumulation_steps * by_micro_batch + once


def tensor_parallel_bytes(block_output_bytes, tensor_parallel, accumulation_steps):
    """Bytes of two all-reduces of a block's output forward and two backward. [B]

    Source: Shoeybi et al. 2019, arXiv 1909.08053, section 3.
    """
    return accumulation_steps * 4 * 2 * (1 - 1 / tensor_parallel) * block_output_bytes


def pipeline_parallel_bytes(boundary_bytes, pipeline_parallel, accumulation_steps):
    """Bytes of a stage's output to the next and of its gradient back. [B]

    Source: Narayanan et al. 2021, arXiv 2104.04473, section 3.2.
    """
    return accumulation_steps * 2 * boundary_bytes * (pipeline_parallel > 1)


def communicated(scenarios: Iterable[dict[str, Any]], catalogs: Catalogs) -> pd.DataFrame:
    """A row per training scenario: bytes sent by data, tensor and pipeline parallel, and in all."""
    rows = [_sent(one_scenario(scenario, catalogs)) for scenario in scenarios]
    return pd.DataFrame(rows, columns=["data_parallel_bytes", "tensor_parallel_bytes", "pipeline_parallel_bytes", "sent_bytes"])


def _sent(table):
    tensor, pipeline, steps = (_first(table, name) for name in ("tensor_parallel", "pipeline_parallel", "accumulation_steps"))
    gradient_bytes_each = _first(table, "reduce_bytes_each" if _first(table, "shards_gradients") else "gradient_bytes_each")
    data = data_parallel_bytes(
        _first(table, "parameters"),
        _first(table, "gathered_bytes_each"),
        gradient_bytes_each,
        min(_first(table, "trained_parameters") / _first(table, "parameters"), 1.0),
        [_first(table, name) for name in ("shards_weights", "shards_gradients", "shards_optimizer")],
        steps,
        _first(table, "data_parallel") * _first(table, "context_parallel"),
        tensor * pipeline,
    )
    token_bytes = ACTIVATION_BYTES * np.asarray(table["stack_tokens"]) * np.asarray(table["stack_hidden"])  # of a micro-batch
    blocks = float(np.sum(table["stack_layers"] * token_bytes)) / pipeline
    between = tensor_parallel_bytes(blocks, tensor, steps)
    stages = pipeline_parallel_bytes(float(np.max(token_bytes)), pipeline, steps)
    return data, between, stages, data + between + stages


def _first(table, name):
    return float(np.ravel(table[name])[0])
