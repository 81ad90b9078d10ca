"""Corrections of an estimate by your own runs: central value and range (join_runs.py).

Quantities of runs have shape (runs, rows) or (runs, 1). Without a run every ratio is 1 and every
share 0. Source: Rasmussen and Williams 2006, Gaussian Processes for Machine Learning, chapter 2;
the ratios of likeness: catalogs/calibrated/time_constants.yaml.
"""

from collections.abc import Callable

import numpy as np

from calc.evaluate import Columns, evaluate_all, variant
from calc.scenarios.lookups import catalog_rows, constants

NUMBERS = ("gpus", "batch", "sequence_tokens", "prompt_tokens")
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
    doubled = np.where(trains > 0, run_training_gpus_doubled_ratio, run_gpus_doubled_ratio)
    return np.where(run_gpu_row == gpu_row, 1, run_other_card_ratio) * doubled ** _doublings(
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


def time_run_share(run_likeness, time_run_inverse):
    """Share of the error variance of times that your runs explain: k' K⁻¹ k. [share]

    Source: Rasmussen and Williams 2006, Gaussian Processes for Machine Learning, equation 2.19.
    """
    explained = np.sum(run_likeness * np.sum(time_run_inverse * run_likeness, axis=1), axis=0)
    return np.where(explained < LEAST_SHARE, 0, np.minimum(explained, 1))


def time_run_ratio(run_likeness, time_run_weight, time_run_share):
    """Correction of times by your runs, as a factor: exp(k' K⁻¹ y). [ratio]"""
    return np.where(time_run_share > 0, np.exp(np.sum(run_likeness * time_run_weight, axis=0)), 1)


def memory_run_width_ratio(memory_run_share):
    """Width of the stated range of memory over its width without runs. [ratio]"""
    return np.sqrt(1 - memory_run_share)


FIRST_TOKEN_RUN = {"time_run": "first_token_run"}
MEMORY_RUN = {"time_run": "memory_run", "run_likeness": "run_memory_likeness"}
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
OF_TIME: tuple[Callable, ...] = (
    run_place_likeness,
    run_likeness,
    time_run_share,
    time_run_ratio,
    first_token_run_share,
    first_token_run_ratio,
)
OF_MEMORY: tuple[Callable, ...] = (
    run_lengths_likeness,
    run_memory_likeness,
    memory_run_share,
    memory_run_ratio,
    memory_run_width_ratio,
)


def likeness_among(table, catalogs, of_memory=False):
    """Return the likeness of runs to each other, 1 to themselves. Shape (runs, runs). [share]"""

    def alike(*names):
        return np.all(
            [
                table[name].to_numpy(object)[:, None] == table[name].to_numpy(object)
                for name in names
            ],
            axis=0,
        )

    rows: Columns = {name: table[name].to_numpy(dtype=float) for name in NUMBERS}
    rows |= {
        "gpu_row": numbers(table["gpu"], "gpus", catalogs)[:, 0],
        "trains": (table["work"] == "training").to_numpy(),
    }
    rows |= {f"run_{name}": values[:, None] for name, values in rows.items()} | constants(
        catalogs, "time_constants"
    )
    rows["run_work_likeness"] = of_work(
        alike("work", "implementation"), alike("model"), alike("precision"), catalogs
    )
    formulas = (run_lengths_likeness, run_memory_likeness, run_place_likeness, run_likeness)
    product = evaluate_all(formulas, rows)["run_memory_likeness" if of_memory else "run_likeness"]
    np.fill_diagonal(product, 1)
    return product


def of_work(same, model, precision, catalogs):
    """Likeness of runs by what is done; 0 for other work or software. [share]"""
    other = constants(catalogs, "time_constants")
    return (
        same
        * np.where(model, 1, other["run_other_model_ratio"])
        * np.where(precision, 1, other["run_other_format_ratio"])
    )


def numbers(names, catalog, catalogs):
    """The rows of a catalog by name, NaN of one that it lacks. Shape (runs, 1)."""
    rows = catalog_rows(catalogs, catalog, names)
    return np.where(rows < 0, np.nan, rows)[:, None]
