"""`python -m calc actual`: compares an actual bill with the plans."""

import argparse
from datetime import date

import pandas as pd

from calc.catalogs.load import Catalogs, with_readings
from calc.commands.command import (
    cells_of,
    iso_day,
    plan_rows,
    tell,
    with_days,
    write_result,
    write_table,
)
from calc.files.bills.bill_reader import bill_of_file
from calc.files.bills.small import typed_amount
from calc.files.budgets import budgets_of_file
from calc.files.calibration.entries import calibration_text, entries_of_readings
from calc.files.calibration.of_bill import readings_of_bill
from calc.files.streams import replacing_stream
from calc.plan.actual import Actual, actual, runway, runway_of_budget, with_attempts
from calc.plan.bill_lines import BillLines, joined_bills, within
from calc.plan.plan_bill import plan_bill, ticked_rows
from calc.say.actual import budget_sentence, report
from calc.scenarios.problems import TableError, quote_cell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `actual`."""
    parser.epilog = (
        "Lines belong to a plan by the tags plan, team and project, else by instance type and "
        "region. Nothing leaves this machine."
    )
    bill = (
        "an AWS Cost and Usage Report (2.0 or legacy), a FOCUS export, a CSV of Cost Explorer, or "
        "a CSV with usd and hours; CSV or Parquet, also gzip"
    )
    parser.add_argument("bills", metavar="BILL", nargs="*", help=bill)
    plans = "CSV of the planned scenarios"
    parser.add_argument("--plans", metavar="plans.csv", required=True, help=plans)
    parser.add_argument("--usd", type=float, metavar="USD", help="dollars, instead of a file")
    hours = "hours of all instances together, beside --usd"
    parser.add_argument("--hours", type=float, metavar="HOURS", default=0.0, help=hours)
    parser.add_argument("--plan", metavar="NAME", default="", help="the plan of --usd")
    parser.add_argument("--from", metavar="DAY", dest="first_day", default="", help="first day")
    parser.add_argument("--to", metavar="DAY", dest="last_day", default="", help="last day")
    assign = (
        "the plan of lines that were asked about, as in 'p5.48xlarge, us-east-1=chat'; nothing "
        "behind the = where they belong to no plan"
    )
    parser.add_argument("--assign", metavar="LINES=PLAN", action="append", default=[], help=assign)
    budget = "budget in USD that began with the bill; says when it ends at this rate"
    parser.add_argument("--budget", type=float, metavar="USD", help=budget)
    budgets = "YAML of the teams' budgets; says when each ends at this rate"
    parser.add_argument("--budgets", metavar="FILE", help=budgets)
    table = "also write a row for each plan as CSV"
    parser.add_argument("--table", metavar="FILE", help=table)
    attempts = "also write the plans with the attempts that the bill shows, for later estimates"
    parser.add_argument("--attempts", metavar="FILE", help=attempts)
    calibration = (
        "also write what the hours of training runs say of their time, if they took the attempts "
        "of the plan; as catalogs/own/calibration.yaml it corrects later estimates"
    )
    parser.add_argument("--calibration", metavar="FILE", help=calibration)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write what was paid, what was planned, and why they differ. Return 0."""
    today = date.today()
    plans = plan_bill(plan_rows(options.plans, catalogs))
    refusals = plans[plans["problem"] != ""].itertuples()
    tell(*(f"{options.plans}: {row.scenario}: {row.problem}" for row in refusals))
    plans = ticked_rows(with_days(plans, options.plans))
    bill = within(_bill(options), iso_day(options.first_day), iso_day(options.last_day))
    result = actual(bill, plans, catalogs, today, _read_assignments(options.assign))
    days_left = runway(result, options.budget) if options.budget is not None else None
    if options.table:
        write_table(result.table, options.table)
    if options.attempts:
        write_table(_with_attempts(options.plans, plans, result), options.attempts)
    if options.calibration:
        _write_calibration(options, plans, result, catalogs)
    sentences = report(bill, result, days_left)
    for budget in budgets_of_file(options.budgets) if options.budgets else ():
        if lasting := runway_of_budget(result, plans, budget):
            sentences.append(budget_sentence(budget, lasting, result.first_day))
    return write_result(options, "".join(f"{sentence}\n" for sentence in sentences))


def _with_attempts(path: str, plans: pd.DataFrame, result: Actual) -> pd.DataFrame:
    """The cells of the plans with the attempts that the bill shows."""
    cells = cells_of(path)
    seen = with_attempts(plans, result)["attempts"]
    attempts = cells["attempts"] if "attempts" in cells else pd.Series("", index=cells.index)
    attempts = attempts.astype(object)
    attempts.loc[seen.index] = seen
    return cells.assign(attempts=attempts)


def _write_calibration(
    options: argparse.Namespace, plans: pd.DataFrame, result: Actual, catalogs: Catalogs
) -> None:
    """Write the readings of the bill, if it has any; what is left out goes to standard error."""
    plain_rows = plan_rows(options.plans, with_readings(catalogs, {})).loc[plans.index]
    readings, left_out = readings_of_bill(result, plans, plain_rows)
    tell(*(left_out or ["The bill says nothing of the time of runs."] * (not readings)))
    if readings:
        with replacing_stream(options.calibration) as target:
            target.write(calibration_text(entries_of_readings(readings)))


def _bill(options: argparse.Namespace) -> BillLines:
    """The files, or the typed dollars and hours. Raises TableError."""
    if options.bills and options.usd is not None:
        raise TableError("Give either files of a bill or --usd, not both.")
    if options.usd is not None:
        return typed_amount(options.usd, options.hours, options.plan)
    if not options.bills:
        raise TableError("actual needs a bill: name its files, or give --usd and --hours.")
    return joined_bills(bill_of_file(path) for path in options.bills)


def _read_assignments(words: list[str]) -> dict[str, str]:
    """Plan by the label of a group of lines. Raises TableError."""
    for word in words:
        if "=" not in word:
            raise TableError(
                f"--assign '{quote_cell(word)}' names no plan; write it as 'p5.48xlarge, "
                f"us-east-1=chat'."
            )
    parts = [word.rpartition("=") for word in words]
    return {label.strip(): plan.strip() for label, _, plan in parts}
