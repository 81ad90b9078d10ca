"""Writing the results of a CSV of any length, in chunks."""

import argparse
from collections.abc import Callable

import pandas as pd

from calc.commands.progress import Progress
from calc.files.csv.tables import read_tables
from calc.files.csv.writer import write_csv
from calc.files.streams import read, replacing_stream


def write_in_chunks(
    options: argparse.Namespace,
    rows_each: int,
    results_of: Callable[[pd.DataFrame], pd.DataFrame],
    unit: str,
) -> int:
    """Write the results of each chunk of a table; report progress on standard error; return 0."""
    name = "standard input" if options.table == "-" else options.table
    progress = Progress(unit)
    with read(options.table) as source, replacing_stream(options.output) as target:
        try:
            for table in read_tables(source, name, rows_each):
                write_csv(results_of(table), target, header=not progress.rows)
                target.flush()
                progress.add(len(table))
        finally:
            progress.close()
    return 0
