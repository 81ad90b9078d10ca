"""Cost of an estimate, as a ratio to ten NumPy operations over as many rows.

    python -m benchmarks.estimate [--rows 1000000] [--rounds 3]

Then one row in milliseconds, and the most memory that the process held.
"""

from functools import partial
from resource import RUSAGE_SELF, getrusage

from benchmarks.floor import floor, interleave, options, spread
from benchmarks.tables import all_distinct, rows_of_few_choices
from calc import estimate, estimate_distinct, load_catalogs
from calc.columns import COMPONENTS

FEW = (
    *(
        *COMPONENTS,
        "memory_bytes",
        "memory_low_bytes",
        "memory_high_bytes",
        "headroom_bytes",
        "fits",
        "instances_needed",
    ),
    *(
        "usd_per_hour_on_demand",
        "usd_per_hour_spot",
        "step_seconds",
        "tokens_per_second",
        "usd_per_month_on_demand",
        "problem",
    ),
)


def cases(rows, catalogs):
    """Return what is measured, by name, as functions without parameters."""
    repeated, distinct = rows_of_few_choices(rows), all_distinct(rows)
    return {
        "crossed, all columns and solvers": partial(estimate, repeated, catalogs),
        "crossed, without solvers": partial(estimate, repeated, catalogs, solve=False),
        "all distinct, with solvers": partial(estimate, distinct, catalogs),
        "all distinct, without solvers": partial(estimate, distinct, catalogs, solve=False),
        "crossed, coded, with solvers": partial(estimate_distinct, repeated, catalogs),
        "crossed, 20 columns": partial(estimate, repeated, catalogs, columns=FEW),
    }


def main():
    """Print a line per case."""
    arguments = options(__doc__, rows=1_000_000, rounds=3)
    catalogs = load_catalogs()
    seconds_of = interleave(
        {"floor": floor(arguments.rows)} | cases(arguments.rows, catalogs), arguments.rounds
    )
    least = seconds_of.pop("floor")
    print(
        f"{arguments.rows:,} rows, times the floor: median (least to most of "
        f"{arguments.rounds} rounds)"
    )
    print(f"{'the floor itself':34}{spread([seconds * 1e3 for seconds in least], ' ms')}")
    for name, rounds in seconds_of.items():
        ratios = [seconds / base for seconds, base in zip(rounds, least, strict=True)]
        print(f"{name:34}{spread(ratios)}")
    row = rows_of_few_choices(1).iloc[0].to_dict()
    single = {
        f"one row, with{out} solvers": partial(estimate, row, catalogs, solve=not out)
        for out in ("", "out")
    }
    for name, rounds in interleave(single, arguments.rounds).items():
        print(f"{name:34}{spread([seconds * 1e3 for seconds in rounds], ' ms')}")
    print(f"{'most memory held':34}{getrusage(RUSAGE_SELF).ru_maxrss / 1024:10,.0f} MiB")


if __name__ == "__main__":
    main()
