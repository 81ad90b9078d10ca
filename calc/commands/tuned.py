"""`python -m calc tuned jobs.csv`: repeated runs and the service of their result."""

import argparse
import sys

from calc.catalogs.load import Catalogs
from calc.commands.command import cells_of
from calc.files.csv.writer import write_csv
from calc.files.streams import written
from calc.plan.tuned import by_month
from calc.scenarios.problems import TableError
from calc.search.options import options
from calc.search.tuned import at_more_load, services, tuned_plan
from calc.search.tuned_words import against_endpoint, plan_money, price_note, serving

WORKS = ("training", "inference")


def main(arguments: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write a row for each month; the service, the money and the day go to standard error."""
    rows = cells_of(arguments.jobs).to_dict("records")
    answers = [
        options({name: cell for name, cell in row.items() if cell}, catalogs)
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
    run, job = (
        {**jobs["training"].rows[0], "have": jobs["training"].job.get("have")},
        jobs["inference"].job,
    )
    possible = services(job, run, arguments.models, catalogs)
    if possible[0].options.problem:
        raise TableError(f"{arguments.jobs}: {possible[0].options.problem}")
    plan = tuned_plan(
        run, possible[0], arguments.models, arguments.rounds, arguments.months, catalogs
    )
    with written(arguments.output) as target:
        write_csv(by_month(plan), target)
    larger = at_more_load(plan, job, run, arguments.models, catalogs)
    for sentence in (
        plan_money(plan),
        serving(possible, catalogs),
        against_endpoint(plan, larger, catalogs),
        price_note(plan, catalogs),
    ):
        print(sentence, file=sys.stderr)
    return 0
