"""What is wrong: with a row, as a sentence in it; with a table as a whole, as an error."""

from collections.abc import Callable

import numpy as np


class TableError(ValueError):
    """The table as a whole cannot be used; the message says what, where and what to do."""


class Problems:
    """The first thing wrong with each row, as a sentence; rows without one stay empty."""

    def __init__(self, rows: int):
        self.text = np.full(rows, "", dtype=object)
        self.sound = np.ones(rows, dtype=bool)

    def of(self, rows: np.ndarray) -> "Problems":
        """The problems of some of the rows, to be added to on their own."""
        own = Problems(len(rows))
        own.text, own.sound = self.text[rows], self.sound[rows]
        return own

    def add(self, wrong: np.ndarray, sentence: str | Callable[[int], str]) -> None:
        """Note a sentence (a text, or a function of the row number) where `wrong` and nothing was noted before."""
        if not np.any(wrong):
            return
        fresh = np.flatnonzero(np.broadcast_to(wrong, len(self.sound)) & self.sound)
        for row in fresh.tolist():
            self.text[row] = sentence(row) if callable(sentence) else sentence
        self.sound[fresh] = False


def quoted(value: object) -> str:
    """A cell as a sentence quotes it: on one line, at most 60 characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
