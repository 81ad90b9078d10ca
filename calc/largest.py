"""The largest batch and the longest sequence that a card holds: exact for the formulas, distinct rows once.

Memory grows with both, so each row keeps a bracket (fits, does not fit). Every moment of a step or a request is nearly a
straight line, so a line through two probes of each says where the first of them meets the limit; two probes a turn close
the bracket there, and where they do not (squares, a chunked loss), thirds of it do.
"""

from typing import Any

import numpy as np

from calc.coded import distinct, gathered, take
from calc.cost.placement import host_memory_needed_bytes
from calc.evaluate import Table
from calc.scenarios.inputs import SAME_AS_SEQUENCE
from calc.stages import MEMORY_KEYS, MEMORY_READS, fuller_end

SOLVED = ("max_batch", "max_sequence_tokens")
LARGEST = {"batch": 1e6, "sequence_tokens": 1e8}
LIMITS = ("limit_bytes", "instance_gpus", "instance_memory_bytes", "usable_host_ratio", "scores_once", "longest_sequence_tokens")
TURNS_BY_LINE, MOST_TURNS = 9, 60


def largest_columns(table: Table) -> Table:
    """max_batch and max_sequence_tokens of every row with a card; NaN without one."""
    if np.all(np.isnan(table["limit_bytes"])):
        return dict.fromkeys(SOLVED, np.full(1, np.nan))
    context = table["context_parallel"]
    sequence = largest(table, "sequence_tokens", np.where(context > 1, 2 * context, 1.0))
    return {
        "max_batch": largest(table, "batch", np.ones(1)),
        "max_sequence_tokens": np.where(table["scores_once"] > 0, np.nan, sequence),  # an image fixes its length
    }


def largest(table: Table, name: str, unit: np.ndarray) -> np.ndarray:
    """The largest multiple of `unit` that `name` can take, all else equal; 0 where not even one unit fits."""
    rows = table["rows"]
    answer = np.full(rows, np.nan)
    able = ~np.isnan(np.broadcast_to(table["limit_bytes"] + table["allocated_peak_bytes"], rows))
    held = np.flatnonzero(able)
    if not len(held):
        return answer
    part = take(table | {"unit": unit}, held, {*MEMORY_READS, *MEMORY_KEYS, *LIMITS, "unit", "rows"})
    keys = {key: part[key] for key in (*MEMORY_KEYS, *LIMITS, "unit") if key != name}
    if name == "sequence_tokens":  # what follows the sequence counts as following it, not as its number
        keys |= {other: np.where(part[other] == part[name], np.nan, part[other]) for other in SAME_AS_SEQUENCE}
    first, copies = distinct(keys.values(), len(held))
    answer[held] = gathered(_solved(take(part, first), name), len(first), copies)
    return answer


def _solved(table: Table, name: str) -> np.ndarray:
    """The answer of each row of a table of distinct rows."""
    rows = table["rows"]
    unit = np.broadcast_to(table["unit"], rows)
    high = np.full(rows, LARGEST[name])
    if name == "sequence_tokens":
        high = np.minimum(high, table["longest_sequence_tokens"])
    low, high = np.zeros(rows), high // unit + 1  # `high` is never reached
    todo = np.arange(rows)
    lower = np.clip(np.floor(np.broadcast_to(table[name], rows) / unit), 1, high - 1)
    upper = np.minimum(2 * lower, high - 1)
    for turn in range(MOST_TURNS):
        probes = lower[todo], upper[todo]
        excess = [_excess(take(table, todo), name, probe * unit[todo]) for probe in probes]
        for probe, over in zip(probes, excess, strict=True):
            fits = np.max(over, axis=0) <= 0
            low[todo] = np.where(fits, np.maximum(low[todo], probe), low[todo])
            high[todo] = np.where(fits, high[todo], np.minimum(high[todo], probe))
        guess = _where_lines_meet(probes, excess) if turn < TURNS_BY_LINE else np.full(len(todo), np.nan)
        open_rows = high[todo] - low[todo] > 1
        todo, guess = todo[open_rows], guess[open_rows]
        if not len(todo):
            break
        lower[todo], upper[todo] = _next_probes(low[todo], high[todo], guess)
    return low * unit


def _where_lines_meet(probes: tuple[np.ndarray, np.ndarray], excess: list[np.ndarray]) -> np.ndarray:
    """The last whole number before the first of the lines through both probes meets zero; NaN where none rises."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (excess[1] - excess[0]) / (probes[1] - probes[0])
        meets = np.where(slope > 0, probes[1] - excess[1] / slope, np.inf)
    nearest = np.fmin.reduce(meets)
    return np.where(np.isinf(nearest), np.nan, np.floor(nearest))


def _next_probes(low: np.ndarray, high: np.ndarray, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two numbers inside each bracket: the guess and the next one, else at a third and two thirds of it."""
    third = np.maximum(np.floor((high - low) / 3), 1)
    lower = np.clip(np.where(np.isnan(guess), low + third, guess), low + 1, high - 1)
    upper = np.clip(np.where(np.isnan(guess), high - third, lower + 1), low + 1, high - 1)
    return lower, upper


def _excess(table: Table, name: str, values: np.ndarray) -> np.ndarray:
    """Bytes of each moment beyond what the card, and of offloading beyond what the CPU holds, with one column replaced;
    what follows the sequence follows it. Shape (moments + 1, rows)."""
    changed: dict[str, Any] = {name: values}
    if name == "sequence_tokens":
        for other in SAME_AS_SEQUENCE:
            changed[other] = np.where(table[other] == table[name], values, np.minimum(table[other], values))
    found = fuller_end({key: column for key, column in (table | changed).items() if key in MEMORY_READS or key == "rows"})
    host = host_memory_needed_bytes(found["offloaded_bytes"], table["gpus"], table["instance_gpus"])
    over_host = host - table["usable_host_ratio"] * table["instance_memory_bytes"]
    over = [total - table["limit_bytes"] for total in found["moment_bytes"]]
    return np.stack([np.broadcast_to(each, table["rows"]) for each in (*over, np.where(np.isnan(over_host), -np.inf, over_host))])
