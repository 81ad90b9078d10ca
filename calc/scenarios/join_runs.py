"""Step of the join: what runs of one's own say of a row, and how far each of them reaches.

Prior: a run's error, ln(measured / estimated), is one draw of the error of its kind, around 0 and
as wide as the stated range, which nine of ten published runs keep. Weight: the errors of two runs
go together by how alike the runs are (the kernel of a Gaussian process, Rasmussen and Williams
2006, chapter 2). Other software or other work: not at all. Else by what holds from run to run of
one set-up: four tenths of a training's time, nearly all of a service's times and of memory
(run_held_*_ratio); times a ratio below 1 for another model, card or number format and for each
doubling of GPUs, sequences, tokens or prompts. The ratios stand in
catalogs/calibrated/time_constants.yaml. They are the variance components of the errors of published
runs of one card and software: those that make the errors of a table likeliest, a table weighing as
the root of its runs, judged with each model left out; lower for another model or format and for a
training, up to where no number of runs makes a group worse (validation/calibration.py; runs of
memory are too few, so that it takes what holds of a service). Given the runs, the mean error is k'
K^-1 y and its variance 1 - k' K^-1 k of what it was, with y the runs' errors, K how alike they are
among themselves and k how alike each is to the row. So one run of the same set-up weighs what
holds, several of it weigh more, and never all; one that is far leaves the estimate alone. How wide
the range was before is itself uncertain: see time_run_width_ratio.
"""

import numpy as np

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.evaluate import Columns
from calc.scenarios import likeness

QUANTITIES = ("time", "first_token", "memory")


def run_readings(trains, model_row, implementation, precision, catalogs):
    """Your own runs beside each row: likeness, set-ups and weights.

    Shapes: likeness (runs, rows); set-ups and weights (runs, 1).
    """
    table = catalogs.readings
    weights = _weights(catalogs)
    alike = np.ones((len(table), 1))
    if len(table):
        same = (table["work"].to_numpy()[:, None] == "training") == (trains > 0)
        same = same & (np.array([implementation.are(name) for name in table["implementation"]]))
        model = likeness.numbers(table["model"], "models", catalogs) == model_row
        alike = likeness.of_work(
            same, model, np.array([precision.are(name) for name in table["precision"]]), catalogs
        )
    return {"run_work_likeness": alike} | weights


@cached_per_catalogs("readings", "time_constants", "gpus")
def _weights(catalogs: Catalogs) -> Columns:
    """Set-ups of the runs, and for each quantity K^-1 y, K^-1 and of times y' K^-1 y by run."""
    table = catalogs.readings
    made: Columns = {
        f"run_{name}": table[name].to_numpy(dtype=float)[:, None] for name in likeness.NUMBERS
    }
    made["run_gpu_row"] = likeness.numbers(table["gpu"], "gpus", catalogs)
    errors = np.log(table["ratio"].to_numpy(dtype=float))
    for quantity in QUANTITIES:
        of = (table["quantity"] == quantity).to_numpy()
        inverse = np.zeros((len(table), len(table)))
        if of.any():
            inverse[np.ix_(of, of)] = np.linalg.inv(
                likeness.likeness_among(table[of], catalogs, quantity == "memory")
            )
        made[f"{quantity}_run_weight"] = (inverse @ errors)[:, None]
        if quantity != "memory":
            made[f"{quantity}_run_squares"] = np.where(of, errors * (inverse @ errors), np.nan)[
                :, None
            ]
        made[f"{quantity}_run_inverse"] = inverse[:, :, None]
    return made
