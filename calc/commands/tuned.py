"""`python -m calc tuned jobs.csv`: repeated runs and the service of their result."""

import argparse

from calc.answers.full_answer import full_answer
from calc.catalogs.load import Catalogs
from calc.commands.command import bounded_number, cells_of, tell, write_table
from calc.plan.fine_tune_then_serve import by_month
from calc.say.fine_tune_then_serve import against_endpoint, plan_money, price_note, serving
from calc.say.problem import problem_text
from calc.scenarios.problems import TableError
from calc.studies.fine_tune_then_serve import at_more_load, services, tuned_plan

WORKS = ("training", "inference")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `tuned`."""
    parser.epilog = (
        "The output is the bill by month; standard error has the daily tokens above which your own "
        "instances are cheaper than an endpoint."
    )
    jobs = "two jobs: one that trains, and one that serves the load of all tuned models"
    parser.add_argument("jobs", metavar="jobs.csv", help=jobs)
    for option, least, most, default, text in (
        ("--models", 1, 1000, 1, "models tuned at the same time"),
        ("--rounds", 0, 31, 1, "runs of each model in a month; 0 means once"),
        ("--months", 1, 120, 12, "months of the service"),
    ):
        parser.add_argument(
            option, type=bounded_number(least, most), metavar="N", default=default, help=text
        )


def main(arguments: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write a row for each month; the service, the cost and the day go to standard error."""
    rows = cells_of(arguments.jobs).to_dict("records")
    answers = [
        full_answer({name: cell for name, cell in row.items() if cell}, catalogs)
        for row in rows[: len(WORKS)]
    ]
    for problem in filter(None, (one.problem for one in answers)):
        raise TableError(f"{arguments.jobs}: {problem}")
    jobs = {one.job["work"]: one for one in answers}
    if len(rows) != len(WORKS) or {*jobs} != {*WORKS}:
        raise TableError(
            f"{arguments.jobs} has no pair of jobs; give it one row that trains and one that "
            f"serves."
        )
    run = {**jobs["training"].rows[0], "have": jobs["training"].job.get("have")}
    job = jobs["inference"].job
    possible = services(job, run, arguments.models, catalogs)
    if obstacle := possible[0].options.obstacle:
        text = problem_text(obstacle, possible[0].options.resolved, catalogs)
        raise TableError(f"{arguments.jobs}: {text}")
    plan = tuned_plan(
        run, possible[0], arguments.models, arguments.rounds, arguments.months, catalogs
    )
    write_table(by_month(plan), arguments.output)
    larger = at_more_load(plan, job, run, arguments.models, catalogs)
    for sentence in (
        plan_money(plan),
        serving(possible, catalogs),
        against_endpoint(plan, larger, catalogs),
        price_note(plan, catalogs),
    ):
        tell(sentence)
    return 0
