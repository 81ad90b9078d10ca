"""The moment of the peak: which moment is largest, and every component at it. Bytes on one GPU.

Moments are data (phases.py). A component that no moment names is alive all the time, under the column of its name; one
that moments name is alive at those alone, as the column that they give.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from calc.evaluate import Columns


class Moment(NamedTuple):
    """A moment of a phase: `parts` gives the column that holds each component that comes and goes."""

    phase: str
    says: str
    parts: dict[str, str]


def at_peak(moment_bytes: tuple, peak_moment: np.ndarray) -> np.ndarray:
    """Of one component's bytes at every moment those at the moment of the peak; moments that share a column are one."""
    at_moments: dict[int, list[int]] = {}
    for number, values in enumerate(moment_bytes):
        at_moments.setdefault(id(values), []).append(number)
    result = np.zeros(np.broadcast_shapes(peak_moment.shape, *(np.shape(values) for values in moment_bytes)))
    for numbers in at_moments.values():
        values = moment_bytes[numbers[0]]
        alive = peak_moment == numbers[0]
        for number in numbers[1:]:
            alive = alive | (peak_moment == number)
        result = np.where(alive, values, result)
    return result


def add_moments(table: Columns, moments: Iterable[Moment], components: Iterable[str]) -> Columns:
    """Add moment_<component>: a tuple with each moment's bytes, and moment_bytes, their totals; return the table.

    A column with more axes than rows holds one moment at several places: the largest of them is taken for each row.
    """
    moments = tuple(moments)
    named = [name for name in components if any(name in moment.parts for moment in moments)]
    always = sum(table[name] for name in components if name not in named and name in table)
    columns: dict[str, list[Any]] = {name: [] for name in components if name in named or name not in table}
    totals = []
    for moment in moments:
        parts = {name: table[column] for name, column in moment.parts.items()}
        total = sum(parts.values())
        if np.ndim(total) > 1:
            parts, total = _largest_place(parts, total)
        for name, values in columns.items():
            values.append(parts.get(name, ABSENT))
        totals.append(always + total)
    table |= {f"moment_{name}": tuple(values) for name, values in columns.items()}
    table["moment_bytes"] = tuple(totals)
    return table


ABSENT = np.zeros(1)


def _largest_place(parts: dict[str, Any], total: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """Components and total at each row's largest place; the leading axes are the places."""
    flat = total.reshape(-1, total.shape[-1])
    place = np.argmax(flat, axis=0)[None]
    chosen = {
        name: np.take_along_axis(np.broadcast_to(values, total.shape).reshape(flat.shape), place, axis=0)[0]
        for name, values in parts.items()
    }
    return chosen, np.take_along_axis(flat, place, axis=0)[0]


def peak_moment(moment_bytes):
    """The number of the largest moment, the first of equals."""
    largest, number = moment_bytes[0], np.zeros(1, dtype=np.int64)
    for place, total in enumerate(moment_bytes[1:], start=1):
        larger = total > largest
        largest, number = np.where(larger, total, largest), np.where(larger, place, number)
    return number


def allocated_peak_bytes(moment_bytes):
    """What torch.cuda.max_memory_allocated shows: the largest moment. [B]"""
    totals = np.broadcast_arrays(*moment_bytes)
    return np.maximum.reduce(totals)
