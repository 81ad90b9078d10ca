"""`python -m calc gate`: whether every scenario of a plan fits and keeps its limits."""

import argparse
from collections.abc import Iterator

from calc.catalogs.load import Catalogs
from calc.commands.command import OVER_THE_LIMIT, plan_rows, with_days, write_result
from calc.commands.gate_room import add_room_arguments, broken_together, is_asked
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.plan.figures import records
from calc.plan.plan_bill import in_plan
from calc.say.numbers import is_missing
from calc.say.verdict import memory_of
from calc.scenarios.problems import TableError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `gate`."""
    parser.epilog = "Exit status 0: within the limits; 3: a limit is exceeded; 2: unusable input."
    parser.add_argument("plan", metavar="plan.csv", help="CSV of scenarios")
    fits = "require at least a 95 %% probability that the run fits"
    parser.add_argument("--fits", action="store_true", help=fits)
    usd = "maximum cost in USD (per run; per month for a service)"
    parser.add_argument("--usd-most", type=float, metavar="USD", help=usd)
    hours = "maximum hours of a run; a service has none"
    parser.add_argument("--hours-most", type=float, metavar="HOURS", help=hours)
    hourly = "maximum cost in USD of one hour of all instances"
    parser.add_argument("--usd-per-hour-most", type=float, metavar="USD", help=hourly)
    gpu_hours = "maximum GPU-hours paid (per run; per month for a service)"
    parser.add_argument("--gpu-hours-most", type=float, metavar="GPU-HOURS", help=gpu_hours)
    add_room_arguments(parser)


def main(options: argparse.Namespace, catalogs: Catalogs) -> int:
    """Write a sentence for each limit that a row breaks: 0 if none is broken, 3 otherwise."""
    most = ("usd_most", "hours_most", "usd_per_hour_most", "gpu_hours_most")
    has_limits = any(getattr(options, name) is not None for name in most)
    if not (options.fits or has_limits or is_asked(options)):
        raise TableError(
            "gate has nothing to check; name --fits, --usd-most, --hours-most, "
            "--usd-per-hour-most, --gpu-hours-most, --budgets or --quota."
        )
    rows = in_plan(with_days(plan_rows(options.plan, catalogs), options.plan))
    sentences = [
        f"{row['scenario']}: {sentence}"
        for row in records(rows)
        for sentence in _exceeded_limits(row, options)
    ]
    sentences += broken_together(rows, options, catalogs) if is_asked(options) else []
    write_result(
        options,
        "".join(f"{sentence}\n" for sentence in sentences)
        or f"Every limit is kept (rows checked: {len(rows)}).\n",
    )
    return OVER_THE_LIMIT if sentences else 0


def _exceeded_limits(row: Row, limits: argparse.Namespace) -> Iterator[str]:
    """Yield a sentence for each limit that the row exceeds. An unknown figure exceeds any limit."""
    if row["problem"]:
        yield row["problem"]
        return
    if limits.fits and row["runs"] == "no":
        yield f"it does not run on {row['instance'] or row['gpu']}; {row['note']}"
    elif limits.fits and row["fits"] != "yes":
        yield _fits(row)
    ends = ends_of(row)
    period = "the run" if ends else "a month"
    hours_most = limits.hours_most if ends else None  # a service has no end
    for what, value, most, unit in (
        (f"USD of {period}", row["usd"], limits.usd_most, "USD"),
        ("hours of the run", row["hours"], hours_most, "hours"),
        ("USD per hour", row["usd_per_hour"], limits.usd_per_hour_most, "USD"),
        (f"GPU-hours of {period}", row["billed_gpu_hours"], limits.gpu_hours_most, "GPU-hours"),
    ):
        if most is not None and is_missing(value):
            yield f"{what}: not known; {_remedy(row)}."
        elif most is not None and value > most:
            yield (
                f"{what}: {value:,.10g} {unit}, {value - most:,.10g} over the limit of "
                f"{most:,.10g}."
            )


def _fits(row: Row) -> str:
    """Return why a row fails the check that it fits."""
    if not row["fits"]:
        return "nothing is said about fitting: name an instance or a gpu."
    return (
        f"it {'is tight' if row['fits'] == 'tight' else 'does not fit'}: "
        f"{memory_of(row, with_verdict=False)}."
    )


def _remedy(row: Row) -> str:
    """Return what a row lacks so that its cost can be checked."""
    if not row["instance"]:
        return "name an instance"
    if row["work"] == "training" and is_missing(row["train_tokens"]):
        return "name train_tokens"
    return (
        f"there is no price of {row['instance']} in {row['region']} on {row['market']}, or no "
        f"speed of this setting"
    )
