"""`python -m calc load`: a service whose load is not one number: days, weeks, conversations."""

import argparse
from datetime import datetime, time

from calc.catalogs.load import Catalogs
from calc.commands.command import plan_rows, tell, write_table
from calc.commands.teams import begin_day
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.files.traces import curve_of, load_curves, trace_of_file
from calc.plan.crossover import Purchase, crossings, over_volume
from calc.plan.figures import records
from calc.plan.lending import free_windows, lent_pools
from calc.plan.load_day import Load, LoadDay, Trace, load_day
from calc.plan.sessions import (
    LEAST_TURNS,
    LEAST_VARIATION,
    MOST_TURNS,
    MOST_VARIATION,
    Sessions,
    session_plan,
)
from calc.say.crossover import crossing_sentences
from calc.say.load_day import day_sentences, hours_sentence, lending_sentence, trace_sentence
from calc.say.sessions import session_sentences
from calc.scenarios.problems import TableError
from calc.schedule.team_tables import MOST_POOLS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `load`."""
    parser.epilog = "Writes a row for each hour; sentences go to standard error."
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
    week = "plan a week from Monday on: a curve with its weekend, 168 numbers, or a trace of 7 days"
    parser.add_argument("--week", action="store_true", help=week)
    users = "requests in flight at the peak (default: the plan is full then)"
    parser.add_argument("--users", type=float, metavar="NUMBER", help=users)
    growth = "growth of the load a month, in percent"
    parser.add_argument("--growth", type=float, default=0.0, metavar="PERCENT", help=growth)
    most = "instances that there are or may be; says in which month they are full"
    parser.add_argument("--most", type=float, metavar="INSTANCES", help=most)
    turns = "turns of a conversation (default: the plan's); what the prefix cache still has of them"
    parser.add_argument("--turns", type=int, metavar="TURNS", help=turns)
    think = "mean seconds between an answer and the next prompt (default: the plan's)"
    parser.add_argument("--think", type=float, metavar="SECONDS", help=think)
    variation = "standard deviation of that time over its mean (default: the plan's)"
    parser.add_argument("--think-variation", type=float, metavar="RATIO", help=variation)
    zero = "run nothing in hours without load"
    parser.add_argument("--to-zero", action="store_true", help=zero)
    _add_files(parser)


def _add_files(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of further files that `load` writes."""
    volumes = "also write the cost over the tokens of a month, own machines and per token, as CSV"
    parser.add_argument("--volumes", metavar="FILE", help=volumes)
    bought = "USD of one instance that is bought, a line of --volumes over 36 months"
    parser.add_argument("--bought", type=float, metavar="USD", help=bought)
    lend = "also write the free hours of machines that stay on, as machines of schedule, as CSV"
    parser.add_argument("--lend", metavar="FILE", help=lend)
    begin = "the first day of --lend (default: today)"
    parser.add_argument("--begin", metavar="DAY", default="", help=begin)
    days = f"days of --lend, at most {MOST_POOLS} (default: 7)"
    parser.add_argument("--days", type=int, metavar="DAYS", default=7, help=days)
    caches = "also write hit rate, time to first token and cost over the size of the cache, as CSV"
    parser.add_argument("--caches", metavar="FILE", help=caches)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write the machines of each hour; what they cost goes to standard error; returns 0."""
    _check_options(options)
    row = _service(options, catalogs)
    trace = trace_of_file(options.trace) if options.trace else None
    load = Load(_hours(trace, options.curve, options.week), options.growth / 100, options.users)
    day = load_day(row, load, catalogs, options.to_zero, options.most)
    write_table(day.table, options.output)
    sentences = [trace_sentence(trace)] if trace else []
    sentences += [*day_sentences(day, load, options.most), hours_sentence(row)]
    sentences.append(lending_sentence(day, row))
    if options.lend:
        _lend(day, row, options)
    if options.turns is not None or row["turns"] > 1:
        sentences += _conversations(row, options, catalogs)
    if options.volumes:
        purchase = Purchase(options.bought) if options.bought else None
        table = over_volume(row, catalogs, purchase)
        write_table(table, options.volumes)
        sentences += crossing_sentences(crossings(table))
    tell(*sentences)
    return 0


def _check_options(options: argparse.Namespace) -> None:
    """Raise TableError for options that contradict each other, or out of range."""
    if options.curve and options.trace:
        raise TableError("Give either --curve or --trace, not both.")
    if options.users is not None and not options.users > 0:
        raise TableError("--users is a number above 0.")
    if not -100 < options.growth <= 1000:
        raise TableError("--growth is a percentage from above -100 to 1000.")


def _service(options: argparse.Namespace, catalogs: Catalogs) -> Row:
    """The service of the plan that the options name, else its first. Raises TableError."""
    rows = records(plan_rows(options.plan, catalogs))
    services = [row for row in rows if not row["problem"] and not ends_of(row)]
    row = next((row for row in services if options.scenario in ("", row["scenario"])), None)
    if row is None:
        whose = f"no service '{options.scenario}'" if options.scenario else "no service"
        raise TableError(
            f"{options.plan} has {whose} with an estimate; a run has no load of a day."
        )
    if not row["instance"]:
        raise TableError(f"{row['scenario']} names no instance; name one.")
    return row


def _hours(trace: Trace | None, curve: str, of_week: bool) -> tuple[float, ...]:
    """The load of each hour: of a trace that is long enough, of a curve, or of office hours."""
    if trace and (trace.week if of_week else trace.hours):
        return trace.week if of_week else trace.hours
    if trace and trace.hours:
        return trace.hours * 7
    return curve_of(curve or ("flat" if trace else "office"), of_week)


def _lend(day: LoadDay, row: Row, options: argparse.Namespace) -> None:
    """Write the free hours as machines of the schedule."""
    if not 1 <= options.days <= MOST_POOLS:
        raise TableError(f"--days is a number from 1 to {MOST_POOLS}.")
    begins = datetime.combine(begin_day(options.begin), time())
    pools = lent_pools(row, free_windows(day), len(day.table), begins, options.days)
    write_table(pools, options.lend)


def _conversations(row: Row, options: argparse.Namespace, catalogs: Catalogs) -> list[str]:
    """Write sentences on conversations of several turns, and their table if it is requested.

    What the options leave open is the plan's own.
    """
    turns = int(row["turns"]) if options.turns is None else options.turns
    variation = options.think_variation
    if variation is None:
        variation = float(row["think_variation_ratio"])
    if not LEAST_TURNS <= turns <= MOST_TURNS:
        raise TableError(f"--turns is a number from {LEAST_TURNS} to {MOST_TURNS}.")
    think = float(row["think_seconds"]) if options.think is None else options.think
    if not think > 0 or not LEAST_VARIATION <= variation <= MOST_VARIATION:
        raise TableError(
            f"--think is a number above 0, and --think-variation one from {LEAST_VARIATION:g} to "
            f"{MOST_VARIATION:g}."
        )
    sessions = Sessions(turns, think, variation)
    plan = session_plan(row, sessions, catalogs)
    if options.caches:
        write_table(plan.by_pool, options.caches)
    return session_sentences(plan)
