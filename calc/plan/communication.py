"""Bytes that one GPU sends in an optimizer step, by kind of parallelism.

The same collectives that the time of a step counts (calc/speed/collectives.py), as bytes instead of
seconds.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import parts
from calc.engine.stages import at_places
from calc.evaluate import Row, evaluate
from calc.table import Table

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
    (columns_of_part,) = parts(pd.DataFrame(list(scenarios)), catalogs)
    table = _with_message_sizes(at_places(columns_of_part.table)[0][0])  # the same at every place
    volumes = pd.DataFrame({formula.__name__: evaluate(formula, table) for formula in formulas})
    return volumes.assign(sent_bytes=volumes.sum(axis=1))


def _with_message_sizes(table: Table) -> Table:
    """Add the columns that only these formulas read: what is sent, and to how many GPUs."""
    # Hidden states of one micro-batch at the end of one layer, by stack.
    hidden_state_bytes = ACTIVATION_BYTES * table["stack_tokens"] * table["stack_hidden"]
    trained_ratio = np.minimum(table["trained_parameters"] / table["parameters"], 1.0)
    gradient_bytes_each = np.where(
        table["shards_gradients"], table["reduce_bytes_each"], table["gradient_bytes_each"]
    )
    output_bytes = (table["stack_layers"] * hidden_state_bytes).sum(axis=0)
    return table | {
        "weight_bytes_each": table["gathered_bytes_each"],
        "sent_gradient_bytes_each": gradient_bytes_each * trained_ratio,
        "members": table["data_parallel"] * table["context_parallel"],
        "replica_gpus": table["tensor_parallel"] * table["pipeline_parallel"],
        "block_output_bytes": output_bytes / table["pipeline_parallel"],
        "boundary_bytes": hidden_state_bytes.max(axis=0),
    }
