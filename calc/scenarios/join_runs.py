"""Step of the join: what runs of one's own say of a row, and how far each of them reaches.

Prior: a run's error, ln(measured / estimated), is one draw of the error of its kind, around 0 and
as wide as the stated range, which nine of ten published runs keep. The errors of two runs
go together by how alike the runs are. Other software or other work: not at all. Else by what holds
from run to run of one set-up: four tenths of a training's time, nearly all of a service's times and
of memory (run_held_*_ratio); times a ratio below 1 for another model, card or number format and for
each doubling of GPUs, sequences, tokens or prompts. The ratios stand in
catalogs/calibrated/time_constants.yaml. They are the variance components of the errors of published
runs of one card and software: those that make the errors of a table likeliest, a table weighing as
the root of its runs, judged with each model left out; lower for another model or format and for a
training, up to where no number of runs makes a group worse (validation/calibration.py; runs of
memory are too few, so that it takes what holds of a service). One run of the same set-up weighs
what holds, several of it weigh more, and never all; one that is far leaves the estimate alone
(likeness.py).
"""

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios import likeness
from calc.scenarios.lookups import catalog_rows

QUANTITIES = ("time", "first_token", "memory")


def run_readings(trains, model_row, implementation, precision, catalogs):
    """Your own runs beside each row: likeness, set-ups and errors.

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
    made: Columns = {
        f"run_{name}": table[name].to_numpy(dtype=float)[:, None] for name in likeness.NUMBERS
    }
    made["run_gpu_row"] = _rows_of(table["gpu"], "gpus", catalogs)
    errors = np.log(table["ratio"].to_numpy(dtype=float))
    for quantity in QUANTITIES:
        is_measured = (table["quantity"] == quantity).to_numpy()
        made[f"{quantity}_run_error"] = np.where(is_measured, errors, np.nan)[:, None]
    return made


def _rows_of(names, catalog, catalogs):
    """The rows of a catalog by name, NaN of one that it lacks. Shape (runs, 1)."""
    rows = catalog_rows(catalogs, catalog, names)
    return np.where(rows < 0, np.nan, rows)[:, None]
