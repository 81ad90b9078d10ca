"""The yardstick, ten NumPy operations over as many rows, and what the benchmarks share."""

import argparse
from statistics import median, quantiles
from time import process_time

import numpy as np


def options(document, **defaults):
    """The options of a benchmark's command line, each with the type of its default."""
    parser = argparse.ArgumentParser(description=document.splitlines()[0])
    for name, default in defaults.items():
        several = isinstance(default, tuple)
        parser.add_argument(
            f"--{name}",
            type=type(default[0] if several else default),
            nargs="+" if several else None,
            default=default,
        )
    return parser.parse_args()


def floor(rows):
    """Return a function of ten operations over float64 arrays, each into a new array.

    Formulas work in the same way.
    """
    a, b, c = (np.random.default_rng(seed).random(rows) + 1 for seed in range(3))

    def run():
        d = a * b + c
        e = d / b - a
        f = np.maximum(d, e) * c
        return (np.ceil(f / 3) + e) * a

    return run


def cpu_seconds(run, least=0.2):
    """CPU time of one call: the mean over at least this much time. [s]"""
    calls, begun = 0, process_time()
    while calls == 0 or process_time() - begun < least:
        run()
        calls += 1
    return (process_time() - begun) / calls


def interleave(work, rounds):
    """Run functions in turn, several rounds. Return the CPU seconds of each by name.

    A first round is not counted.
    """
    all_rounds = [{name: cpu_seconds(run) for name, run in work.items()} for _ in range(rounds + 1)]
    return {name: [seconds[name] for seconds in all_rounds[1:]] for name in work}


def spread(values, unit=""):
    """The median and, in brackets, the smallest and the largest value."""
    return f"{median(values):10,.1f}{unit} ({min(values):,.1f} to {max(values):,.1f})"


def p95(values):
    """The 95th percentile."""
    return quantiles(values, n=20)[-1] if len(values) > 1 else values[0]
