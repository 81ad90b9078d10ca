"""`python -m calc` and `python -m calc estimate`: the results of tables of scenarios."""

import argparse

from calc.catalogs.load import Catalogs
from calc.commands.csv_chunks import write_in_chunks
from calc.commands.many_files import CHUNK_ROWS, estimate_files, results_as_written
from calc.engine.pipeline import COLUMNS
from calc.files.parts import is_many
from calc.scenarios.problems import TableError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `estimate`."""
    table = "CSV of scenarios, or a quoted pattern of CSV and Parquet files (default: stdin)"
    parser.add_argument("table", metavar="scenarios.csv", nargs="?", default="-", help=table)
    columns = "write only these results, which is faster"
    parser.add_argument("--columns", dest="results", metavar="NAME,NAME", default="", help=columns)
    cluster = "a Dask scheduler whose workers estimate the files"
    parser.add_argument("--cluster", metavar="ADDRESS", default="", help=cluster)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write the results of every scenario, of one table or of many files; return 0."""
    columns = options.results.split(",") if options.results else None
    unknown = [name for name in columns or () if name not in COLUMNS]
    if unknown:
        raise TableError(
            f"There is no result column '{unknown[0]}'; the first line of results without "
            f"--columns names them."
        )
    if options.cluster or is_many(options.table, options.output):
        return estimate_files(options.table, options.output, columns, options.cluster, catalogs)
    return write_in_chunks(
        options, CHUNK_ROWS, lambda table: results_as_written(table, catalogs, columns), "rows"
    )
