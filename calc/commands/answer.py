"""`python -m calc answer`: what to rent for each job of a table."""

import argparse

from calc.answers.answer_table import answer
from calc.catalogs.load import Catalogs
from calc.commands.csv_chunks import write_in_chunks

CHUNK_JOBS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `answer`."""
    table = "CSV of jobs (default: standard input)"
    parser.add_argument("table", metavar="jobs.csv", nargs="?", default="-", help=table)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write the answers of every job; return 0."""
    return write_in_chunks(options, CHUNK_JOBS, lambda table: answer(table, catalogs), "jobs")
