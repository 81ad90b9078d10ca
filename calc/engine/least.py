"""A lower bound of memory for models of which only the total of parameters is known."""

import numpy as np

from calc.engine.stages import MEMORY, walk
from calc.evaluate import Columns, evaluate_all
from calc.memory import states
from calc.remarks import remark
from calc.scenarios.problems import Problems
from calc.table import Table

COLUMNS = ("weights_bytes", "gradients_bytes", "optimizer_bytes", "memory_low_bytes")


def least(table: Table, problems: Problems) -> Columns:
    """The bounds of every row that is refused for its model alone; `problem` names the bound."""
    is_counted = np.broadcast_to(table["total_parameters"] > 0, table["rows"])
    candidates = np.flatnonzero(is_counted & ~problems.sound)
    rows = [row for row in candidates if problems.remarks[row].code == "refused-model"]
    if not rows:
        return {}
    refused_rows = walk(table.take(np.array(rows)), MEMORY[:1])
    evaluate_all(FORMULAS, refused_rows)
    parts = [refused_rows[f"least_{name}"] for name in COLUMNS[:-1]]
    lower = {name: np.full(table["rows"], np.nan) for name in COLUMNS}
    for name, values in zip(COLUMNS, [*parts, sum(parts)], strict=True):
        lower[name][rows] = values
    is_trained = np.broadcast_to(
        refused_rows["trains"] * (1 - refused_rows["adapts"]) > 0, len(rows)
    )
    for row, trains in zip(rows, is_trained, strict=True):
        why = dict(problems.remarks[row].facts)["why"]
        least_bytes = lower["memory_low_bytes"][row]
        problems.remarks[row] = remark(
            "refused-model-bound", why=why, trains=bool(trains), least_bytes=least_bytes
        )
    return lower


def least_parameters(total_parameters, tensor_parallel, pipeline_parallel, expert_parallel):
    """The fewest parameters that a GPU can hold: all degrees divide them. [parameters]"""
    return total_parameters / (tensor_parallel * pipeline_parallel * expert_parallel)


def least_trained_parameters(least_parameters, trains, adapts, offloads_optimizer):
    """The fewest that the optimizer updates on a GPU; adapters count as none. [parameters]"""
    return trains * (1 - adapts) * (1 - offloads_optimizer) * least_parameters


def least_weights_bytes(least_parameters, matrix_bytes_each, weight_shards, offloads_weights):
    """The weights, all in the precision's format; embeddings and norms may be wider. [B]"""
    return least_parameters / weight_shards * matrix_bytes_each * (1 - offloads_weights)


def least_gradients_bytes(least_trained_parameters, gradient_width_bytes_each, gradient_shards):
    """The gradients at the optimizer's step. [B]"""
    return least_trained_parameters / gradient_shards * gradient_width_bytes_each


def least_optimizer_bytes(
    least_trained_parameters,
    matrix_states,
    outer_states,
    state_width_bytes_each,
    master_bytes_each,
    optimizer_shards,
):
    """The optimizer state, of matrices or the rest, whichever is less, and the master copy. [B]

    Rajbhandari et al. 2019, arXiv 1910.02054.
    """
    parameter_bytes = (
        np.minimum(matrix_states, outer_states) * state_width_bytes_each + master_bytes_each
    )
    return least_trained_parameters / optimizer_shards * parameter_bytes


FORMULAS = (
    states.gradient_width_bytes_each,
    states.state_width_bytes_each,
    least_parameters,
    least_trained_parameters,
    least_weights_bytes,
    least_gradients_bytes,
    least_optimizer_bytes,
)
