"""The largest batch and the longest sequence that a card holds, exact for the formulas.

Memory grows with both, so each row has a bracket (fits, does not fit). The memory of each moment is
nearly a straight line; a line through two probes of each moment shows where the first of them meets
the limit. Two probes a turn close the bracket there; where they do not (squares, a chunked loss),
probes at its thirds do.
"""

import numpy as np

from calc.engine.stages import before_memory, fullest_place, memory_keys
from calc.evaluate import Columns, evaluate
from calc.rules.placement import (
    deepspeed_host_bytes,
    host_memory_bytes,
    host_memory_needed_bytes,
    node_gpus,
)
from calc.scenarios.inputs import SAME_AS_SEQUENCE
from calc.table import Table, repeat_rows

SOLVED = ("max_batch", "max_sequence_tokens")
LARGEST = {"batch": 1e6, "sequence_tokens": 1e8}
Probe = tuple[np.ndarray, np.ndarray]  # the values tried, in units, and the excess of each moment
LIMITS = (
    "limit_bytes",
    "instance_gpus",
    "instance_memory_bytes",
    "usable_host_ratio",
    "scores_once",
    "context_limit_tokens",
)
TURNS_BY_LINE, MOST_TURNS = 9, 60


def largest_columns(table: Table) -> Columns:
    """Return the columns max_batch and max_sequence_tokens; NaN without a card."""
    if np.all(np.isnan(table["limit_bytes"])):
        return dict.fromkeys(SOLVED, np.full(1, np.nan))
    context = table["context_parallel"]
    sequence = largest(table, "sequence_tokens", np.where(context > 1, 2 * context, 1.0))
    return {
        "max_batch": largest(table, "batch", np.ones(1)),
        "max_sequence_tokens": np.where(
            table["scores_once"] > 0, np.nan, sequence
        ),  # an image fixes its length
    }


def largest(table: Table, name: str, unit: np.ndarray) -> np.ndarray:
    """The largest multiple of `unit` that fits in the column `name`; 0 if not one unit fits."""
    rows = table["rows"]
    results = np.full(rows, np.nan)
    rows_with_limit = np.flatnonzero(
        ~np.isnan(np.broadcast_to(table["limit_bytes"] + table["allocated_peak_bytes"], rows))
    )
    if not len(rows_with_limit):
        return results
    part = (table | {"unit": unit}).take(rows_with_limit)
    keys = Table(
        {key: part[key] for key in {*memory_keys(part), *LIMITS, "unit"} - {name}},
        len(rows_with_limit),
    )
    # A length equal to the sequence's follows it, whatever its number.
    if name == "sequence_tokens":
        keys |= {
            other: np.where(part[other] == part[name], np.nan, part[other])
            for other in SAME_AS_SEQUENCE
        }
    first, copies = (
        keys.distinct(keys.keys() - {"rows"}, share=1) or (np.arange(len(rows_with_limit)),) * 2
    )
    results[rows_with_limit] = repeat_rows(
        _largest_of_rows(part.take(first), name), len(first), copies
    )
    return results


def _largest_of_rows(table: Table, name: str) -> np.ndarray:
    """The largest value for each of some distinct rows, whose memory is in the table."""
    rows = table["rows"]
    unit = np.broadcast_to(table["unit"], rows)
    high = np.full(rows, LARGEST[name])
    if name == "sequence_tokens":
        high = np.minimum(high, table["context_limit_tokens"])
    low, high = np.zeros(rows), high // unit + 1  # `high` is never reached
    present = np.broadcast_to(table[name], rows) / unit
    excess = _excess(table, table)
    fits = np.max(excess, axis=0) <= 0
    is_unit = (present == np.floor(present)) & (present < high)
    low = np.where(fits & is_unit, present, low)
    high = np.where(fits | ~is_unit, high, present)
    todo = np.flatnonzero(high - low > 1)
    if not len(todo):
        return low * unit
    probe = np.clip(np.where(fits, 2 * present, 1.0), low + 1, high - 1)[todo]
    first = present[todo], excess[:, todo]
    second = probe, _excess_with(table, name, todo, probe * unit[todo])
    for turn in range(MOST_TURNS):
        for values, over in (first, second):
            fits = np.max(over, axis=0) <= 0
            is_unit = (values == np.floor(values)) & (values < high[todo])
            low[todo] = np.where(fits & is_unit, np.maximum(low[todo], values), low[todo])
            high[todo] = np.where(fits | ~is_unit, high[todo], np.minimum(high[todo], values))
        guess = (
            _where_lines_meet(first, second) if turn < TURNS_BY_LINE else np.full(len(todo), np.nan)
        )
        still = high[todo] - low[todo] > 1
        todo, guess = todo[still], guess[still]
        if not len(todo):
            break
        lower, upper = _next_probes(low[todo], high[todo], guess)
        both = _excess_with(
            table, name, np.tile(todo, 2), np.concatenate([lower, upper]) * np.tile(unit[todo], 2)
        )
        first = (lower, both[:, : len(todo)])
        second = (upper, both[:, len(todo) :])
    return low * unit


def _where_lines_meet(first: Probe, second: Probe) -> np.ndarray:
    """The last integer before a line through both probes meets zero; NaN if none rises."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (second[1] - first[1]) / (second[0] - first[0])
        meets = np.where(slope > 0, second[0] - second[1] / slope, np.inf)
    nearest = np.fmin.reduce(meets)
    return np.where(np.isinf(nearest), np.nan, np.floor(nearest))


def _next_probes(
    low: np.ndarray, high: np.ndarray, guess: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Two probes inside each bracket: the guess and its successor, or the thirds."""
    third = np.maximum(np.floor((high - low) / 3), 1)
    lower = np.clip(np.where(np.isnan(guess), low + third, guess), low + 1, high - 1)
    upper = np.clip(np.where(np.isnan(guess), high - third, lower + 1), low + 1, high - 1)
    return lower, upper


def _excess_with(table: Table, name: str, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The excess of some rows with one column replaced; lengths equal to the sequence follow it."""
    part = table.take(rows)
    if name == "sequence_tokens":
        for other in SAME_AS_SEQUENCE:
            part[other] = np.where(
                part[other] == part[name], values, np.minimum(part[other], values)
            )
    part[name] = values
    return _excess(part, fullest_place(before_memory(part)))


def _excess(table: Columns, memory: Columns) -> np.ndarray:
    """The excess of each moment over the card, and of offloaded bytes over the host. [B]

    Shape (moments + 1, rows).
    """
    here = node_gpus(table["gpus"], table["instance_gpus"])
    deepspeed = evaluate(deepspeed_host_bytes, {**table, "node_gpus": here})
    host = host_memory_needed_bytes(
        host_memory_bytes(memory["offloaded_bytes"], here, deepspeed), table["instance_gpus"]
    )
    over_host = np.nan_to_num(
        host - table["usable_host_ratio"] * table["instance_memory_bytes"], nan=-np.inf
    )
    over = [
        total * memory["memory_run_ratio"] - table["limit_bytes"]
        for total in memory["moment_bytes"]
    ]
    return np.stack([np.broadcast_to(excess, table["rows"]) for excess in (*over, over_host)])
