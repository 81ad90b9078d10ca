"""A file of a bill: CSV or Parquet, plain or gzip; a million lines in seconds.

Only the columns that are needed are read, in batches, and each batch is summed at once.
"""

import csv
import gzip
import io
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

import pandas as pd

from calc.files.bills.formats import TYPED, BillForm, bill_form, tag_of
from calc.files.bills.lines import lines_of
from calc.files.bills.small import cost_explorer_lines, is_cost_explorer, typed_lines
from calc.files.csv.tables import read_tables
from calc.files.door import one_sentence
from calc.files.streams import read
from calc.plan.bill_lines import BillLines, month_end, sum_lines
from calc.scenarios.problems import TableError, quote_cell

PARQUET, GZIP, ZIP = b"PAR1", b"\x1f\x8b", b"PK"
BATCH_ROWS, BLOCK_BYTES = 2**17, 2**24
LONGEST_HEADER_BYTES = 2**18
MOST_SMALL_BYTES = 2**26  # of a typed bill or Cost Explorer's CSV, unpacked
LONGEST_REASON = 200  # characters of what the parser says
NO_VALUE = ("", "NULL", "null", "NaN", "nan", "None")
BILLING_PERIODS = (
    ("bill_billing_period_start_date", "bill_billing_period_end_date"),
    ("bill/BillingPeriodStartDate", "bill/BillingPeriodEndDate"),
    ("BillingPeriodStart", "BillingPeriodEnd"),
)
NUMBERS = (  # fields that hold numbers
    "quantity",
    "cost",
    "net",
    "list_cost",
    "reserved_cost",
    "unused_upfront",
    "unused_recurring",
    "plan_cost",
    "committed",
    "commitment_used",
)


def bill_of_file(path: str) -> BillLines:
    """The lines of a file, or of standard input; raises TableError or OSError."""
    with read(path) as stream:
        return bill_of(stream.read() if path == "-" else stream, path)


@one_sentence
def bill_of(source: bytes | BinaryIO, name: str) -> BillLines:
    """The lines of a bill's bytes or stream; raises TableError."""
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    start = stream.read(len(PARQUET))
    stream.seek(0)
    if start.startswith(ZIP):
        raise TableError(f"{name} is a ZIP archive; unpack it, and give the file that is in it.")
    try:
        if start == PARQUET:
            return _large(_parquet_batches(stream, name), name)
        is_packed = start.startswith(GZIP)
        header = _header(stream, is_packed, name)
        if is_cost_explorer(header):
            return cost_explorer_lines(_whole(stream, is_packed, name), name)
        form = bill_form(header, name)
        if form.id == TYPED:
            content = io.BytesIO(_whole(stream, is_packed, name))
            table = next(read_tables(content, name, None, form.fields["cost"]))
            return typed_lines(table, form, name)
        return _large(_csv_batches(stream, is_packed, header, form, name), name)
    except (gzip.BadGzipFile, EOFError, OSError) as error:
        raise TableError(
            f"{name} cannot be unpacked ({quote_cell(error)}); it may be cut off: fetch it again."
        ) from None


Batches = Iterator[tuple[pd.DataFrame, BillForm]]


def _large(batches: Batches, name: str) -> BillLines:
    """The lines of a report or an export, batch by batch."""
    parts, rows_read, format_name = [], 0, ""
    starts, ends = "", ""
    for rows, form in batches:
        format_name = form.name
        parts.append(lines_of(rows, form, name))
        rows_read += len(rows)
        first, last = _billing_period(rows)
        starts = min(filter(None, (starts, first)), default="")
        ends = max(ends, last)
    if not rows_read:
        raise TableError(f"{name} has a first line and no other; export a period that has costs.")
    lines = sum_lines(pd.concat(parts, ignore_index=True))
    return BillLines(lines, (format_name,), rows_read, starts or str(lines["day"].min()), ends)


def _billing_period(rows: pd.DataFrame) -> tuple[str, str]:
    """The first and the last day of the billing periods of some rows, empty where not said."""
    for start, end in BILLING_PERIODS:
        if start in rows and end in rows and rows[start].notna().any():
            first = min(str(value)[:10] for value in rows[start].dropna().unique())
            last = max(str(value)[:7] for value in rows[start].dropna().unique())
            return first, month_end(f"{last}-01")
    return "", ""


def _header(stream: BinaryIO, is_packed: bool, name: str) -> list[str]:
    """The names of the first line of a CSV; raises TableError."""
    opened: Any = gzip.GzipFile(fileobj=stream) if is_packed else stream
    line = opened.readline(LONGEST_HEADER_BYTES)
    stream.seek(0)
    try:
        text = line.decode("utf-8-sig")
        return [cell.strip() for cell in next(csv.reader([text]), [])]
    except (UnicodeDecodeError, csv.Error, ValueError):
        raise TableError(
            f"{name} is neither CSV in UTF-8 nor Parquet; give the file as AWS exports it."
        ) from None


def _whole(stream: BinaryIO, is_packed: bool, name: str) -> bytes:
    """All bytes of a small file, unpacked; raises TableError."""
    opened: Any = gzip.GzipFile(fileobj=stream) if is_packed else stream
    content = opened.read(MOST_SMALL_BYTES + 1)
    if len(content) > MOST_SMALL_BYTES:
        raise TableError(f"{name} is larger than 64 MiB once unpacked; split it by month.")
    return content


def _csv_batches(
    stream: BinaryIO, is_packed: bool, header: list[str], form: BillForm, name: str
) -> Batches:
    """The needed columns of a CSV, in batches."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    wanted = _columns_to_read(header, form)
    if len(set(wanted)) < len([column for column in header if column in wanted]):
        raise TableError(f"{name} names a column twice; remove one of the two.")
    numbers = {form.fields[field] for field in NUMBERS if field in form.fields}
    types = {column: pa.float64() if column in numbers else pa.string() for column in wanted}
    try:
        with arrow_csv.open_csv(
            pa.input_stream(_native(stream), compression="gzip" if is_packed else None),
            read_options=arrow_csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=wanted,
                column_types=types,
                null_values=list(NO_VALUE),
                strings_can_be_null=True,
            ),
        ) as reader:
            for batch in reader:
                yield batch.to_pandas(), form
    except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
        raise TableError(_arrow_sentence(name, error)) from None


def _native(stream: BinaryIO) -> Any:
    """The file as Arrow reads it by itself.

    Arrow reads ahead in threads. One that calls Python while the program ends aborts it.
    """
    import pyarrow as pa

    path = getattr(stream, "name", None)
    return pa.OSFile(path) if isinstance(path, str) else pa.BufferReader(stream.read())


def _parquet_batches(stream: BinaryIO, name: str) -> Batches:
    """The needed columns of a Parquet file, in batches; maps of tags as JSON texts."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(stream)
        header = file.schema_arrow.names
        form = bill_form(header, name)
        if form.id == TYPED:
            raise TableError(f"{name}: a bill of one's own is read as CSV; save it as CSV.")
        numbers = {form.fields[field] for field in NUMBERS if field in form.fields}
        for batch in file.iter_batches(
            BATCH_ROWS, columns=_columns_to_read(header, form), use_threads=False
        ):
            yield _plain(batch, numbers, name), form
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError) as error:
        raise TableError(_arrow_sentence(name, error)) from None


def _plain(batch: Any, numbers: set[str], name: str) -> pd.DataFrame:
    """A batch as texts and numbers; raises TableError."""
    import pyarrow as pa

    columns = {}
    for column in batch.schema.names:
        values = batch.column(column)
        if column in numbers:
            columns[column] = _numbers(values.to_pandas(), column, name)
            continue
        if pa.types.is_nested(values.type):
            columns[column] = _nested_texts(values)
            continue
        if not pa.types.is_string(values.type):
            values = values.cast(pa.string())
        columns[column] = values.to_pandas()
    return pd.DataFrame(columns)


def _numbers(values: pd.Series, column: str, name: str) -> pd.Series:
    """Numbers, also of a column that holds them as texts; raises TableError."""
    said = values.where(~values.astype(object).isin(NO_VALUE))
    numbers = pd.to_numeric(said, errors="coerce")
    if (wrong := said[numbers.isna() & said.notna()]).size:
        raise TableError(
            f"{name}: '{quote_cell(wrong.iloc[0])}' in {column} is not a number; export the file "
            f"again."
        )
    return numbers


def _nested_texts(values: Any) -> pd.Series:
    """Maps and structs as JSON texts of our tags alone, which keeps distinct ones few."""
    texts = []
    for value in values.to_pylist():
        pairs = value.items() if isinstance(value, dict) else value or ()
        texts.append(json.dumps({key: item for key, item in pairs if tag_of(str(key))}))
    return pd.Series(texts, dtype=object)


def _columns_to_read(header: list[str], form: BillForm) -> list[str]:
    """The columns of the format, and those of the file that say the period of a bill."""
    periods = [column for pair in BILLING_PERIODS for column in pair if column in header]
    return list(dict.fromkeys([*form.columns, *periods]))


def _arrow_sentence(name: str, error: Exception) -> str:
    """One sentence on what could not be read."""
    reason = " ".join(str(error).split())[:LONGEST_REASON].rstrip(".")
    return f"{name} cannot be read ({reason}); export it again."
