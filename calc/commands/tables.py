"""`python -m calc` and `python -m calc answer`: results of a CSV of any length, in chunks."""

import argparse
import sys
from collections.abc import Callable

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.commands.many_files import CHUNK_ROWS, estimate_files, estimated_as_written
from calc.commands.progress import Progress
from calc.engine.pipeline import COLUMNS
from calc.files.csv.tables import counted_since, read_tables
from calc.files.csv.writer import write_csv
from calc.files.parts import is_many
from calc.files.streams import read, written
from calc.scenarios.problems import TableError
from calc.search.answer import answer

CHUNK_JOBS = 20


def write_estimates(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write the results of every scenario, of one table or of many files."""
    columns = options.results.split(",") if options.results else None
    if unknown := next((name for name in columns or () if name not in COLUMNS), ""):
        raise TableError(
            f"There is no result column '{unknown}'; the first line of results without "
            f"--columns names them."
        )
    if options.cluster or is_many(options.table, options.output):
        return estimate_files(options.table, options.output, columns, options.cluster, catalogs)
    return _stream(
        options, CHUNK_ROWS, lambda table: estimated_as_written(table, catalogs, columns), "rows"
    )


def write_answers(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write what to rent for every job."""
    return _stream(options, CHUNK_JOBS, lambda table: answer(table, catalogs), "jobs")


def _stream(
    options: argparse.Namespace,
    size: int,
    results_of: Callable[[pd.DataFrame], pd.DataFrame],
    unit: str,
) -> int:
    """Write the results table by table; report progress on standard error."""
    name = "standard input" if options.table == "-" else options.table
    progress = Progress(unit)
    with read(options.table) as source, written(options.output) as target:
        try:
            for table in read_tables(source, name, size):
                for sentence in counted_since(table, name) if not progress.rows else ():
                    print(sentence, file=sys.stderr)
                write_csv(results_of(table), target, header=not progress.rows)
                target.flush()
                progress.add(len(table))
        finally:
            progress.close()
    return 0
