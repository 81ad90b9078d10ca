"""The largest batch and the longest sequence that a card holds: exact for the formulas, all rows together.

Memory grows with both, so each row keeps a bracket (fits, does not fit) that interpolation closes; where it does not close
quickly (a sum of squares, a chunked loss) halving does.
"""

import numpy as np

from calc.cost.placement import HOST_RATIO, host_memory_needed_bytes

SOLVED = ("max_batch", "max_sequence_tokens")
LARGEST = {"batch": 1e6, "sequence_tokens": 1e8}


def solve_columns(table, catalogs):
    """max_batch and max_sequence_tokens of every row with a card; NaN without one."""
    context = table["context_parallel"]
    sequence = largest(table, catalogs, "sequence_tokens", np.where(context > 1, 2 * context, 1))
    images = np.isin(table["model_kind"].astype(str), ["vision", "dual"])  # the image fixes their length
    return {
        "max_batch": largest(table, catalogs, "batch", np.ones_like(table["batch"])),
        "max_sequence_tokens": np.where(images, np.nan, sequence),
    }


def largest(table, catalogs, name, unit):
    """The largest multiple of `unit` that `name` can take, all else equal; 0 where not even one unit fits."""
    from calc.pipeline import take

    answer = np.full(table["rows"], np.nan)
    rows = np.flatnonzero(~np.isnan(table["limit_bytes"]) & ~np.isnan(table["allocated_peak_bytes"]))
    if not len(rows):
        return answer
    part = take(table, rows)
    unit = unit[rows]
    low, high = np.zeros(len(rows)), np.full(len(rows), LARGEST[name])
    if name == "sequence_tokens":
        high = np.minimum(high, part["longest_sequence_tokens"])
    high = high // unit + 1  # never reached
    at_low, at_high = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    probe = np.clip(np.floor(part[name] / unit), 1, high - 1)
    todo = np.arange(len(rows))
    for turn in range(80):
        excess = excess_with(take(part, todo), catalogs, name, probe[todo] * unit[todo])
        fits = excess <= 0
        low[todo], at_low[todo] = np.where(fits, probe[todo], low[todo]), np.where(fits, excess, at_low[todo])
        high[todo], at_high[todo] = np.where(fits, high[todo], probe[todo]), np.where(fits, at_high[todo], excess)
        todo = todo[(high - low)[todo] > 1]
        if not len(todo):
            break
        probe[todo] = next_probe(low[todo], high[todo], at_low[todo], at_high[todo], turn)
    answer[rows] = low * unit
    return answer


def next_probe(low, high, at_low, at_high, turn):
    """Inside the bracket: where a line through both ends meets zero, one beyond it on every other turn; doubling and
    halving otherwise."""
    both = ~np.isnan(at_low) & ~np.isnan(at_high)
    slope = np.where(both, (at_high - at_low) / (high - low), np.nan)
    line = low + np.floor(-at_low / np.where(slope > 0, slope, np.nan)) + turn % 2
    middle = np.floor((low + high) / 2)
    grown = np.where(
        np.isnan(at_high),
        np.minimum(np.maximum(low * 4, 1), high - 1),
        np.where(np.isnan(at_low), np.floor(high / 4), middle),
    )
    guess = np.where(np.isnan(line) | (turn % 5 == 4), np.where(both, middle, grown), line)
    return np.clip(guess, low + 1, high - 1)


def excess_with(table, catalogs, name, values):
    """Bytes beyond what the card, or for offloading the CPU, holds with one column replaced; what follows the
    sequence follows it."""
    from calc.pipeline import memory_columns
    from calc.scenarios.read import SAME_AS_SEQUENCE

    table = dict(table)
    if name == "sequence_tokens":
        for other in SAME_AS_SEQUENCE:
            table[other] = np.where(table[other] == table[name], values, np.minimum(table[other], values))
    table[name] = values
    found = memory_columns(table, catalogs)
    host = host_memory_needed_bytes(found["offloaded_bytes"], table["gpus"], table["instance_gpus"])
    return np.fmax(
        found["allocated_peak_bytes"] - table["limit_bytes"], host - HOST_RATIO * table["instance_memory_bytes"]
    )
