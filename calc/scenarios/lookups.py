"""Columns of catalogs by row number, and row numbers of words, made once per catalogs."""

from collections.abc import Iterable
from difflib import get_close_matches

import numpy as np

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios.problems import Problems, quoted
from calc.table import Words


@kept()
def numbers_of(catalogs: Catalogs, name: str, column: str) -> np.ndarray:
    """A column of numbers of one catalog, its last entry NaN for 'none', made once."""
    frame = getattr(catalogs, name)
    values = frame[column].to_numpy(dtype=float, na_value=np.nan) if column in frame else np.full(len(frame), np.nan)
    return np.append(values, np.nan)


@kept()
def words_of(catalogs: Catalogs, name: str, column: str) -> np.ndarray:
    """A column of words of one catalog, its last entry empty, made once."""
    return np.append(getattr(catalogs, name)[column].fillna("").astype(str).to_numpy(dtype=object), "")


@kept()
def numbers_in(catalogs: Catalogs, name: str) -> tuple[str, ...]:
    """The names of the columns of numbers and indicators of one catalog of choices."""
    frame = getattr(catalogs, name)
    return tuple(column for column in frame.columns if frame[column].dtype.kind in "ifb" and column not in ("trains", "serves", "adapts"))


@kept()
def row_numbers(catalogs: Catalogs, name: str) -> dict[str, int]:
    """The row of each id of one catalog, made once."""
    return {word: row for row, word in enumerate(getattr(catalogs, name).index)}


def catalog_rows(catalogs: Catalogs, name: str, words: Iterable[str]) -> np.ndarray:
    """The rows of some words in a catalog, -1 for a word that it lacks."""
    known = row_numbers(catalogs, name)
    return np.array([known.get(word, -1) for word in words], dtype=np.int64)


def find(catalogs: Catalogs, name: str, words: Words, problems: Problems, column: str) -> np.ndarray:
    """Row numbers of words in a catalog, -1 for empty ones; an unknown word is a problem."""
    known = row_numbers(catalogs, name)
    at = catalog_rows(catalogs, name, words.vocabulary)
    missing = (at < 0) & (words.vocabulary != "")
    problems.add(
        missing[words.codes],
        lambda row: (
            f"{column} '{quoted(words.in_row(row))}' is not in the catalog; choose one such as "
            f"{similar(words.in_row(row), known, getattr(catalogs, name).get('name', ())) or ', '.join(list(known)[:6])}."
        ),
    )
    return at[words.codes]


def similar(word: str, known: Iterable[str], names: Iterable[str] = ()) -> str:
    """Ids that hold the word, themselves or in the name on screen, or else are like it."""
    begun = str(word).lower()
    named = {one for one, name in zip(known, names, strict=False) if begun in name.lower()}
    holding = sorted(
        (one for one in known if begun in one or one in named), key=lambda one: (begun not in one, not one.startswith(begun), one)
    )
    return ", ".join((holding or get_close_matches(str(word)[:60].lower(), list(known), n=3, cutoff=0.5))[:3])


def columns_of(catalogs: Catalogs, name: str, wanted: tuple[str, ...], at: np.ndarray, prefix: str = "") -> Columns:
    """Columns of a catalog as float64 arrays, NaN where the row number is -1."""
    return {prefix + column: numbers_of(catalogs, name, column)[at] for column in wanted}


@kept()
def constants(catalogs: Catalogs, name: str) -> Columns:
    """The values of a catalog of single numbers, each one for all rows."""
    return {entry: np.array([float(value)]) for entry, value in getattr(catalogs, name)["value"].items()}
