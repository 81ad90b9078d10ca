"""Tables as CSV: what is written reads back with the same numbers."""

import codecs
import io
import re
from collections.abc import Iterator
from datetime import date
from typing import BinaryIO

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.columns import GLOSSARY
from calc.files.csv.people import COLUMNS, people_table, with_layout
from calc.files.csv.writer import without_mark, write_csv
from calc.files.door import one_sentence
from calc.job.columns import ANSWER_COLUMNS, JOB_BY_NAME
from calc.plan.bill import WAY_COLUMNS
from calc.plan.drift import VERSIONS, versions
from calc.plan.ownership import DAYS, OWNERSHIP
from calc.plan.plan_bill import PAID, PERIODS
from calc.scenarios.inputs import inputs_by_name
from calc.scenarios.problems import TableError, quote_cell

BLOCK_BYTES = 2**18
MOST_COLUMNS = 500
MOST_ROWS = 10_000  # five seconds of estimates; the command line takes more
TOO_WIDE = f"more than {MOST_COLUMNS} columns; give those of the scenarios alone."
MARKS = re.compile('[",\r\n]')
ANSWERED = frozenset(
    [
        *ANSWER_COLUMNS,
        *JOB_BY_NAME,
        *OWNERSHIP,
        *DAYS,
        *WAY_COLUMNS,
        *PERIODS,
        *PAID,
        *VERSIONS,
        "instances",
        "in_bill",
        "decision",
        "budget_usd",
        "budget_for",
        "contingency_percent",
        *COLUMNS,
    ]
)


def to_csv(frame: pd.DataFrame) -> bytes:
    """A table as CSV bytes for spreadsheets: UTF-8 with a byte order mark, full precision."""
    buffer = io.StringIO()
    write_csv(frame, buffer)
    return buffer.getvalue().encode("utf-8-sig")


def dated_csv(rows: pd.DataFrame, catalogs: Catalogs, today: date, job: str = "") -> bytes:
    """Scenarios as CSV bytes: first the job in words, last the day and the versions."""
    dated = rows.assign(**versions(catalogs, today))
    if job:
        dated.insert(0, "job", job)
    return to_csv(dated)


def people_csv(rows: pd.DataFrame, catalogs: Catalogs, job: str = "") -> bytes:
    """Answered or billed rows as CSV bytes with the columns that people read."""
    return to_csv(people_table(rows, catalogs, job))


def as_written(results: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """The results, with the table's cells where a row has a problem."""
    wrong = (results["problem"] != "").to_numpy()
    copy = results.copy()
    for name in (
        inputs_by_name().keys() & set(table.columns) & set(results.columns) if wrong.any() else ()
    ):
        cells = table[name].to_numpy(dtype=object)
        restored = wrong & table[name].notna().to_numpy() & (cells != "")
        if restored.any():
            copy[name] = np.where(restored, cells, results[name].to_numpy(dtype=object))
    return copy


def _written_beside(column: str) -> bool:
    """Return whether CSVs written here have this column besides inputs and results."""
    return column in ANSWERED or column.startswith("then_") or column.endswith("_gib")


class CheckedText(io.TextIOBase):
    """The UTF-8 bytes of a stream as text; raises TableError where they are not."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.stream = stream
        self.name = name
        self.read_bytes = 0
        self.begun = False
        self.holds_marks = False
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.header = _Header(name)

    def read(self, _size: int | None = -1) -> str:
        """The text of the next block, whatever the size requested; empty at the end."""
        text, block = "", b"."
        while block and not text:
            start = self.read_bytes - len(self.decoder.getstate()[0])
            block = self.stream.read(BLOCK_BYTES)
            self.read_bytes += len(block)
            try:
                text = self.decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                raise TableError(
                    f"{self.name} is not UTF-8 text (byte {start + error.start}); save it as "
                    f"CSV UTF-8."
                ) from None
            if text and not self.begun:
                text, self.begun = text.lstrip("\ufeff"), True
        self.holds_marks |= "'" in text
        self.header.look(text)
        if "\x00" in text:
            raise TableError(
                f"{self.name} is not text (it contains zero bytes); save it as CSV UTF-8."
            )
        return text


class _Header:
    """The first line of a CSV, whose columns are counted before a table is made for them."""

    def __init__(self, name: str) -> None:
        self.name, self.columns = name, 1
        self.has_begun = self.is_quoted = self.is_over = False

    def look(self, text: str) -> None:
        """Count on in the next block; raises TableError where there are too many columns."""
        text = text if self.has_begun else text.lstrip()
        self.has_begun |= bool(text)
        for mark in () if self.is_over else MARKS.finditer(text):
            if mark[0] == '"':
                self.is_quoted = not self.is_quoted
            elif not self.is_quoted:
                self.columns += mark[0] == ","
                self.is_over = mark[0] != ","
            if self.columns > MOST_COLUMNS:
                raise TableError(f"{self.name} has {TOO_WIDE}")
            if self.is_over:
                return


def read_tables(
    stream: BinaryIO, name: str, rows: int | None, column: str = "model"
) -> Iterator[pd.DataFrame]:
    """The rows of a CSV with a `column` in tables of `rows`, cells as text; raises TableError."""
    text = CheckedText(stream, name)
    try:
        reader = pd.read_csv(
            text,
            header=None,
            dtype=object,
            na_filter=False,
            skipinitialspace=True,
            iterator=True,
            chunksize=rows,
        )
        names = [
            without_mark(str(cell).strip()) or f"unnamed {number}"
            for number, cell in enumerate(reader.get_chunk(1).iloc[0], start=1)
        ]
        if column not in names:
            raise TableError(
                f"{missing_column(name, names, column)}; the first line must name the "
                f"columns, separated by commas."
            )
        table = next(reader, pd.DataFrame(columns=range(len(names)), dtype=object))
        while table is not None:
            table = table.map(without_mark) if text.holds_marks else table
            yield with_layout(table.set_axis(names, axis="columns").reset_index(drop=True))
            table = next(reader, None)
    except pd.errors.EmptyDataError:
        raise TableError(
            f"{name} is empty; give it a first line of column names, 'model' among them, and "
            f"a row per scenario."
        ) from None
    except pd.errors.ParserError as error:
        reason = str(error).strip().rstrip(".").split("C error: ")[-1]
        raise TableError(
            f"{name} is not a CSV table ({reason}); give every row as many cells as the first line."
        ) from None


def missing_column(name: str, names: list[str], column: str) -> str:
    """The first half of a sentence on a table without a column that it must have."""
    return f"{name} has no column '{column}' (its columns: {quote_cell(', '.join(names[:6]))})"


@one_sentence
def read_csv(content: str | bytes, name: str = "the file", column: str = "model") -> pd.DataFrame:
    """A table of cells from CSV text or bytes, with a `column` at least; raises TableError."""
    content = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    table = next(read_tables(io.BytesIO(content), name, MOST_ROWS + 1, column))
    if len(table) > MOST_ROWS:
        raise TableError(
            f"{name} has more rows than are read here, which are at most {MOST_ROWS:,}; split it, "
            f"or run `python -m calc` on it."
        )
    return table


def scenarios_of(table: pd.DataFrame, name: str) -> tuple[pd.DataFrame, list[str]]:
    """The scenario columns of a table of cells, and sentences on what is unknown or has changed."""
    inputs = [name for name in inputs_by_name() if name in table.columns]
    unknown = [
        column
        for column in table.columns
        if column not in GLOSSARY and column not in inputs and not _written_beside(column)
    ]
    complaints = [
        f"{name} has a column '{column}' that is unknown; it was ignored." for column in unknown
    ]
    return table[inputs], complaints
