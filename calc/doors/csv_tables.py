"""Tables as CSV: what is written can be read again and gives the same numbers."""

import io

import numpy as np
import pandas as pd

from calc.columns import GLOSSARY
from calc.scenarios.read import TableError, inputs_by_name, quoted


def to_csv(frame):
    """A table as CSV bytes for spreadsheets (UTF-8 with a mark, full precision)."""
    buffer = io.StringIO()
    write_csv(frame, buffer)
    return buffer.getvalue().encode("utf-8-sig")


def write_csv(frame, stream):
    """Write a table: whole numbers without a point, others as short as they read back the same, nothing where there
    is nothing."""
    plain = frame.copy()
    for name in plain.columns:
        if plain[name].dtype.kind in "fO":
            plain[name] = [_short(value) if isinstance(value, float) else value for value in plain[name].to_numpy()]
    plain.to_csv(stream, index=False, lineterminator="\n")


def _short(value):
    if not np.isfinite(value):
        return ""
    return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(float(value))


def as_written(results, table):
    """The results with the table's own cells where a row has a problem, so that reading them again meets it again."""
    wrong = (results["problem"] != "").to_numpy()
    kept = results.copy()
    for name in inputs_by_name().keys() & set(table.columns):
        cells = table[name].to_numpy(dtype=object)
        restored = wrong & (cells != "")
        if restored.any():
            kept[name] = np.where(restored, cells, results[name].to_numpy(dtype=object))
    return kept


def read_csv(stream, name="the file"):
    """A table of scenarios from CSV text or bytes; every cell as text. Raises TableError with one sentence."""
    content = stream.read() if hasattr(stream, "read") else stream
    if isinstance(content, bytes):
        try:
            content = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise TableError(f"{name} is not UTF-8 text (byte {error.start}); save it as CSV UTF-8.") from None
    content = content.removeprefix("\ufeff")
    if "\x00" in content:
        raise TableError(f"{name} is not text (it holds zero bytes); save it as CSV UTF-8.")
    if not content.strip():
        raise TableError(
            f"{name} is empty; give it a first line of column names, 'model' among them, and a row per scenario."
        )
    try:
        table = pd.read_csv(io.StringIO(content), header=None, dtype=str, keep_default_na=False, skipinitialspace=True)
    except pd.errors.ParserError as error:
        reason = str(error).strip().rstrip(".").split("C error: ")[-1]
        raise TableError(
            f"{name} is not a CSV table ({reason}); give every row as many cells as the first line."
        ) from None
    names = [str(cell).strip() or f"unnamed {number}" for number, cell in enumerate(table.iloc[0], start=1)]
    table = table.iloc[1:].set_axis(names, axis="columns").reset_index(drop=True)
    if "model" not in table.columns:
        raise TableError(
            f"{name} has no column 'model' (its columns: {quoted(', '.join(table.columns[:6]))}); the first line "
            "must name the columns, separated by commas."
        )
    return table


def from_csv(content, name="the file"):
    """The scenario columns of a CSV that this product or a person wrote, and what was left unread; raises
    TableError."""
    table = read_csv(content, name)
    inputs = [name for name in inputs_by_name() if name in table.columns]
    unknown = [column for column in table.columns if column not in GLOSSARY and column not in inputs and not column.endswith("_gib")]
    complaints = [f"{name} has a column '{column}' that is not known; it was left aside." for column in unknown]
    return table[inputs], complaints
