"""The yardstick: ten NumPy operations over as many rows, timed in the same rounds as what is measured."""

from statistics import median
from time import process_time

import numpy as np


def floor(rows):
    """A function of ten operations over float64 arrays of so many rows, each into a new array as formulas do."""
    a, b, c = (np.random.default_rng(seed).random(rows) + 1 for seed in range(3))

    def run():
        d = a * b + c
        e = d / b - a
        f = np.maximum(d, e) * c
        return (np.ceil(f / 3) + e) * a

    return run


def seconds_of(run, least=0.2):
    """CPU seconds of one call: the mean over as many calls as take the least time."""
    calls, begun = 0, process_time()
    while calls == 0 or process_time() - begun < least:
        run()
        calls += 1
    return (process_time() - begun) / calls


def interleaved(work, rounds):
    """CPU seconds of every named function in each of several rounds, after one that is not counted."""
    found = {name: [] for name in work}
    for number in range(rounds + 1):
        for name, run in work.items():
            seconds = seconds_of(run)
            if number:
                found[name].append(seconds)
    return found


def spread(values, unit=""):
    """The median and, in brackets, the least and the most."""
    return f"{median(values):10,.1f}{unit} ({min(values):,.1f} to {max(values):,.1f})"
