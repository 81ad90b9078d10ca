"""Step of the join: what runs of one's own say of a row, and how far each of them reaches.

Prior: a run's error, ln(measured / estimated), is one draw of the error of its kind, normal around 0 and as wide as the stated range,
which nine of ten published runs keep. Weight: the errors of two runs go together by how alike the runs are (the kernel of a Gaussian
process, Rasmussen and Williams 2006, chapter 2). Other software or other work: not at all. Else by what holds from run to run of one
set-up: half of the time of a training, more of first tokens, most of a service's time and of memory (run_held_*_ratio); times a ratio
below 1 for another model, card or number format and for each doubling of GPUs, sequences or tokens. The ratios stand in
catalogs/calibrated/time_constants.yaml, from pairs of published runs (validation/calibration.py; those of memory are too few, so that
it takes what holds of a service's time). Given the runs, the error is normal again: its mean is k' K^-1 y, its variance 1 - k' K^-1 k
of what it was, with y the runs' errors, K how alike they are among themselves and k how alike each is to the row. So one run of the
same set-up weighs what holds, several of it weigh more, and never all.
"""

from typing import Any

import numpy as np

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios.lookups import constants, row_numbers

QUANTITIES = ("time", "first_token", "memory")
NUMBERS = ("gpus", "batch", "sequence_tokens")
DOUBLED = {"gpus": "run_gpus_doubled_ratio", "batch": "run_batch_doubled_ratio", "sequence_tokens": "run_tokens_doubled_ratio"}
HELD = {("time", "training"): "training", ("first_token", "inference"): "first_token"}  # all else as services and memory
OTHER = {"model": "run_other_model_ratio", "precision": "run_other_format_ratio", "gpu": "run_other_card_ratio"}


def run_readings(trains, model_row, implementation, precision, catalogs):
    """Runs of one's own beside each row: likeness of what is done, set-ups and weights.

    Shapes: of the likeness (runs, rows), of set-ups and weights (runs, 1).
    """
    table, weights = catalogs.readings, _weights(catalogs)
    number_of = row_numbers(catalogs, "models")
    likeness = np.ones((len(table), 1))
    if len(table):
        other = constants(catalogs, "time_constants")
        same = (table["work"].to_numpy()[:, None] == "training") == (trains > 0)
        same = same & (np.array([implementation.are(name) for name in table["implementation"]]))
        model = np.array([number_of.get(name, -2) for name in table["model"]])[:, None] == model_row
        written = np.array([precision.are(name) for name in table["precision"]])
        likeness = same * np.where(model, 1, other[OTHER["model"]]) * np.where(written, 1, other[OTHER["precision"]])
    return {"run_work_likeness": likeness} | weights


@kept("readings", "time_constants", "gpus")
def _weights(catalogs: Catalogs) -> Columns:
    """Set-ups of the runs, and for each quantity K^-1 y and K^-1."""
    table = catalogs.readings
    made: Columns = {f"run_{name}": table[name].to_numpy(dtype=float)[:, None] for name in NUMBERS}
    card = row_numbers(catalogs, "gpus")
    made["run_gpu_row"] = np.array([card.get(name, -2) for name in table["gpu"]], dtype=float)[:, None]
    alike = _alike(table, constants(catalogs, "time_constants"))
    for quantity in QUANTITIES:
        of = (table["quantity"] == quantity).to_numpy()
        inverse = np.zeros((len(table), len(table)))
        if of.any():
            inverse[np.ix_(of, of)] = np.linalg.inv(alike[np.ix_(of, of)])
        made[f"{quantity}_run_weight"] = (inverse @ np.log(table["ratio"].to_numpy(dtype=float)))[:, None]
        made[f"{quantity}_run_inverse"] = inverse[:, :, None]
    return made


def _alike(table: Any, ratios: Columns) -> np.ndarray:
    """How alike the runs are among themselves; 1 with itself. Shape (runs, runs)."""

    def differ(name: str) -> np.ndarray:
        return table[name].to_numpy()[:, None] != table[name].to_numpy()

    alike = ~differ("work") & ~differ("implementation") & np.ones((len(table), len(table)), dtype=bool)
    held = [HELD.get((quantity, work), "serving") for quantity, work in zip(table["quantity"], table["work"], strict=True)]
    product = alike * np.array([ratios[f"run_held_{name}_ratio"] for name in held]).reshape(-1, 1)
    for name, ratio in OTHER.items():
        product = product * np.where(differ(name), ratios[ratio], 1)
    for name, ratio in DOUBLED.items():
        values = np.log2(table[name].to_numpy(dtype=float))
        product = product * ratios[ratio] ** np.abs(values[:, None] - values)
    np.fill_diagonal(product, 1)
    return product
