"""Problems: a remark in the row, or an error for a whole table."""

from typing import Any

import numpy as np

from calc.remarks import remark
from calc.table import Words


class TableError(ValueError):
    """A table cannot be used as a whole; the message says why and what to do."""


class Problems:
    """The first problem of each row, as a remark; empty if there is none."""

    def __init__(self, rows: int):
        self.remarks = np.full(rows, "", dtype=object)
        self.sound = np.ones(rows, dtype=bool)

    def of(self, rows: np.ndarray) -> "Problems":
        """The problems of some rows, to be added to separately."""
        part = Problems(len(rows))
        part.remarks, part.sound = self.remarks[rows], self.sound[rows]
        return part

    def fresh(self, wrong: np.ndarray) -> np.ndarray:
        """The wrong rows that had no problem before."""
        return np.flatnonzero(wrong & self.sound) if np.any(wrong) else np.empty(0, dtype=np.int64)

    def note(self, rows: np.ndarray, remarks: np.ndarray) -> None:
        """Record a remark for each of some rows."""
        self.remarks[rows] = remarks
        self.sound[rows] = False

    def add(self, wrong: np.ndarray, code: str, **facts: Any) -> None:
        """Record a remark in wrong rows without a problem.

        A fact that is a column of words, or a function of the row number, differs by row.
        """
        rows = self.fresh(wrong)
        if len(rows):
            remarks = [
                remark(code, **{name: _in_row(value, row) for name, value in facts.items()})
                for row in rows.tolist()
            ]
            self.note(rows, np.array(remarks, dtype=object))


def _in_row(value: Any, row: int) -> Any:
    """Return a fact of one row."""
    if isinstance(value, Words):
        return value.in_row(row)
    return value(row) if callable(value) else value


def quote_cell(value: object) -> str:
    """A cell as messages quote it: on one line, at most 60 characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
