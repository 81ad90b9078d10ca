"""Results gathered from parts into one block of numbers and columns of codes."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from calc.evaluate import Row
from calc.table import Words


class Results:
    """Result columns: numbers in one block (columns, rows), words as codes of a vocabulary."""

    def __init__(self, columns: Iterable[str], words: frozenset[str], rows: int):
        self.columns = tuple(columns)
        self.rows = rows
        self.numbers = {
            name: line
            for line, name in enumerate(name for name in self.columns if name not in words)
        }
        # Where each row stands in the block.
        self.place = np.zeros(rows, dtype=np.int64)
        self.filled = 0
        self.block = np.full((len(self.numbers), rows), np.nan)
        self.words: dict[str, dict[str, int]] = {
            name: {"": 0} for name in self.columns if name in words
        }
        self.codes = {name: np.zeros(rows, dtype=np.int32) for name in self.words}

    def add(self, rows: np.ndarray, columns: Row) -> None:
        """Fill the next free places with some rows; a missing column stays empty."""
        free = slice(self.filled, self.filled + len(rows))
        self.place[rows] = np.arange(free.start, free.stop)
        self.filled = free.stop
        for name, values in columns.items():
            if name in self.numbers:
                self.block[self.numbers[name], free] = values
            elif name in self.words:
                self.codes[name][free] = self._merge_words(name, values)[values.codes]

    def _merge_words(self, name: str, values: Words) -> np.ndarray:
        """Return the codes of the words that occur, in the vocabulary of the column."""
        vocabulary = self.words[name]
        codes = np.zeros(len(values.vocabulary), dtype=np.int32)
        for code in np.unique(values.codes).tolist():
            codes[code] = vocabulary.setdefault(values.vocabulary[code], len(vocabulary))
        return codes

    def row(self, number: int) -> Row:
        """One row as a dict, in the order of the columns."""
        place = self.place[number]
        numbers = self.block[:, place].tolist()
        words = {
            name: list(vocabulary)[self.codes[name][place]]
            for name, vocabulary in self.words.items()
        }
        return {
            name: numbers[self.numbers[name]] if name in self.numbers else words[name]
            for name in self.columns
        }

    def column(self, name: str) -> np.ndarray:
        """A column of numbers in the order of the rows."""
        return self.block[self.numbers[name]][self.place]

    def frame(self, copies: np.ndarray | None, rows: int) -> pd.DataFrame:
        """The results as a frame, repeated as `copies` says: numbers as views, words as
        categories.
        """
        if copies is None:
            self._put_in_order()
        order = self.place[:rows] if copies is None else self.place[copies]
        block = self.block[:, :rows] if copies is None else np.take(self.block, order, axis=1)
        numbers = pd.DataFrame(block.T, columns=list(self.numbers), copy=False)
        words = {name: self._categories(name, order) for name in self.codes}
        # Numbers stay in the order of the block, so that choosing columns copies nothing.
        return pd.concat([numbers, pd.DataFrame(words, index=numbers.index)], axis=1)[
            list(self.columns)
        ]

    def plain(self, **others: Any) -> pd.DataFrame:
        """A few rows in order, words as plain text; other columns come first or replace results."""
        rows, places = self.rows, self.place[: self.rows]
        numbers: Row = dict(zip(self.numbers, self.block[:, places], strict=True))
        words: Row = {
            name: np.array(list(entries), dtype=object)[self.codes[name][places]]
            for name, entries in self.words.items()
        }
        for name, values in others.items():
            kind = words if np.asarray(values).dtype.kind in "OU" else numbers
            kind[name] = np.broadcast_to(
                np.asarray(values, dtype=object if kind is words else float), rows
            )
        figures = pd.DataFrame(np.stack(list(numbers.values())).T, columns=list(numbers))
        texts = pd.DataFrame(np.stack(list(words.values())).T, columns=list(words), dtype=object)
        return pd.concat([figures, texts], axis=1)[
            [*(name for name in others if name not in self.columns), *self.columns]
        ]

    def _put_in_order(self) -> None:
        """Sort the rows, column by column in the memory that they occupy."""
        if np.any(self.place != np.arange(self.rows)):
            for values in (*self.block, *self.codes.values()):
                values[:] = values[self.place]
            self.place = np.arange(self.rows)

    def _categories(self, name: str, order: np.ndarray) -> pd.Categorical:
        """A column of words; its categories are the words that occur, in alphabetical order."""
        codes = self.codes[name]
        vocabulary = list(self.words[name])
        codes_used = np.flatnonzero(np.bincount(codes[: self.filled], minlength=len(vocabulary)))
        by_name = sorted(codes_used.tolist(), key=vocabulary.__getitem__)
        renumbered = np.zeros(len(vocabulary), dtype=np.int16 if len(by_name) < 2**15 else np.int32)
        renumbered[by_name] = np.arange(len(by_name))
        categories = pd.Index([vocabulary[code] for code in by_name], dtype=object)
        return pd.Categorical.from_codes(renumbered[codes][order], categories, validate=False)
