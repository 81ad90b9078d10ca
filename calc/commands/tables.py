"""`python -m calc` and `python -m calc answer`: results of a CSV of any length, in chunks."""

import argparse
import sys
from collections.abc import Callable
from time import monotonic

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.commands.command import Command
from calc.engine.pipeline import estimate
from calc.files.csv.tables import as_written, counted_since, read_tables
from calc.files.csv.writer import write_csv
from calc.files.streams import read, written
from calc.search.answer import answer

CHUNK_ROWS, CHUNK_JOBS = 60_000, 20
TERMINAL_SECONDS, QUIET_SECONDS = 1, 10  # between two reports of progress, on a terminal and elsewhere


def _estimate(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write the results of every scenario."""
    return _stream(options, CHUNK_ROWS, lambda table: as_written(estimate(table, catalogs), table), "rows")


def _answer(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write what to rent for every job."""
    return _stream(options, CHUNK_JOBS, lambda table: answer(table, catalogs), "jobs")


def _stream(options: argparse.Namespace, size: int, results_of: Callable[[pd.DataFrame], pd.DataFrame], unit: str) -> int:
    """Write the results table by table; report progress on standard error."""
    name = "standard input" if options.table == "-" else options.table
    rows, begun, reported, terminal = 0, monotonic(), 0.0, sys.stderr.isatty()
    with read(options.table) as source, written(options.output) as target:
        try:
            for table in read_tables(source, name, size):
                for sentence in counted_since(table, name) if not rows else ():
                    print(sentence, file=sys.stderr)
                write_csv(results_of(table), target, header=not rows)
                target.flush()
                rows, seconds = rows + len(table), monotonic() - begun
                if seconds - reported >= (TERMINAL_SECONDS if terminal else QUIET_SECONDS):
                    reported = seconds
                    progress = f"{rows:,} {unit}, {rows / seconds:,.0f} per second"
                    print(f"\r{progress:<50}" if terminal else progress, end="" if terminal else "\n", file=sys.stderr, flush=True)
        finally:
            if reported and terminal:
                print(file=sys.stderr)
    return 0


def _table(name: str) -> tuple:
    return (("table", {"metavar": name, "nargs": "?", "default": "-", "help": f"CSV of {name}; - or none: standard input"}),)


ESTIMATE = Command("Estimate GPU memory and AWS cost of every scenario of a CSV.", _table("scenarios"), _estimate)
ANSWER = Command("Answer every job of a CSV: what to rent on AWS.", _table("jobs"), _answer)
