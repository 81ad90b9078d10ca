"""Results gathered from parts into one block of numbers and columns of codes."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from calc.table import Words


class Results:
    """Result columns: numbers in one block (columns, rows), words as codes of a vocabulary."""

    def __init__(self, columns: Iterable[str], words: frozenset[str], rows: int):
        self.columns = tuple(columns)
        self.rows = rows
        self.numbers = {name: at for at, name in enumerate(name for name in self.columns if name not in words)}
        self.place, self.filled = np.zeros(rows, dtype=np.int64), 0  # where each row stands in the block
        self.block = np.full((len(self.numbers), rows), np.nan)
        self.words: dict[str, dict[str, int]] = {name: {"": 0} for name in self.columns if name in words}
        self.codes = {name: np.zeros(rows, dtype=np.int32) for name in self.words}

    def add(self, rows: np.ndarray, found: dict[str, Any]) -> None:
        """Set the columns of some rows, in the next free places; a missing column stays empty."""
        at = slice(self.filled, self.filled + len(rows))
        self.place[rows] = np.arange(at.start, at.stop)
        self.filled = at.stop
        for name, values in found.items():
            if name in self.numbers:
                self.block[self.numbers[name], at] = values
            elif name in self.words:
                self.codes[name][at] = self._known(name, values)[values.codes]

    def _known(self, name: str, values: Words) -> np.ndarray:
        """The codes of a column's vocabulary for its words here, those that occur."""
        own = self.words[name]
        codes = np.zeros(len(values.vocabulary), dtype=np.int32)
        for place in np.unique(values.codes).tolist():
            codes[place] = own.setdefault(values.vocabulary[place], len(own))
        return codes

    def row(self, number: int) -> dict[str, Any]:
        """One row as a dict, in the order of the columns."""
        at = self.place[number]
        numbers = self.block[:, at].tolist()
        words = {name: list(known)[self.codes[name][at]] for name, known in self.words.items()}
        return {name: numbers[self.numbers[name]] if name in self.numbers else words[name] for name in self.columns}

    def frame(self, copies: np.ndarray | None, rows: int) -> pd.DataFrame:
        """The results as a frame, repeated as `copies` says: numbers as views, words as categories."""
        if copies is None:
            self._put_in_order()
        order = self.place[:rows] if copies is None else self.place[copies]
        block = self.block[:, :rows] if copies is None else np.take(self.block, order, axis=1)
        numbers = pd.DataFrame(block.T, columns=list(self.numbers), copy=False)
        words = {name: self._categories(name, order) for name in self.codes}
        # Numbers stay in the order of the block, so that choosing columns copies nothing.
        return pd.concat([numbers, pd.DataFrame(words, index=numbers.index)], axis=1)[list(self.columns)]

    def plain(self, **beside: Any) -> pd.DataFrame:
        """A few rows in their order, words as plain text, other columns in front or in place."""
        rows, at = self.rows, self.place[: self.rows]
        numbers: dict[str, Any] = dict(zip(self.numbers, self.block[:, at], strict=True))
        words: dict[str, Any] = {name: np.array(list(known), dtype=object)[self.codes[name][at]] for name, known in self.words.items()}
        for name, values in beside.items():
            of = words if np.asarray(values).dtype.kind in "OU" else numbers
            of[name] = np.broadcast_to(np.asarray(values, dtype=object if of is words else float), rows)
        figures = pd.DataFrame(np.stack(list(numbers.values())).T, columns=list(numbers))
        texts = pd.DataFrame(np.stack(list(words.values())).T, columns=list(words), dtype=object)
        return pd.concat([figures, texts], axis=1)[
            list(dict.fromkeys([*(name for name in beside if name not in self.columns), *self.columns]))
        ]

    def _put_in_order(self) -> None:
        """Bring the rows into their own order, column by column in the memory that they have."""
        if np.any(self.place != np.arange(self.rows)):
            for values in (*self.block, *self.codes.values()):
                values[:] = values[self.place]
            self.place = np.arange(self.rows)

    def _categories(self, name: str, order: np.ndarray) -> pd.Categorical:
        """A column of words: its categories are those that occur, in alphabetical order."""
        codes, known = self.codes[name], list(self.words[name])
        used = np.flatnonzero(np.bincount(codes[: self.filled], minlength=len(known)))
        names = sorted(used.tolist(), key=known.__getitem__)
        renumbered = np.zeros(len(known), dtype=np.int16 if len(names) < 2**15 else np.int32)
        renumbered[names] = np.arange(len(names))
        return pd.Categorical.from_codes(renumbered[codes][order], pd.Index([known[at] for at in names], dtype=object), validate=False)
