"""Steps of the join: the numbers of a row's model and of its stacks of blocks."""

import numpy as np

from calc.evaluate import formulas_of
from calc.scenarios import model_values, published_weights
from calc.scenarios.lookups import columns_of, find, numbers_in, numbers_of, word_rows, words_of
from calc.scenarios.stack_numbers import (
    adapter_widths,
    block_rows,
    kind_numbers,
    stack_numbers,
    stack_rows,
)
from calc.table import Words, where

# Numbers of a model joined as model_<name>.
SET_BY_SCENARIO = frozenset(formula.__name__ for formula in formulas_of(model_values))
LONGEST = "longest_sequence_tokens"


def trains(work):
    """1 if a scenario trains, 0 if it serves. [0 or 1]"""
    return work.are("training").astype(float)


def scales_hourly(scales):
    """1 if a service runs only the machines that the load of the hour needs. [0 or 1]"""
    return scales.are("hourly").astype(float)


def adapts(trains, tuning):
    """1 if adapters are trained and the weights are frozen. [0 or 1]"""
    return trains * tuning.are("lora")


def model_row(model, catalogs, problems):
    """The row of the model in the catalog, and whether it is missing there."""
    row = find(catalogs, "models", model, problems, "model")
    return {"model_row": np.maximum(row, 0), "unknown_model": row < 0}


def precision(asked_precision, names_precision, trains, model_row, catalogs):
    """The named precision; by default that of the model's file in serving, or the usual one."""
    stored_precision = words_of(catalogs, "models", "stored_precision")
    as_stored = (stored_precision != "")[model_row] & (trains == 0) & ~names_precision
    if as_stored.any():
        return where(as_stored, Words(model_row, stored_precision), asked_precision)
    return asked_precision


def scale_elements(model_row, precision, catalogs):
    """The elements that share a scale in a published file, 0 without a bound; its padded width."""
    elements, padded_elements = published_weights.scales_by_format(catalogs)
    row = word_rows(catalogs, "precisions", precision)
    return {
        "scale_elements": (row >= 0) * elements[model_row, row],
        "padded_ffn_width": (row >= 0) * padded_elements[model_row, row],
    }


def refused_models(model_row, catalogs, problems):
    """Refuse a model that the catalog refuses; makes no column."""
    why_refused = words_of(catalogs, "models", "refused")
    problems.add((why_refused != "")[model_row], "refused-model", why=Words(model_row, why_refused))
    return {}


def model_numbers(model_row, catalogs):
    """The numbers of the model and its kind; as model_<name> if a scenario may change them."""
    numbers = columns_of(catalogs, "models", model_row, without=(LONGEST,))
    columns = {
        f"model_{name}" if name in SET_BY_SCENARIO else name: values
        for name, values in numbers.items()
    }
    columns["model_kind"] = Words(model_row, words_of(catalogs, "models", "kind"))
    columns["extended_by"] = Words(model_row, words_of(catalogs, "models", "extended_by"))
    kinds = {
        name: kind_numbers(catalogs, name)[model_row]
        for name in numbers_in(catalogs, "model_kinds")
    }
    return (
        columns | kinds | {"tower_kind": block_rows(catalogs, "models", "tower_block")[model_row]}
    )


def longest_sequence_tokens(model_row, catalogs):
    """Positions that the model has learned; unbounded if they are computed. [tokens]"""
    longest = numbers_of(catalogs, "models", LONGEST)[model_row]
    return np.where(np.isnan(longest), np.inf, longest)


def stacks(model_row, catalogs):
    """The numbers of the model's stacks of blocks. Shape (stacks, rows)."""
    stack = stack_rows(catalogs)
    counts = stack.stack_count[model_row]
    order = np.arange(max(int(counts.max(initial=0)), 1))[:, None]
    # Row of each stack in the catalog of stacks; -1 if a model has fewer.
    row = np.where(order < counts, stack.first_stack[model_row] + order, -1)
    names = [name for name in numbers_in(catalogs, "stacks") if not name.startswith("adapter_")]
    columns = {f"stack_{name}": stack_numbers(catalogs, name)[row] for name in names}
    columns |= {
        f"stack_adapter_{way}_width": adapter_widths(catalogs, way)[:, row] for way in ("in", "out")
    }
    return columns | {
        "stack_side": stack.side[row],
        "stack_family_kind": stack.block[row],
        "stack_kind_alone": stack.kind[row],
    }


def has_source(stack_side, stack_layers):
    """1 for an encoder-decoder. [0 or 1]"""
    return np.any((stack_side == 1) & (stack_layers > 0), axis=0).astype(float)
