"""Columns of words as codes, and distinct rows: what repeats is worked out once and gathered.

A column of numbers has one value per row along its last axis, or one value for all rows; a column of words likewise has
one code per row, or one for all.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd


class Words(NamedTuple):
    """A column of words: `codes` (rows,) into `known` (words,), an array of objects."""

    codes: np.ndarray
    known: np.ndarray

    def each(self, rows: int) -> np.ndarray:
        """The word of every row, shape (rows,)."""
        return np.broadcast_to(self.known[self.codes], rows)

    def at(self, row: int) -> str:
        """The word of one row."""
        return str(self.known[self.codes[row if len(self.codes) > 1 else 0]])

    def are(self, wanted: Callable[[str], Any] | str) -> np.ndarray:
        """Whether each row's word is the wanted one, or passes a test; shape (rows,) or (1,)."""
        test = wanted if callable(wanted) else wanted.__eq__
        return np.array([bool(test(word)) for word in self.known])[self.codes]

    def numbers(self, number: Callable[[str], float]) -> np.ndarray:
        """A number for each row's word; shape (rows,) or (1,)."""
        return np.array([float(number(word)) for word in self.known])[self.codes]


def word(text: str) -> Words:
    """One word for all rows."""
    return Words(np.zeros(1, dtype=np.int64), np.array([text], dtype=object))


def where(condition: np.ndarray, first: Words, second: Words) -> Words:
    """The first column's word where the condition holds, else the second's."""
    known = np.concatenate([first.known, second.known])
    return Words(np.where(condition, first.codes, second.codes + len(first.known)), known)


def take(table: dict[str, Any], rows: np.ndarray, names: Iterable[str] = ()) -> dict[str, Any]:
    """The chosen rows of a table's columns, all or the named ones; what is one value for all stays so."""
    total = table["rows"]
    picked = {name: taken(table[name], total, rows) for name in (names or table) if name in table}
    return picked | {"rows": len(rows)}


def taken(values: Any, total: int, rows: np.ndarray) -> Any:
    """The chosen of `total` rows of one column."""
    if isinstance(values, Words):
        return values if len(values.codes) == 1 else Words(values.codes[rows], values.known)
    if isinstance(values, np.ndarray) and values.ndim and values.shape[-1] == total and total > 1:
        return values.take(rows, axis=-1)
    return values


def key_codes(values: Any) -> tuple[np.ndarray, int]:
    """Codes of a column's values, and how many there are: rows with like values share a code. Missing values count as like."""
    if isinstance(values, Words):
        codes, found = pd.factorize(values.known)
        return codes[values.codes], len(found)
    codes, found = pd.factorize(values)
    return codes + 1, len(found) + 1


def distinct(columns: Iterable[Any], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each distinct combination of columns, and for every row the number of its combination."""
    code, count = np.zeros(rows, dtype=np.int64), 1
    for values in columns:
        if len(values.codes if isinstance(values, Words) else values) == 1:
            continue
        codes, found = key_codes(values)
        code = code * found + codes
        count *= found
        if count > 2**20:
            code, held = pd.factorize(code)
            count = len(held)
    code, held = pd.factorize(code)
    first = np.empty(len(held), dtype=np.int64)
    first[code[::-1]] = np.arange(rows - 1, -1, -1)
    return first, code


SAMPLE_ROWS, FEWEST_REPEATS = 1024, 16


def repeat(columns: Iterable[Any], rows: int) -> bool:
    """Whether so many rows of a large table seem to repeat that to look for them pays, judged on a sample of them.

    Of 1,024 rows drawn from n distinct ones about 1,024² / 2 n pairs meet: 64 where half of 16,384 rows repeat.
    """
    if rows < 4 * SAMPLE_ROWS:
        return True
    sample = np.random.default_rng(0).choice(rows, SAMPLE_ROWS, replace=False)
    return meet([taken(values, rows, sample) for values in columns], SAMPLE_ROWS)


def meet(columns: Iterable[Any], rows: int) -> bool:
    """Whether enough rows of a sample are like another."""
    first, _ = distinct(columns, rows)
    return rows - len(first) >= FEWEST_REPEATS


def gathered(values: Any, rows: int, copies: np.ndarray) -> Any:
    """A column of distinct rows for all the rows that they stand for."""
    if isinstance(values, Words):
        return Words(np.broadcast_to(values.codes, rows)[copies], values.known)
    return np.broadcast_to(values, (*np.shape(values)[:-1], rows)).take(copies, axis=-1) if np.ndim(values) else values


def emptied(values: Any, where: np.ndarray) -> Any:
    """A column with nothing in some rows."""
    if isinstance(values, Words):
        return Words(np.where(where, len(values.known), values.codes), np.append(values.known, ""))
    return np.where(where, np.nan, values)


def spread(values: Any, sound: np.ndarray, rows: int) -> Any:
    """A column of sound rows among all rows; the others have nothing."""
    if len(sound) == rows:
        return values
    if isinstance(values, Words):
        codes = np.full(rows, len(values.known))
        codes[sound] = values.codes
        return Words(codes, np.append(values.known, ""))
    filled = np.full(rows, np.nan)
    filled[sound] = values
    return filled
