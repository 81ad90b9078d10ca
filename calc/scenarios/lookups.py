"""Columns of catalogs by row number, and row numbers of words, kept with their catalogs."""

from collections.abc import Iterable
from difflib import get_close_matches

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns, Row
from calc.scenarios.problems import Problems
from calc.table import Words

TRAINING, SERVING = "training", "inference"


def work_of(table: Columns) -> str:
    """The kind of work that all rows of a table do."""
    return TRAINING if table["trains"][0] > 0 else SERVING


@cached_per_catalogs()
def numbers_of(catalogs: Catalogs, name: str, column: str) -> np.ndarray:
    """A column of numbers of one catalog; its last entry is NaN, for row -1."""
    frame = getattr(catalogs, name)
    values = (
        frame[column].to_numpy(dtype=float, na_value=np.nan)
        if column in frame
        else np.full(len(frame), np.nan)
    )
    return np.append(values, np.nan)


@cached_per_catalogs()
def words_of(catalogs: Catalogs, name: str, column: str) -> np.ndarray:
    """A column of words of one catalog; its last entry is empty, for row -1."""
    return np.append(
        getattr(catalogs, name)[column].fillna("").astype(str).to_numpy(dtype=object), ""
    )


@cached_per_catalogs()
def cells_by_id(catalogs: Catalogs, name: str, column: str) -> Row:
    """The cells of one column of a catalog, by id."""
    return dict(getattr(catalogs, name)[column])


@cached_per_catalogs()
def numbers_in(catalogs: Catalogs, name: str) -> tuple[str, ...]:
    """The names of the columns of numbers and indicators of one catalog."""
    frame = getattr(catalogs, name)
    return tuple(
        column
        for column in frame.columns
        if frame[column].dtype.kind in "ifb" and column not in ("trains", "serves", "adapts")
    )


@cached_per_catalogs()
def row_numbers(catalogs: Catalogs, name: str) -> dict[str, int]:
    """The row of each id of one catalog."""
    return {word: row for row, word in enumerate(getattr(catalogs, name).index)}


def catalog_rows(catalogs: Catalogs, name: str, words: Iterable[str]) -> np.ndarray:
    """The rows of some words in a catalog, -1 for a word that it lacks."""
    numbers = row_numbers(catalogs, name)
    return np.array([numbers.get(word, -1) for word in words], dtype=np.int64)


def word_rows(catalogs: Catalogs, name: str, words: Words) -> np.ndarray:
    """The row of each row's word in a catalog, -1 for a word that it lacks."""
    return catalog_rows(catalogs, name, words.vocabulary)[words.codes]


def find(
    catalogs: Catalogs, name: str, words: Words, problems: Problems, column: str
) -> np.ndarray:
    """The catalog's row of each word, -1 for an empty one; an unknown word is a problem."""
    rows = word_rows(catalogs, name, words)
    ids = row_numbers(catalogs, name)
    names = getattr(catalogs, name).get("name", ())
    problems.add(
        (rows < 0) & ~words.are(""),
        "not-in-catalog",
        column=column,
        word=words,
        similar_ids=lambda row: similar(words.in_row(row), ids, names),
        first_ids=", ".join(list(ids)[:6]),
    )
    return rows


def similar(word: str, ids: Iterable[str], names: Iterable[str] = ()) -> str:
    """Up to three ids that contain the word, in the id or the name on screen, or resemble it."""
    name_part = str(word).lower().rstrip("/").rpartition("/")[2]
    ids_by_name = {one for one, name in zip(ids, names, strict=False) if name_part in name.lower()}
    matches = sorted(
        (one for one in ids if name_part in one or one in ids_by_name),
        key=lambda one: (name_part not in one, not one.startswith(name_part), one),
    )
    return ", ".join((matches or get_close_matches(name_part[:60], list(ids), n=3, cutoff=0.5))[:3])


def columns_of(
    catalogs: Catalogs,
    name: str,
    rows: np.ndarray,
    prefix: str = "",
    names: Iterable[str] | None = None,
    without: Iterable[str] = (),
    missing: float = np.nan,
) -> Columns:
    """Columns of numbers of a catalog, all or the named ones; `missing` if the row is -1."""
    candidates = numbers_in(catalogs, name) if names is None else names
    column_names = tuple(column for column in candidates if column not in without)
    values = _block(catalogs, name, column_names, missing).take(rows, axis=1)
    return {prefix + column: row for column, row in zip(column_names, values, strict=True)}


@cached_per_catalogs()
def _block(catalogs: Catalogs, name: str, columns: tuple[str, ...], missing: float) -> np.ndarray:
    """Columns of numbers of one catalog. Shape: (columns, rows and the empty one)."""
    numbers = np.array([numbers_of(catalogs, name, column) for column in columns]).reshape(
        len(columns), -1
    )
    return np.where(np.isnan(numbers), missing, numbers)


@cached_per_catalogs()
def assumed_entries(catalogs: Catalogs, name: str) -> np.ndarray:
    """1 for each entry of a catalog that no published run was compared with. [0 or 1]"""
    return (words_of(catalogs, name, "basis") == "assumed").astype(float)


@cached_per_catalogs()
def constants(catalogs: Catalogs, name: str) -> Columns:
    """The values of a catalog of single numbers, each the same for all rows."""
    return {
        entry: np.array([float(value)]) for entry, value in getattr(catalogs, name)["value"].items()
    }
