"""Corrections of an estimate by your own runs: central value and range (join_runs.py).

The correction is one factor for each row and quantity: the mean error of the runs that are like the
row, drawn towards no correction. Quantities of runs have shape (runs, rows) or (runs, 1). Without a
run every ratio is 1 and every share 0. Source: Gelman et al. 2013, Bayesian Data Analysis, section
2.5 (a mean under a normal prior); the ratios of likeness: catalogs/calibrated/time_constants.yaml.
"""

from collections.abc import Callable

import numpy as np

from calc.evaluate import variant
from calc.scenarios.lookups import constants

NUMBERS = ("gpus", "batch", "sequence_tokens", "prompt_tokens")
LEAST_WEIGHT = 1e-12  # of the nearest run, where none is like the row
LEAST_SHARE = 0.02  # of the variance: what explains less changes nothing and is not named


def _doublings(run_values, values):
    return np.abs(np.log2(np.maximum(run_values, 1) / np.maximum(values, 1)))


def run_lengths_likeness(
    run_batch,
    batch,
    run_batch_doubled_ratio,
    run_sequence_tokens,
    sequence_tokens,
    run_tokens_doubled_ratio,
    run_prompt_tokens,
    prompt_tokens,
    run_prompt_doubled_ratio,
):
    """Likeness of each run to a row by sequences and lengths. Shape (runs, rows). [share]"""
    if not len(run_batch):
        return run_batch
    batches = run_batch_doubled_ratio ** _doublings(run_batch, batch)
    lengths = run_tokens_doubled_ratio ** _doublings(run_sequence_tokens, sequence_tokens)
    return (
        batches * lengths * run_prompt_doubled_ratio ** _doublings(run_prompt_tokens, prompt_tokens)
    )


def run_memory_likeness(run_held_serving_ratio, run_work_likeness, run_lengths_likeness):
    """Likeness of each run's memory to a row's, on any card. Shape (runs, rows). [share]

    What PyTorch allocates depends on no card, and its error hardly on how many there are.
    """
    return run_held_serving_ratio * run_work_likeness * run_lengths_likeness


def run_place_likeness(
    trains,
    run_gpus,
    gpus,
    run_gpus_doubled_ratio,
    run_training_gpus_doubled_ratio,
    run_gpu_row,
    gpu_row,
    run_other_card_ratio,
):
    """Likeness of each run to a row by card and number of cards. Shape (runs, rows). [share]"""
    if not len(run_gpus):
        return run_gpus
    doubled_ratio = np.where(trains > 0, run_training_gpus_doubled_ratio, run_gpus_doubled_ratio)
    return np.where(run_gpu_row == gpu_row, 1, run_other_card_ratio) * doubled_ratio ** _doublings(
        run_gpus, gpus
    )


def run_likeness(
    trains,
    run_held_training_ratio,
    run_held_serving_ratio,
    run_work_likeness,
    run_lengths_likeness,
    run_place_likeness,
):
    """Likeness of each run's times to a row's. Shape (runs, rows). [share]"""
    most = np.where(trains > 0, run_held_training_ratio, run_held_serving_ratio)
    return most * run_work_likeness * run_lengths_likeness * run_place_likeness


def time_run_weight(run_likeness, time_run_error):
    """Weight of each run beside the estimate's, which is 1. Shape (runs, rows). [ratio]

    A run whose error has the share ρ in common with the row's weighs ρ / (1 - ρ). One that is less
    like the row than the nearest run weighs less by the square of the ratio of their weights: a far
    run adds little to what a near one says. A run of another quantity has no error here and weighs
    nothing. Fit: validation/calibration.py.
    """
    likeness = np.where(np.isnan(time_run_error), 0, run_likeness)
    weight = likeness / (1 - likeness)
    nearest = np.max(weight, axis=0, initial=LEAST_WEIGHT)
    return weight * (weight / nearest) ** 2


def time_run_share(run_likeness, time_run_error, time_run_weight):
    """Share of the error variance of times that your runs explain. [share]

    It is the nearest run's likeness, as far as the weight of all runs reaches it.
    """
    likeness = np.where(np.isnan(time_run_error), 0, run_likeness)
    weight = np.sum(time_run_weight, axis=0)
    share = np.max(likeness, axis=0, initial=0) * weight / (1 + weight)
    return np.where(share < LEAST_SHARE, 0, share)


def time_run_ratio(time_run_error, time_run_weight, time_run_share):
    """Correction of times by your runs: exp(Σ weight · error / (1 + Σ weight)). [ratio]"""
    error = np.nansum(time_run_weight * time_run_error, axis=0)
    mean_error = error / (1 + np.sum(time_run_weight, axis=0))
    return np.where(time_run_share > 0, np.exp(mean_error), 1)


def time_run_width_ratio(time_run_share):
    """Width of the stated range of times over its width without runs. [ratio]"""
    return np.sqrt(1 - time_run_share)


FIRST_TOKEN_RUN = {"time_run": "first_token_run"}
MEMORY_RUN = {"time_run": "memory_run", "run_likeness": "run_memory_likeness"}
first_token_run_weight = variant(
    time_run_weight,
    rename=FIRST_TOKEN_RUN,
    doc="""Weight of each run in the time to first token. Shape (runs, rows). [ratio]

    Source: as time_run_weight.
    """,
)
first_token_run_share = variant(
    time_run_share,
    rename=FIRST_TOKEN_RUN,
    doc="""Share of the error variance of the time to first token that your runs explain. [share]

    Source: as time_run_share.
    """,
)
first_token_run_ratio = variant(
    time_run_ratio,
    rename=FIRST_TOKEN_RUN,
    doc="""Correction of the time to first token by your runs, as a factor. [ratio]

    Source: as time_run_ratio.
    """,
)
first_token_run_width_ratio = variant(
    time_run_width_ratio,
    rename=FIRST_TOKEN_RUN,
    doc="""Width of the range of the time to first token over its width without runs. [ratio]

    Source: as time_run_width_ratio.
    """,
)
memory_run_weight = variant(
    time_run_weight,
    rename=MEMORY_RUN,
    doc="""Weight of each run in the memory peak. Shape (runs, rows). [ratio]

    Source: as time_run_weight.
    """,
)
memory_run_share = variant(
    time_run_share,
    rename=MEMORY_RUN,
    doc="""Share of the error variance of the memory peak that your runs explain. [share]

    Source: as time_run_share.
    """,
)
memory_run_ratio = variant(
    time_run_ratio,
    rename=MEMORY_RUN,
    doc="""Correction of the memory peak by your runs, as a factor. [ratio]

    Source: as time_run_ratio.
    """,
)
memory_run_width_ratio = variant(
    time_run_width_ratio,
    rename=MEMORY_RUN,
    doc="""Width of the stated range of memory over its width without runs. [ratio]

    Source: as time_run_width_ratio.
    """,
)
OF_TIME: tuple[Callable, ...] = (
    run_place_likeness,
    run_likeness,
    time_run_weight,
    time_run_share,
    time_run_ratio,
    time_run_width_ratio,
    first_token_run_weight,
    first_token_run_share,
    first_token_run_ratio,
    first_token_run_width_ratio,
)
OF_MEMORY: tuple[Callable, ...] = (
    run_lengths_likeness,
    run_memory_likeness,
    memory_run_weight,
    memory_run_share,
    memory_run_ratio,
    memory_run_width_ratio,
)


def of_work(same, model, precision, catalogs):
    """Likeness of runs by what is done; 0 for other work or software. [share]"""
    other = constants(catalogs, "time_constants")
    return (
        same
        * np.where(model, 1, other["run_other_model_ratio"])
        * np.where(precision, 1, other["run_other_format_ratio"])
    )
