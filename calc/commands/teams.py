"""`python -m calc teams`: what plans cost by team, and what they take of the teams' budgets."""

import argparse
from datetime import date

from calc.catalogs.load import Catalogs
from calc.commands.command import iso_day, plan_rows, tell, with_days, write_table
from calc.files.budgets import budgets_of_file, own_budgets
from calc.plan.budgets import Budget, budget_use, by_team, with_gpu_hours
from calc.plan.plan_bill import plan_bill, ticked_rows
from calc.say.budgets import use_sentence


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `teams`."""
    parser.add_argument("plan", metavar="plan.csv", help="CSV of scenarios with a column team")
    add_budgets(parser)


def add_budgets(parser: argparse.ArgumentParser) -> None:
    """Add the file of budgets and the day on which the plans begin."""
    budgets = "YAML of budgets (default: budgets.yaml of your own catalogs)"
    parser.add_argument("--budgets", metavar="FILE", help=budgets)
    begin = "the day on which plans without a day in column starts begin (default: today)"
    parser.add_argument("--begin", metavar="DAY", default="", help=begin)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write a row for each team; each budget goes to standard error; returns 0."""
    plans = with_days(plan_bill(plan_rows(options.plan, catalogs)), options.plan)
    bill = with_gpu_hours(ticked_rows(plans), catalogs)
    write_table(by_team(bill), options.output)
    uses = budget_use(bill, read_budgets(options.budgets), begin_day(options.begin))
    tell(*map(use_sentence, uses))
    return 0


def read_budgets(path: str | None) -> list[Budget]:
    """Read the budgets of a file, or your own. Raises CatalogError or OSError."""
    if path:
        return budgets_of_file(path)
    budgets, left_out = own_budgets()
    tell(*left_out)
    return budgets


def begin_day(word: str) -> date:
    """The day on which plans begin. Raises TableError."""
    day = iso_day(word, "--begin ")
    return date.fromisoformat(day) if day else date.today()
