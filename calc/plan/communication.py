"""Bytes that one GPU sends in an optimizer step, by kind of parallelism.

The same collectives that the time of a step counts (calc/speed/collectives.py), as bytes instead of
seconds.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.one_scenario import one_scenario
from calc.evaluate import Row, evaluate

ACTIVATION_BYTES = 2  # sent between tensor and pipeline parallel GPUs in 16 bits


def data_parallel_bytes(
    parameters,
    weight_bytes_each,
    sent_gradient_bytes_each,
    shards_weights,
    shards_gradients,
    shards_optimizer,
    members,
    replica_gpus,
    accumulation_steps,
):
    """Bytes of gradients all-reduced, or scattered with divided weights gathered. [B]

    A ring sends (g - 1) / g of what it passes on; an all-reduce is two of them (Rajbhandari et al.
    2019, arXiv 1910.02054, 7).
    """
    share = (1 - 1 / members) / replica_gpus * parameters
    weights, gradients = share * weight_bytes_each, share * sent_gradient_bytes_each
    by_micro_batch = 2 * shards_weights * weights + shards_gradients * gradients
    once = (1 - shards_gradients) * gradients * (2 - shards_optimizer) + (
        1 - shards_weights
    ) * shards_optimizer * weights
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


def communication_volumes(scenarios: Iterable[Row], catalogs: Catalogs) -> pd.DataFrame:
    """A row per training scenario: bytes sent by data, tensor and pipeline parallel, and in all."""
    formulas = (data_parallel_bytes, tensor_parallel_bytes, pipeline_parallel_bytes)
    rows = [_numbers(one_scenario(scenario, catalogs)) for scenario in scenarios]
    sent = pd.DataFrame(
        [[evaluate(formula, row) for formula in formulas] for row in rows],
        columns=[f.__name__ for f in formulas],
    )
    return sent.assign(sent_bytes=sent.sum(axis=1))


def _numbers(table):
    """The numbers of one scenario that the formulas read."""
    row = {
        name: float(np.ravel(values)[0])
        for name, values in table.items()
        if isinstance(values, np.ndarray) and values.ndim < 2
    }
    gradient_bytes_each = row[
        "reduce_bytes_each" if row["shards_gradients"] else "gradient_bytes_each"
    ]
    # The activations of a micro-batch, in bytes.
    token_bytes = (
        ACTIVATION_BYTES * np.asarray(table["stack_tokens"]) * np.asarray(table["stack_hidden"])
    )
    return row | {
        "weight_bytes_each": row["gathered_bytes_each"],
        "sent_gradient_bytes_each": gradient_bytes_each
        * min(row["trained_parameters"] / row["parameters"], 1.0),
        "members": row["data_parallel"] * row["context_parallel"],
        "replica_gpus": row["tensor_parallel"] * row["pipeline_parallel"],
        "block_output_bytes": float(np.sum(table["stack_layers"] * token_bytes))
        / row["pipeline_parallel"],
        "boundary_bytes": float(np.max(token_bytes)),
    }
