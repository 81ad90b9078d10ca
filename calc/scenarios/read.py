"""Reads the cells of scenarios: inputs with defaults, and problems as sentences."""

import re
from collections.abc import Container
from functools import cache

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.mappings import Cells
from calc.scenarios.inputs import (
    ASSUMPTIONS,
    BY_NAME,
    Input,
    bounded_inputs,
    inputs_by_name,
)
from calc.scenarios.precision_traits import default_precision
from calc.scenarios.problems import Problems, TableError, quote_cell
from calc.table import Words, cell_codes, where, word

NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
# Inputs whose final value depends on others: they are read as asked_<name>.
ASKED_COLUMNS = frozenset(
    [
        "precision",
        "loss",
        "gpu",
        "memory_utilization",
        "sequence_tokens",
        "decoder_tokens",
        "prompt_tokens",
        "image_tokens",
        "reference",
        "kl_coefficient",
        "generations",
        "completion_tokens",
        "rollout",
        "rollout_share",
        "rollout_gpus",
        "rollout_tensor_parallel",
        *ASSUMPTIONS,
    ]
)


def as_frame(table: pd.DataFrame | dict) -> pd.DataFrame:
    """Return the scenarios as a DataFrame, from a DataFrame or one dict. Raises TableError."""
    frame = pd.DataFrame([table]) if isinstance(table, dict) else table
    check_column_names(frame.columns, BY_NAME)
    return frame


def check_column_names(columns: pd.Index, names: Container[str]) -> None:
    """Raise TableError if no column names the model, or one is there twice or misspelled."""
    if "model" not in columns:
        raise TableError(
            f"The table has no column 'model' (its columns: {', '.join(map(str, columns[:8]))}); "
            f"name the model of each row in it."
        )
    duplicates = columns[columns.duplicated()]
    if len(duplicates):
        raise TableError(
            f"The column '{quote_cell(duplicates[0])}' is twice in the table; keep one of them."
        )
    for column in columns:
        name = "_".join(str(column).lower().split())
        if name != column and name in names and name not in columns:
            raise TableError(
                f"The column '{quote_cell(column)}' would not be read; write its name as {name}."
            )


def read_inputs(frame: pd.DataFrame, problems: Problems, catalogs: Catalogs) -> Row:
    """All scenario columns with defaults filled in: words as Words, numbers as float64 or NaN.

    A column that the frame lacks is one value for all rows. A value that other inputs decide is
    named asked_<name>.
    """
    inputs: Row = {}
    for column in bounded_inputs(catalogs).values():
        if column.name not in frame.columns:
            inputs[column.name] = _default(column)
        elif column.kind in ("text", "choice"):
            inputs[column.name] = _read_words(column, frame[column.name], problems)
        else:
            inputs[column.name] = _read_numbers(column, frame[column.name], problems)
    inputs["names_sequence"] = _names_value(frame, "sequence_tokens")
    inputs["names_accumulation"] = _names_value(frame, "accumulation_steps")
    inputs["names_precision"] = ~inputs["precision"].are("")
    default = default_precision(inputs["work"], inputs["tuning"])
    inputs["precision"] = where(inputs["precision"].are(""), default, inputs["precision"])
    lacks_model = inputs["model"].are("")
    # The row of a job without a plan keeps its problem when read again.
    if "problem" in frame.columns:
        earlier = _read_words(Input("problem", "text"), frame["problem"], problems)
        problems.add(lacks_model & ~earlier.are(""), "earlier-problem", problem=earlier)
    problems.add(lacks_model, "no-model")
    return {
        f"asked_{name}" if name in ASKED_COLUMNS else name: values
        for name, values in inputs.items()
    }


def known_inputs(row: Cells, columns: Cells | None = None) -> Row:
    """All scenario columns as read_inputs returns them, from cells that need no check.

    `row`: values for all rows; `columns`: those that differ by row, words as Words.
    """
    inputs = dict(_defaults())
    for name, value in row.items():
        column = inputs_by_name()[name]
        inputs[name] = (
            word(str(value)) if column.kind in ("text", "choice") else np.array([float(value)])
        )
    inputs["names_sequence"] = np.array(["sequence_tokens" in row])
    inputs["names_accumulation"] = np.array(["accumulation_steps" in {**row, **(columns or {})}])
    inputs |= columns or {}
    names_precision = "precision" in {**row, **(columns or {})}
    inputs["names_precision"] = np.array([names_precision])
    if not names_precision:
        inputs["precision"] = default_precision(inputs["work"], inputs["tuning"])
    return {
        f"asked_{name}" if name in ASKED_COLUMNS else name: values
        for name, values in inputs.items()
    }


@cache
def _defaults() -> Row:
    return {column.name: _default(column) for column in inputs_by_name().values()}


def _default(column: Input) -> Words | np.ndarray:
    if column.kind in ("text", "choice"):
        return word(str(column.default))
    return np.array([np.nan if column.default is None else float(str(column.default))])


def cell_words(cells: pd.Series) -> Words:
    """Cells as text without outer spaces; a missing cell is empty."""
    codes, values = cell_codes(cells)
    return Words(codes, np.array([*(str(value).strip() for value in values), ""], dtype=object))


def _names_value(frame: pd.DataFrame, name: str) -> np.ndarray:
    """Return whether each row names a value in a column."""
    return ~cell_words(frame[name]).are("") if name in frame.columns else np.zeros(1, dtype=bool)


def _read_words(column: Input, cells: pd.Series, problems: Problems) -> Words:
    """A column of words; a word that is no choice of the column is a problem of its row."""
    codes, texts = cell_words(cells)
    is_choice = column.kind == "choice"
    words = Words(
        codes,
        np.array(
            [(text.lower() if is_choice else text) or str(column.default) for text in texts],
            dtype=object,
        ),
    )
    if is_choice:
        problems.add(
            ~words.are(lambda text: text in column.choices or text == column.default),
            "not-a-choice",
            column=column.name,
            word=words,
            choices=column.choices,
        )
    return words


def _read_numbers(column: Input, cells: pd.Series, problems: Problems) -> np.ndarray:
    """A column of numbers; one out of range is a problem of its row, an empty one the default."""
    if cells.dtype.kind in "if":
        values = cells.to_numpy(dtype=float)
        blank = np.isnan(values)
    else:
        texts = cell_words(cells)
        values = texts.mapped(number)
        blank = texts.are("")
    wrong = ~blank & ~column.allows(values)
    problems.add(wrong, "not-in-range", column=column, cell=lambda row: str(cells.iloc[row]))
    default = np.nan if column.default is None else float(str(column.default))
    return np.where(blank | wrong, default, values)


def number(text: str) -> float:
    """Return the number in a cell, a link or a field; NaN without one.

    A number has ASCII digits, and no separator beside its point: 1_000 and other scripts' digits
    are none.
    """
    return float(text) if NUMBER.fullmatch(text.strip()) else np.nan
