"""`python -m calc neuron`: plans on Trainium and Inferentia, at published rates alone."""

import argparse
import sys

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.commands.command import plan_rows
from calc.files.csv.writer import write_csv
from calc.files.streams import replacing_stream
from calc.plan.figures import records
from calc.plan.neuron import COLUMNS, neuron_rows
from calc.say.neuron import PORTING, neuron_sentences


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `neuron`."""
    parser.add_argument("plan", metavar="plan.csv", help="CSV of scenarios")
    parser.epilog = (
        "Writes a row for each plan, instance type and published rate; sentences go to standard "
        "error."
    )


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write what is known of each plan there; returns 0."""
    rows = records(plan_rows(options.plan, catalogs))
    tables = []
    for row in rows:
        if row["problem"]:
            print(f"{row['scenario']}: {row['problem']}", file=sys.stderr)
            continue
        table = neuron_rows(row)
        tables.append(table.assign(scenario=row["scenario"])[["scenario", *COLUMNS]])
        for sentence in neuron_sentences(table):
            print(f"{row['scenario']}: {sentence}", file=sys.stderr)
    print(PORTING, file=sys.stderr)
    with replacing_stream(options.output) as target:
        write_csv(pd.concat(tables) if tables else pd.DataFrame(columns=["scenario"]), target)
    return 0
