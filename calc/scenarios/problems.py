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

    def fresh(self, wrong: np.ndarray) -> np.ndarray:
        """The rows that are wrong and of which nothing was noted before."""
        return np.flatnonzero(wrong & self.sound) if np.any(wrong) else np.empty(0, dtype=np.int64)

    def note(self, rows: np.ndarray, sentences: np.ndarray | str) -> None:
        """Note a sentence for each of some rows, or one for all of them."""
        self.text[rows] = sentences
        self.sound[rows] = False

    def add(self, wrong: np.ndarray, sentence: str | Callable[[int], str]) -> None:
        """Note a sentence, or one made of the row number, where `wrong` and without a problem."""
        rows = self.fresh(wrong)
        said = sentence if isinstance(sentence, str) else np.array([sentence(row) for row in rows.tolist()], dtype=object)
        self.note(rows, said)


def quoted(value: object) -> str:
    """A cell as a sentence quotes it: on one line, at most 60 characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
