"""Tables as CSV text: each distinct value of a column is written once, then joined."""

import re
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import TextIO

import numpy as np
import pandas as pd

# A cell that begins like this would be run by a spreadsheet, or was escaped against that.
FORMULA = re.compile("'*[=+@\t\r-]")
SPECIAL = re.compile('[,"\r\n]')
REPEATED = 4  # rows per combination from which columns are joined before the rows are

Coded = tuple[np.ndarray, list[str]]  # which text stands in each row, and the texts


def write_csv(frame: pd.DataFrame, stream: TextIO, header: bool = True) -> None:
    """Write a table: integers without a point, floats as short as they read back."""
    if header:
        stream.write(",".join(map(_text, frame.columns)) + "\n")
    if len(frame):
        columns = [
            np.array(words, dtype=object)[codes].tolist()
            for codes, words in _merge_columns(map(_codes, _columns(frame)))
        ]
        if frame.shape[1] == 1:
            columns = [[word or '""' for word in columns[0]]]  # an empty line would be no row
        stream.write("\n".join(map(",".join, zip(*columns, strict=True))) + "\n")


def _columns(frame: pd.DataFrame) -> Iterator[pd.Series]:
    return (frame.iloc[:, place] for place in range(frame.shape[1]))


def _codes(column: pd.Series) -> Coded:
    """A column as numbers of its distinct texts, and these texts."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        codes = column.cat.codes.to_numpy(dtype=np.int64)
        values = column.cat.categories
    elif column.dtype.kind == "f":
        codes, values = pd.factorize(np.where(np.isfinite(column), column, np.nan))
    elif column.dtype == object and not set(map(type, column)) <= {str, float}:
        # 1, 1.0 and True are equal and written differently.
        codes = np.arange(len(column))
        values = column
    else:
        codes, values = pd.factorize(column)
    words = _numbers(values) if column.dtype.kind == "f" else list(map(_text, values.tolist()))
    if (codes < 0).any():
        return (np.where(codes < 0, len(words), codes), [*words, ""])
    return (codes, words)


def _merge_columns(columns: Iterable[Coded]) -> Iterator[Coded]:
    """Neighboring columns as one for as long as few of their combinations occur."""
    codes = np.zeros(0, dtype=np.int64)
    words = [""]
    for own_codes, own_words in columns:
        if not len(codes):
            codes, words = own_codes, own_words
            continue
        # Both together have no fewer combinations.
        few = REPEATED * max(len(words), len(own_words)) <= len(codes)
        if few:
            both, distinct = pd.factorize(codes * len(own_words) + own_codes)
            few = REPEATED * len(distinct) <= len(both)
        if few:
            pairs = zip(
                *(place.tolist() for place in np.divmod(distinct, len(own_words))), strict=True
            )
            codes = both
            words = [f"{words[left]},{own_words[right]}" for left, right in pairs]
        else:
            yield codes, words
            codes, words = own_codes, own_words
    yield codes, words


def _numbers(values: np.ndarray) -> list[str]:
    """Finite numbers as they stand in a CSV."""
    # + 0.0: no minus before a zero.
    return [text.removesuffix(".0") for text in map(repr, (values + 0.0).tolist())]


def without_mark(text: str) -> str:
    """A cell as it was before the mark of _text."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text


def _text(value: object) -> str:
    """A value quoted for CSV, marked where a spreadsheet would take it for a formula."""
    if isinstance(value, float):
        return _numbers(np.array([value]))[0] if isfinite(value) else ""
    text = "" if value is None or value is pd.NA or value is pd.NaT else str(value)
    text = "'" + text if isinstance(value, str) and FORMULA.match(text) else text
    return '"' + text.replace('"', '""') + '"' if SPECIAL.search(text) else text
