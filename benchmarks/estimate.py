"""What an estimate costs, as ratios to ten NumPy operations over as many rows in the same rounds.

    python -m benchmarks.estimate [--rows 1000000] [--rounds 3]

Then one row in milliseconds, and the most memory that the process held.
"""

import argparse
from resource import RUSAGE_SELF, getrusage

from benchmarks.floor import floor, interleaved, spread
from benchmarks.tables import all_distinct, crossed
from calc import estimate, estimate_distinct, load_catalogs
from calc.columns import COMPONENTS

FEW = (
    *COMPONENTS,
    "memory_bytes",
    "memory_low_bytes",
    "memory_high_bytes",
    "headroom_bytes",
    "fits",
    "instances_needed",
    "usd_per_hour_on_demand",
    "usd_per_hour_spot",
    "step_seconds",
    "tokens_per_second",
    "usd_per_month_on_demand",
    "problem",
)


def cases(rows, catalogs):
    """What is measured, by name: functions without parameters."""
    repeated, distinct = crossed(rows), all_distinct(rows)
    named = {
        "crossed, all columns and solvers": lambda: estimate(repeated, catalogs),
        "crossed, without solvers": lambda: estimate(repeated, catalogs, solve=False),
        "all distinct, with solvers": lambda: estimate(distinct, catalogs),
        "all distinct, without solvers": lambda: estimate(distinct, catalogs, solve=False),
    }
    return named | {
        "crossed, coded, with solvers": lambda: estimate_distinct(repeated, catalogs),
        "crossed, 20 columns": lambda: estimate(repeated, catalogs, columns=FEW),
    }


def main():
    """Print a line per case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    catalogs = load_catalogs()
    one = crossed(1).iloc[0].to_dict()
    found = interleaved({"floor": floor(options.rows)} | cases(options.rows, catalogs), options.rounds)
    least = found.pop("floor")
    print(f"{options.rows:,} rows, times the floor: median (least to most of {options.rounds} rounds)")
    print(f"{'the floor itself':34}{spread([seconds * 1e3 for seconds in least], ' ms')}")
    for name, seconds in found.items():
        print(f"{name:34}{spread([each / base for each, base in zip(seconds, least, strict=True)])}")
    single = {"with solvers": lambda: estimate(one, catalogs), "without solvers": lambda: estimate(one, catalogs, solve=False)}
    for name, seconds in interleaved(single, options.rounds).items():
        print(f"{'one row, ' + name:34}{spread([each * 1e3 for each in seconds], ' ms')}")
    print(f"{'most memory held':34}{getrusage(RUSAGE_SELF).ru_maxrss / 1024:10,.0f} MiB")


if __name__ == "__main__":
    main()
