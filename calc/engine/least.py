"""A model of which the total of its parameters alone is known: the least that weights, gradients and optimizer state take. Bytes."""

import numpy as np

from calc.catalogs.load import Catalogs
from calc.engine.stages import MEMORY, walk
from calc.evaluate import Columns, evaluate
from calc.memory import states
from calc.scenarios.lookups import words_of
from calc.scenarios.problems import Problems
from calc.table import take
from calc.units import GIB

COLUMNS = ("weights_bytes", "gradients_bytes", "optimizer_bytes", "memory_low_bytes")


def least(table: Columns, problems: Problems, catalogs: Catalogs) -> Columns:
    """These columns of every row that is refused for its model alone; the least is said in the row's sentence too."""
    refused = words_of(catalogs, "models", "refused")[table["model_row"]]
    rows = np.flatnonzero(np.broadcast_to(table["total_parameters"] > 0, table["rows"]) & (problems.text == refused))
    if not len(rows):
        return {}
    own = walk(take(table, rows), MEMORY[:1])
    widths = {formula.__name__: evaluate(formula, own) for formula in (states.gradient_width_bytes_each, states.state_width_bytes_each)}
    parts = [evaluate(formula, own | widths) for formula in (least_weights_bytes, least_gradients_bytes, least_optimizer_bytes)]
    found = {name: np.full(table["rows"], np.nan) for name in COLUMNS}
    for name, values in zip(COLUMNS, [*parts, sum(parts)], strict=True):
        found[name][rows] = values
    whole = np.broadcast_to(own["trains"] * (1 - own["adapts"]) > 0, len(rows))
    for row, trained in zip(rows, whole, strict=True):
        what = "Weights, gradients and optimizer state" if trained else "Weights"
        problems.text[row] += f" {what} take at least {found['memory_low_bytes'][row] / GIB:,.1f} GiB on each GPU."
    return found


def least_share(tensor_parallel, pipeline_parallel, expert_parallel):
    """Of the model the least that a GPU can have: all degrees divide it. [share]"""
    return 1 / (tensor_parallel * pipeline_parallel * expert_parallel)


def least_weights_bytes(
    total_parameters, tensor_parallel, pipeline_parallel, expert_parallel, matrix_bytes_each, weight_shards, offloads_weights
):
    """All weights in the precision's own format, though embeddings and norms are wider in some. [B]"""
    share = least_share(tensor_parallel, pipeline_parallel, expert_parallel) / weight_shards
    return total_parameters * share * matrix_bytes_each * (1 - offloads_weights)


def least_gradients_bytes(
    total_parameters, tensor_parallel, pipeline_parallel, expert_parallel, gradient_width_bytes_each, gradient_shards,
    trains, adapts, offloads_optimizer,
):  # fmt: skip
    """All gradients at the optimizer's step; of adapters, whose number is not known, none. [B]"""
    share = least_share(tensor_parallel, pipeline_parallel, expert_parallel) / gradient_shards
    return trains * (1 - adapts) * (1 - offloads_optimizer) * total_parameters * share * gradient_width_bytes_each


def least_optimizer_bytes(
    total_parameters, tensor_parallel, pipeline_parallel, expert_parallel, matrix_states, outer_states, state_width_bytes_each,
    master_bytes_each, optimizer_shards, trains, adapts, offloads_optimizer,
):  # fmt: skip
    """Optimizer state and the fp32 master copy, of matrices or of all else, whichever is less (Rajbhandari et al. 2019, 1910.02054). [B]"""
    share = least_share(tensor_parallel, pipeline_parallel, expert_parallel) / optimizer_shards
    each = np.minimum(matrix_states, outer_states) * state_width_bytes_each + master_bytes_each
    return trains * (1 - adapts) * (1 - offloads_optimizer) * total_parameters * share * each
