"""`python -m calc launch`: the files that start a scenario, for one that runs and fits."""

import argparse

from calc.catalogs.load import Catalogs
from calc.commands.command import OVER_THE_LIMIT, plan_rows, tell
from calc.files.launch.kit import comment, kits, not_to_launch
from calc.files.launch_files import files_of, with_warning, write_folder
from calc.plan.figures import records
from calc.scenarios.problems import TableError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `launch`."""
    parser.epilog = "Exit status 3: the plan does not run or fit."
    parser.add_argument("plan", metavar="plan.csv", help="CSV of scenarios")
    parser.add_argument("--scenario", default="", help="name of the row (default: the first)")
    parser.add_argument(
        "--tool", default="", help="the tool (default: the one that loses the least of the plan)"
    )
    parser.add_argument(
        "--anyway",
        action="store_true",
        help="also write a plan that does not run or fit, with a warning on top",
    )


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write the files of the named row, or of the first, into a folder."""
    if options.output == "-":
        raise TableError("launch writes several files; name their folder with -o.")
    rows = plan_rows(options.plan, catalogs)
    selection = rows[rows["scenario"] == options.scenario] if options.scenario else rows.head(1)
    if not len(selection):
        raise TableError(
            f"{options.plan} has no scenario '{options.scenario}'; it has "
            f"{', '.join(rows['scenario'].head(6))}."
        )
    row = records(selection)[0]
    if row["problem"]:
        raise TableError(f"{options.plan}, {row['scenario']}: {row['problem']}")
    by_tool = {kit.id: kit for kit in kits(row, catalogs, row["market"])}
    if not by_tool or (options.tool and options.tool not in by_tool):
        cure = (
            f"use {' or '.join(by_tool)}"
            if by_tool
            else "name software and sharding that a tool of the launch kit runs"
        )
        raise TableError(f"{options.plan}, {row['scenario']}: no launch kit runs it so; {cure}.")
    kit = by_tool[options.tool or next(iter(by_tool))]
    warning = not_to_launch(row)
    if warning and not options.anyway:
        tell(
            f"{row['scenario'] or options.plan}: {warning} Nothing was written; change the "
            f"plan, or add --anyway.",
        )
        return OVER_THE_LIMIT
    files = files_of(kit, row, row["market"])
    write_folder(with_warning(files, warning) if warning else files, options.output)
    tell(*(comment(difference, kit.name) for difference in kit.differences))
    return 0
