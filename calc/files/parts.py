"""A table in many files, CSV or Parquet, and its results, a file for each part of it."""

import os
from collections.abc import Iterable, Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.engine.pipeline import COLUMNS, WORDS
from calc.files.csv.tables import MOST_COLUMNS, TOO_WIDE, missing_column, read_tables
from calc.files.csv.writer import write_csv
from calc.files.streams import read, replacing_stream
from calc.scenarios.problems import TableError

PARQUET, CSV = ".parquet", ".csv"
PART_ROWS = 2**20  # of a Parquet file, as many as Arrow writes into a row group


class Part(NamedTuple):
    """A CSV, a Parquet file, or some row groups of one; and the file of its results."""

    source: str
    target: str
    groups: tuple[int, ...] = ()


def is_many(source: str, target: str) -> bool:
    """Return whether a table is named that stands in several files, or goes into a folder."""
    return (
        source.endswith(PARQUET)
        or target.endswith("/")
        or Path(target).is_dir()
        or (has_magic(source) and not Path(source).exists())
    )


def parts_of_files(pattern: str, folder: str) -> list[Part]:
    """The parts of every file, in order, for a folder that is new or empty; raises TableError."""
    paths = [
        Path(path).resolve()
        for path in sorted(glob(pattern, recursive=True))
        if not Path(path).is_dir()
    ]
    if not paths:
        raise TableError(
            f"{pattern}: no file matches; name CSV or Parquet files, the pattern in quotes."
        )
    if other := next((path for path in paths if path.suffix not in (PARQUET, CSV)), None):
        raise TableError(
            f"{other} is neither {CSV} nor {PARQUET}; choose a pattern that only tables match."
        )
    results = Path(folder).resolve()
    if folder == "-" or (results.exists() and not results.is_dir()):
        raise TableError(
            f"The results of many files go into a folder, and {folder} is none; name one: -o "
            f"results/"
        )
    if results.exists() and any(results.iterdir()):
        raise TableError(
            f"{folder} is not empty; name a new folder, so that no earlier result is taken "
            f"for one of these."
        )
    root = os.path.commonpath([path.parent for path in paths])
    parts = [
        part for path in paths for part in _parts_of_file(path, results / path.relative_to(root))
    ]
    for target in {Path(part.target).parent for part in parts}:
        target.mkdir(parents=True, exist_ok=True)
    return parts


def _parts_of_file(path: Path, target: Path) -> list[Part]:
    """One part; a folder of them where a Parquet file has more rows than one part."""
    if path.suffix == CSV:
        return [Part(str(path), str(target))]
    metadata = _parquet_file(str(path)).metadata
    rows = np.array(
        [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)], dtype=int
    )
    number = (np.cumsum(rows) - rows) // PART_ROWS
    groups = [tuple(np.flatnonzero(number == part).tolist()) for part in np.unique(number)]
    if len(groups) < 2:
        return [Part(str(path), str(target))]
    return [
        Part(str(path), str(target / f"{part:05}{PARQUET}"), of_part)
        for part, of_part in enumerate(groups)
    ]


def tables_of(part: Part, rows: int) -> Iterator[pd.DataFrame]:
    """The rows of a part in tables of `rows` at most, one at least; raises TableError."""
    if part.source.endswith(PARQUET):
        yield from _parquet_tables(part, rows)
        return
    try:
        with read(part.source) as source:
            yield from read_tables(source, part.source, rows)
    except OSError as error:
        raise _unreadable(part.source, error) from None


def _parquet_tables(part: Part, rows: int) -> Iterator[pd.DataFrame]:
    """Yield the tables of a Parquet file, with so many rows at most."""
    file = _parquet_file(part.source)
    names = file.schema_arrow.names
    batches = file.iter_batches(rows, row_groups=list(part.groups) or None)
    if len(names) > MOST_COLUMNS:
        raise TableError(f"{part.source} has {TOO_WIDE}")
    if "model" not in names:
        raise TableError(
            f"{missing_column(part.source, names, 'model')}; rename the one that names the models."
        )
    batch = file.schema_arrow.empty_table()
    while batch is not None:
        try:
            following = next(batches, None)
        except (OSError, ValueError) as error:
            raise _unreadable(part.source, error) from None
        if batch.num_rows or following is None:
            yield batch.to_pandas()
        batch = following


def _parquet_file(path: str) -> Any:
    """Open a Parquet file; TableError where it cannot be read."""
    from pyarrow.parquet import ParquetFile

    try:
        return ParquetFile(path)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: str, error: Exception) -> TableError:
    reason = getattr(error, "strerror", None) or str(error).splitlines()[0].rstrip(".")
    return TableError(f"{path} cannot be read ({reason}); check the file.")


def write_part(part: Part, tables: Iterable[pd.DataFrame]) -> None:
    """Write the results of a part, in its format; the file is there completely or not at all."""
    if part.target.endswith(PARQUET):
        _write_parquet(part, tables)
        return
    with replacing_stream(part.target) as target:
        for number, table in enumerate(tables):
            write_csv(table, target, header=not number)


def _write_parquet(part: Part, tables: Iterable[pd.DataFrame]) -> None:
    """Write numbers as doubles and words as text; other cells are null, with a problem."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    types = {name: pa.string() if name in WORDS else pa.float64() for name in COLUMNS}
    further = _parquet_file(part.source).schema_arrow
    writer = None
    with replacing_stream(part.target, binary=True) as target:
        try:
            for table in tables:
                schema = pa.schema(
                    [(name, types.get(name) or further.field(name).type) for name in table]
                )
                writer = writer or ParquetWriter(target, schema, compression="zstd")
                mixed = {
                    name: table[name]
                    for name in types
                    if name in table and table[name].dtype == object
                }
                plain = {
                    name: cells.astype(str)
                    if name in WORDS
                    else pd.to_numeric(cells, errors="coerce")
                    for name, cells in mixed.items()
                }
                writer.write_table(
                    pa.Table.from_pandas(table.assign(**plain), schema, preserve_index=False)
                )
        finally:
            if writer:
                writer.close()
