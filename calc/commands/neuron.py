"""`python -m calc neuron`: plans on Trainium and Inferentia, at published rates alone."""

import argparse

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.commands.command import plan_rows, tell, write_table
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
            tell(f"{row['scenario']}: {row['problem']}")
            continue
        table = neuron_rows(row)
        tables.append(table.assign(scenario=row["scenario"])[["scenario", *COLUMNS]])
        tell(*(f"{row['scenario']}: {sentence}" for sentence in neuron_sentences(table)))
    tell(PORTING)
    write_table(pd.concat(tables) if tables else pd.DataFrame(columns=["scenario"]), options.output)
    return 0
