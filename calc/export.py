"""Tables as CSV: what is written can be read again and gives the same numbers."""

import csv
import io

import numpy as np
import pandas as pd

from calc.columns import GIB, GLOSSARY
from calc.scenarios import TableError, inputs_by_name


def to_csv(frame):
    """A table as CSV bytes for spreadsheets (UTF-8 with a mark, full precision)."""
    buffer = io.StringIO()
    write_csv(frame, buffer)
    return buffer.getvalue().encode("utf-8-sig")


def write_csv(frame, stream):
    """Write a table: whole numbers without a point, others as short as they read back the same, nothing where there is nothing."""
    plain = frame.copy()
    for name in plain.columns:
        if plain[name].dtype.kind == "f":
            plain[name] = [_short(value) for value in plain[name].to_numpy()]
    plain.to_csv(stream, index=False, lineterminator="\n")


def _short(value):
    if np.isnan(value):
        return ""
    return str(int(value)) if value == int(value) and abs(value) < 1e16 else repr(float(value))


def with_gib(frame):
    """The table with a GiB column after each column of bytes, for people."""
    columns = {}
    for name in frame.columns:
        columns[name] = frame[name]
        if name in GLOSSARY and GLOSSARY[name].unit == "B":
            columns[name.removesuffix("_bytes") + "_gib"] = frame[name] / GIB
    return pd.DataFrame(columns)


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
        raise TableError(f"{name} is empty; give it a first line of column names, 'model' among them, and a row per scenario.")
    try:
        table = pd.read_csv(io.StringIO(content), dtype=str, keep_default_na=False, skipinitialspace=True, index_col=False, on_bad_lines="error")
    except (pd.errors.ParserError, csv.Error) as error:
        raise TableError(f"{name} is not a CSV table ({str(error).strip().rstrip('.')}); give every row as many cells as the first line.") from None
    table.columns = [str(column).strip() for column in table.columns]
    if "model" not in table.columns:
        raise TableError(f"{name} has no column 'model' (its columns: {', '.join(table.columns[:6])}); the first line must name the columns, separated by commas.")
    return table


def from_csv(content, name="the file"):
    """The scenario columns of a CSV that this product or a person wrote, and what was left unread; raises TableError."""
    table = read_csv(content, name)
    inputs = [name for name in inputs_by_name() if name in table.columns]
    unknown = [column for column in table.columns if column not in GLOSSARY and column not in inputs and not column.endswith("_gib")]
    complaints = [f"{name} has a column '{column}' that is not known; it was left aside." for column in unknown]
    return table[inputs], complaints
