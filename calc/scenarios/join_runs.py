"""Step of the join: what your own runs say about a row, and how far each of them applies.

Prior: the error of a run, ln(measured / estimated), is one draw from the errors of its kind. These
are distributed around 0, as wide as the stated range, which contains nine of ten published runs.
The errors of two runs correlate by how similar the runs are.

There is no correlation with other software or other work. Otherwise, it is the part of the variance
that is the same in all runs of one set-up: four tenths for the time of a training, nearly all for
the times of a service and for memory (run_held_*_ratio). It is multiplied by a ratio below 1 for
another model, card or number format, and for each doubling of GPUs, sequences, tokens or prompts.
The ratios are in catalogs/calibrated/time_constants.yaml.

They are the variance components of the errors of published runs with one card and software: those
that make the errors of a table most likely, where a table weighs as the root of its number of runs,
judged with each model left out. For another model or format and for a training they are lower, so
far that no number of runs makes a group worse (validation/calibration.py). Runs with measured
memory are too few, so memory takes the values of a service.

One run of the same set-up weighs as much as the part that is the same. Several runs weigh more, but
never everything. A run that is too different leaves the estimate unchanged (likeness.py).
"""

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios import likeness
from calc.scenarios.lookups import catalog_rows

QUANTITIES = ("time", "first_token", "memory")


def run_readings(trains, model_row, implementation, precision, catalogs):
    """Compare your own runs with each row: likeness, set-ups and errors.

    Shapes: likeness (runs, rows); set-ups and errors (runs, 1).
    """
    table = catalogs.readings
    alike = np.ones((len(table), 1))
    if len(table):
        same = (table["work"].to_numpy()[:, None] == "training") == (trains > 0)
        same = same & (np.array([implementation.are(name) for name in table["implementation"]]))
        model = _rows_of(table["model"], "models", catalogs) == model_row
        alike = likeness.of_work(
            same, model, np.array([precision.are(name) for name in table["precision"]]), catalogs
        )
    return {"run_work_likeness": alike} | _set_ups_and_errors(catalogs)


@cached_per_catalogs("readings", "gpus")
def _set_ups_and_errors(catalogs: Catalogs) -> Columns:
    """Set-up of each run, and its error ln(measured / estimated) in its quantity; NaN in others."""
    table = catalogs.readings
    columns: Columns = {
        f"run_{name}": table[name].to_numpy(dtype=float)[:, None] for name in likeness.NUMBERS
    }
    columns["run_gpu_row"] = _rows_of(table["gpu"], "gpus", catalogs)
    errors = np.log(table["ratio"].to_numpy(dtype=float))
    for quantity in QUANTITIES:
        is_measured = (table["quantity"] == quantity).to_numpy()
        columns[f"{quantity}_run_error"] = np.where(is_measured, errors, np.nan)[:, None]
    return columns


def _rows_of(names, catalog, catalogs):
    """The rows of a catalog by name, NaN of one that it lacks. Shape (runs, 1)."""
    rows = catalog_rows(catalogs, catalog, names)
    return np.where(rows < 0, np.nan, rows)[:, None]
