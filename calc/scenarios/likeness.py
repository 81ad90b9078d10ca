"""What runs of one's own make of an estimate: central value and range (join_runs.py).

Quantities of runs have shape (runs, rows) or (runs, 1); without a run every ratio is 1 and every share 0.
"""

from collections.abc import Callable

import numpy as np

from calc.evaluate import twin

LEAST_SHARE = 0.02  # of the variance: what explains less changes nothing and is not named


def run_lengths_likeness(run_batch, batch, run_batch_doubled_ratio, run_sequence_tokens, sequence_tokens, run_tokens_doubled_ratio):
    """How alike each run is to a row by sequences and length. Shape (runs, rows). [share]"""
    if not len(run_batch):
        return run_batch
    batches = run_batch_doubled_ratio ** np.abs(np.log2(run_batch / batch))
    return batches * run_tokens_doubled_ratio ** np.abs(np.log2(run_sequence_tokens / sequence_tokens))


def run_memory_likeness(run_held_serving_ratio, run_work_likeness, run_lengths_likeness):
    """How alike each run's memory is to a row's, whatever the card. Shape (runs, rows). [share]

    What PyTorch allocates depends on no card, and its error hardly on how many there are.
    """
    return run_held_serving_ratio * run_work_likeness * run_lengths_likeness


def run_place_likeness(run_gpus, gpus, run_gpus_doubled_ratio, run_gpu_row, gpu_row, run_other_card_ratio):
    """How alike each run is to a row by its cards and their number. Shape (runs, rows). [share]"""
    if not len(run_gpus):
        return run_gpus
    return np.where(run_gpu_row == gpu_row, 1, run_other_card_ratio) * run_gpus_doubled_ratio ** np.abs(np.log2(run_gpus / gpus))


def run_first_token_likeness(run_held_first_token_ratio, run_work_likeness, run_lengths_likeness, run_place_likeness):
    """How alike each run's first tokens are to a row's. Shape (runs, rows). [share]"""
    return run_held_first_token_ratio * run_work_likeness * run_lengths_likeness * run_place_likeness


def run_likeness(trains, run_held_training_ratio, run_held_serving_ratio, run_work_likeness, run_lengths_likeness, run_place_likeness):
    """How alike each run's time is to a row's. Shape (runs, rows). [share]"""
    held = np.where(trains > 0, run_held_training_ratio, run_held_serving_ratio)
    return held * run_work_likeness * run_lengths_likeness * run_place_likeness


def time_run_share(run_likeness, time_run_inverse):
    """Share of the error's variance that the runs explain: k' K^-1 k. [share]

    Source: Rasmussen and Williams 2006, Gaussian Processes for Machine Learning, equation 2.19.
    """
    explained = np.sum(run_likeness * np.sum(time_run_inverse * run_likeness, axis=1), axis=0)
    return np.where(explained < LEAST_SHARE, 0, np.minimum(explained, 1))


def time_run_ratio(run_likeness, time_run_weight, time_run_share):
    """What the estimate is multiplied by, since runs took more or less: exp(k' K^-1 y). [ratio]"""
    return np.where(time_run_share > 0, np.exp(np.sum(run_likeness * time_run_weight, axis=0)), 1)


def time_run_width_ratio(time_run_share):
    """Width of the stated range, in logarithms, over its width without runs. [ratio]"""
    return np.sqrt(1 - time_run_share)


FORMULAS = (time_run_share, time_run_ratio, time_run_width_ratio)
FIRST_TOKEN, MEMORY = (
    tuple(twin(formula, {"time_run": f"{quantity}_run", "run_likeness": f"run_{quantity}_likeness"}) for formula in FORMULAS)
    for quantity in ("first_token", "memory")
)
OF_TIME: tuple[Callable, ...] = (run_place_likeness, run_likeness, *FORMULAS, run_first_token_likeness, *FIRST_TOKEN)
OF_MEMORY: tuple[Callable, ...] = (run_lengths_likeness, run_memory_likeness, *MEMORY)
