"""Problems: a sentence in the row, or an error for a whole table."""

from collections.abc import Callable

import numpy as np


class TableError(ValueError):
    """A table cannot be used as a whole; the message says why and what to do."""


class Problems:
    """The first problem of each row, as a sentence; empty if there is none."""

    def __init__(self, rows: int):
        self.text = np.full(rows, "", dtype=object)
        self.sound = np.ones(rows, dtype=bool)

    def of(self, rows: np.ndarray) -> "Problems":
        """The problems of some rows, to be added to separately."""
        part = Problems(len(rows))
        part.text, part.sound = self.text[rows], self.sound[rows]
        return part

    def fresh(self, wrong: np.ndarray) -> np.ndarray:
        """The wrong rows that had no problem before."""
        return np.flatnonzero(wrong & self.sound) if np.any(wrong) else np.empty(0, dtype=np.int64)

    def note(self, rows: np.ndarray, sentences: np.ndarray | str) -> None:
        """Record a sentence for each of some rows, or one for all of them."""
        self.text[rows] = sentences
        self.sound[rows] = False

    def add(self, wrong: np.ndarray, sentence: str | Callable[[int], str]) -> None:
        """Record a sentence, or one made from the row number, in wrong rows without a problem."""
        rows = self.fresh(wrong)
        sentences = (
            sentence
            if isinstance(sentence, str)
            else np.array([sentence(row) for row in rows.tolist()], dtype=object)
        )
        self.note(rows, sentences)


def quote_cell(value: object) -> str:
    """A cell as messages quote it: on one line, at most 60 characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
