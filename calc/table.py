"""Tables of columns, words as codes, and equal rows, which are computed once.

A column of numbers has one value per row along its last axis, or one value for all rows; a column
of words likewise has one code per row, or one for all.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.evaluate import Columns, Row
from calc.mappings import Cells

ORIGINS = "origins"  # what each column of a table is made of (engine/origins.py)
FEWEST_ROWS = 8  # in which looking for equal rows pays
SAMPLE_ROWS, FEWEST_REPEATS = 1024, 16


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or the empty text."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


class Table(Row):
    """Columns by name, and `rows`, the number of rows."""

    def __init__(self, columns: Cells, rows: int) -> None:
        super().__init__(columns)
        self["rows"] = rows

    def __or__(self, other: Cells) -> "Table":  # type: ignore[override]
        union = self.copy()
        union.update(other)
        return union

    def copy(self) -> "Table":
        """Return a copy of the columns."""
        return Table(self, self["rows"])

    def only(self, names: Iterable[str]) -> "Table":
        """The named columns, and the origins of all."""
        return Table({name: self[name] for name in (*names, ORIGINS)}, self["rows"])

    def take(self, rows: np.ndarray) -> "Table":
        """The chosen rows."""
        return Chosen(self, rows)

    def distinct(
        self, keys: Iterable[str], share: float = 0.5
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The first row of each combination of keys, and each row's combination; None if few
        repeat.

        At most this share of the rows may be distinct. In a large table a sample decides first: of
        1,024 rows drawn from n distinct ones about 1,024² / 2 n pairs are equal, 64 where half of
        16,384 rows repeat.
        """
        rows = self["rows"]
        columns = [self[name] for name in keys]
        if rows < FEWEST_ROWS or (rows >= 4 * SAMPLE_ROWS and not _some_repeat(columns, rows)):
            return None
        first, copies = distinct(columns, rows)
        return (first, copies) if len(first) <= share * rows else None

    def once(
        self, keys: Iterable[str], make: Callable[["Table"], Columns], share: float = 0.5
    ) -> Columns:
        """The columns that `make` returns, computed once for rows whose keys are equal."""
        rows_and_copies = self.distinct(keys, share)
        if rows_and_copies is None:
            return make(self)
        first, copies = rows_and_copies
        return {
            name: repeat_rows(values, len(first), copies)
            for name, values in make(self.take(first)).items()
        }


class Chosen(Table):
    """Chosen rows of a table; a column is gathered when it is first read."""

    def __init__(self, source: Cells, chosen: np.ndarray) -> None:
        super().__init__({}, len(chosen))
        self.source: Any = source
        self.chosen = chosen

    @cached_property
    def _below(self) -> "Chosen":
        """Return the rows as chosen rows of what the source was chosen from."""
        return Chosen(self.source.source, self.source.chosen[self.chosen])

    def __missing__(self, name: str) -> Any:
        passes_by = isinstance(self.source, Chosen) and not dict.__contains__(self.source, name)
        self[name] = values = (
            self._below[name]
            if passes_by
            else take_rows(self.source[name], self.source["rows"], self.chosen)
        )
        return values

    def copy(self) -> "Chosen":
        """Return the rows with the columns gathered so far."""
        same = Chosen(self.source, self.chosen)
        same.update(dict.items(self))
        return same

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.source

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> Any:
        """The names of all columns, also of those not gathered so far."""
        for name in self.source:
            self[name]
        return super().keys()

    def items(self) -> Any:
        """All columns by name."""
        self.keys()
        return super().items()


class Words(NamedTuple):
    """A column of words: `codes` (rows,) into `vocabulary` (words,), an array of objects."""

    codes: np.ndarray
    vocabulary: np.ndarray

    def by_row(self, rows: int) -> np.ndarray:
        """The word of every row, shape (rows,)."""
        return np.broadcast_to(self.vocabulary[self.codes], rows)

    def in_row(self, row: int) -> str:
        """The word of one row."""
        return str(self.vocabulary[self.codes[row if len(self.codes) > 1 else 0]])

    def mapped(self, value_of: Callable[[str], Any]) -> np.ndarray:
        """A value for each row's word; shape (rows,) or (1,)."""
        return np.array([value_of(word) for word in self.vocabulary])[self.codes]

    def are(self, condition: Callable[[str], Any] | str) -> np.ndarray:
        """Return whether each row's word is the wanted one, or passes a test.

        Shape (rows,) or (1,).
        """
        test = condition if callable(condition) else condition.__eq__
        return self.mapped(lambda word: bool(test(word)))


def word_pairs(first: Words, second: Words) -> tuple[np.ndarray, list[tuple[str, str]]]:
    """The number of each row's pair of words, and the pairs that occur."""
    if len(first.codes) == len(second.codes) == 1:
        return np.zeros(1, dtype=np.int64), [(first.in_row(0), second.in_row(0))]
    codes = np.broadcast_arrays(first.codes, second.codes)
    numbers, pairs = pd.factorize(codes[0].astype(np.int64) * len(second.vocabulary) + codes[1])
    return numbers, [
        (first.vocabulary[one], second.vocabulary[other])
        for one, other in zip(*np.divmod(pairs, len(second.vocabulary)), strict=True)
    ]


def word(text: str) -> Words:
    """One word for all rows."""
    return Words(np.zeros(1, dtype=np.int64), np.array([text], dtype=object))


def where(condition: np.ndarray, first: Words, second: Words) -> Words:
    """The first column's word where the condition holds, else the second's."""
    vocabulary = np.concatenate([first.vocabulary, second.vocabulary])
    return Words(np.where(condition, first.codes, second.codes + len(first.vocabulary)), vocabulary)


def take(table: Cells, rows: np.ndarray) -> Table:
    """The chosen rows of a table; a column is gathered when it is first read."""
    return Chosen(table, rows)


def take_rows(values: Any, total: int, rows: np.ndarray) -> Any:
    """The chosen of `total` rows of one column, or of a tuple of them."""
    if isinstance(values, Words):
        return values if len(values.codes) == 1 else Words(values.codes[rows], values.vocabulary)
    if isinstance(values, np.ndarray) and values.ndim and values.shape[-1] == total and total > 1:
        return values.take(rows, axis=-1)
    if isinstance(values, pd.Series):
        return values.iloc[rows]
    if isinstance(values, tuple):
        return tuple(take_rows(part, total, rows) for part in values)
    return values


def stack(tables: Sequence[Cells]) -> Table:
    """Tables with the same columns as one, in order."""
    rows = [table["rows"] for table in tables]
    columns = {
        name: stacked_column([table[name] for table in tables], rows)
        for name in tables[0]
        if name != "rows"
    }
    return Table(columns, sum(rows))


def stacked_column(values: Sequence[Any], rows: Sequence[int]) -> Any:
    """One column from several tables, repeated for the number of rows of each."""
    if len(values) == 1:
        return values[0]
    if not isinstance(values[0], Words):
        return np.concatenate(
            [np.broadcast_to(one, count) for one, count in zip(values, rows, strict=True)]
        )
    vocabulary = list(dict.fromkeys(word for one in values for word in one.vocabulary))
    codes = [
        np.broadcast_to(one.mapped(vocabulary.index), count)
        for one, count in zip(values, rows, strict=True)
    ]
    return Words(np.concatenate(codes), np.array(vocabulary, dtype=object))


def key_codes(values: Any) -> tuple[np.ndarray, int]:
    """A code for each value of a column, and their number; missing values share a code."""
    if isinstance(values, Words):
        codes, distinct_words = pd.factorize(values.vocabulary)
        return codes[values.codes], len(distinct_words)
    if isinstance(values, pd.Series):
        codes, cells = cell_codes(values)
        return codes, len(cells) + 1
    codes, distinct_values = pd.factorize(values)
    return codes + 1, len(distinct_values) + 1


def cell_codes(cells: pd.Series) -> tuple[np.ndarray, list]:
    """Codes and distinct values of cells; a missing cell has the last code. Lists count as text."""
    if isinstance(cells.dtype, pd.CategoricalDtype):
        codes = cells.cat.codes.to_numpy().astype(np.int64)
        values = cells.cat.categories
    else:
        try:
            codes, values = pd.factorize(cells, use_na_sentinel=True)
        except TypeError:
            codes, values = pd.factorize(cells.map(str, na_action="ignore"), use_na_sentinel=True)
    return np.where(codes < 0, len(values), codes), list(values)


def distinct(columns: Iterable[Any], rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each distinct combination of columns, and each row's combination."""
    code = np.zeros(rows, dtype=np.int64)
    count = 1
    for values in (line for column in columns for line in _lines(column)):
        if len(values.codes if isinstance(values, Words) else values) == 1:
            continue
        codes, different = key_codes(values)
        code = code * different + codes
        count *= different
        if count > 2**20:
            code, combinations = pd.factorize(code)
            count = len(combinations)
    code, combinations = pd.factorize(code)
    first = np.empty(len(combinations), dtype=np.int64)
    first[code[::-1]] = np.arange(rows - 1, -1, -1)
    return first, code


def _lines(values: Any) -> Iterable[Any]:
    """A column as columns of one axis."""
    if isinstance(values, Words) or np.ndim(values) < 2:
        return (values,)
    return values.reshape(-1, values.shape[-1])


def _some_repeat(columns: list[Any], rows: int) -> bool:
    """Return whether rows of a sample repeat so often that comparing all rows pays."""
    sample = np.random.default_rng(0).choice(rows, SAMPLE_ROWS, replace=False)
    first, _ = distinct([take_rows(values, rows, sample) for values in columns], SAMPLE_ROWS)
    return SAMPLE_ROWS - len(first) >= FEWEST_REPEATS


def repeat_rows(values: Any, rows: int, copies: np.ndarray) -> Any:
    """A column of distinct rows, or a tuple of columns, repeated for every row they represent."""
    if isinstance(values, Words):
        return Words(np.broadcast_to(values.codes, rows)[copies], values.vocabulary)
    if isinstance(values, tuple):
        return tuple(repeat_rows(part, rows, copies) for part in values)
    if np.ndim(values):
        return np.broadcast_to(values, (*np.shape(values)[:-1], rows)).take(copies, axis=-1)
    return values


def clear_rows(values: Any, where: np.ndarray) -> Any:
    """A column whose values are removed in some rows."""
    if isinstance(values, Words):
        return Words(
            np.where(where, len(values.vocabulary), values.codes), np.append(values.vocabulary, "")
        )
    return np.where(where, np.nan, values)


def place_rows(values: Any, sound: np.ndarray, rows: int) -> Any:
    """A column of the sound rows, placed among all rows; the others are empty."""
    if len(sound) == rows:
        return values
    if isinstance(values, Words):
        codes = np.full(rows, len(values.vocabulary))
        codes[sound] = values.codes
        return Words(codes, np.append(values.vocabulary, ""))
    all_rows = np.full(rows, np.nan)
    all_rows[sound] = values
    return all_rows
