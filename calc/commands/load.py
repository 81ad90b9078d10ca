"""`python -m calc load`: a service over a day whose load is not one number."""

import argparse
import sys

from calc.catalogs.load import Catalogs
from calc.commands.command import plan_rows
from calc.cost.job import ends_of
from calc.files.csv.writer import write_csv
from calc.files.streams import replacing_stream
from calc.files.traces import curve_of, load_curves, trace_of_file
from calc.plan.crossover import Purchase, crossings, over_volume
from calc.plan.figures import records
from calc.plan.load_day import Load, Trace, load_day
from calc.say.crossover import crossing_sentences
from calc.say.load_day import day_sentences, trace_sentence
from calc.scenarios.problems import TableError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `load`."""
    parser.epilog = "Writes a row for each hour of the day; sentences go to standard error."
    parser.add_argument("plan", metavar="plan.csv", help="CSV of scenarios, one of them a service")
    parser.add_argument(
        "--scenario", default="", help="name of the row (default: the first service)"
    )
    curve = f"{', '.join(load_curves().curves)}, or 24 numbers joined by + (default: office)"
    parser.add_argument("--curve", default="", help=curve)
    trace = (
        "requests as CSV, also gzip: Azure's or BurstGPT's trace, or time, prompt_tokens, "
        "answer_tokens"
    )
    parser.add_argument("--trace", metavar="FILE", help=trace)
    users = "requests in flight at the peak (default: the plan is full then)"
    parser.add_argument("--users", type=float, metavar="NUMBER", help=users)
    growth = "growth of the load a month, in percent"
    parser.add_argument("--growth", type=float, default=0.0, metavar="PERCENT", help=growth)
    most = "instances that there are or may be; says in which month they are full"
    parser.add_argument("--most", type=float, metavar="INSTANCES", help=most)
    volumes = "also write the cost over the tokens of a month, own machines and per token, as CSV"
    parser.add_argument("--volumes", metavar="FILE", help=volumes)
    bought = "USD of one instance that is bought, a line of --volumes over 36 months"
    parser.add_argument("--bought", type=float, metavar="USD", help=bought)
    zero = "run nothing in hours without load"
    parser.add_argument("--to-zero", action="store_true", help=zero)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write the machines of each hour; what they cost goes to standard error; returns 0."""
    if options.curve and options.trace:
        raise TableError("Give either --curve or --trace, not both.")
    if options.users is not None and not options.users > 0:
        raise TableError("--users is a number above 0.")
    if not -100 < options.growth <= 1000:
        raise TableError("--growth is a percentage from above -100 to 1000.")
    rows = records(plan_rows(options.plan, catalogs))
    services = [row for row in rows if not row["problem"] and not ends_of(row)]
    named = [row for row in services if options.scenario in ("", row["scenario"])]
    if not named:
        whose = f"no service '{options.scenario}'" if options.scenario else "no service"
        raise TableError(
            f"{options.plan} has {whose} with an estimate; a run has no load of a day."
        )
    if not named[0]["instance"]:
        raise TableError(f"{named[0]['scenario']} names no instance; name one.")
    trace = trace_of_file(options.trace) if options.trace else None
    load = Load(_hours(trace, options.curve), options.growth / 100, options.users)
    day = load_day(named[0], load, catalogs, options.to_zero, options.most)
    with replacing_stream(options.output) as target:
        write_csv(day.table, target)
    said = [trace_sentence(trace)] if trace else []
    said += day_sentences(day, load, options.most)
    if options.volumes:
        purchase = Purchase(options.bought) if options.bought else None
        table = over_volume(named[0], catalogs, purchase)
        with replacing_stream(options.volumes) as target:
            write_csv(table, target)
        said += crossing_sentences(crossings(table))
    for sentence in said:
        print(sentence, file=sys.stderr)
    return 0


def _hours(trace: Trace | None, curve: str) -> tuple[float, ...]:
    """The 24 loads: of a trace of a day at least, of a curve, else of office hours."""
    if trace and trace.hours:
        return trace.hours
    return curve_of(curve or ("flat" if trace else "office"))
