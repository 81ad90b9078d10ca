"""A bill as a log: the hours of training runs, where they are not those of the plan."""

import numpy as np
import pandas as pd

from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.files.calibration.run_readings import RunReading
from calc.plan.actual import Actual
from calc.plan.figures import records
from calc.say.numbers import is_missing, three_digits

TOOL = "AWS bill"


def readings_of_bill(
    result: Actual, plans: pd.DataFrame, uncorrected: pd.DataFrame
) -> tuple[list[RunReading], list[str]]:
    """Readings of the time of training runs, and a sentence for each that is left out.

    The runs are taken to have had the attempts of the plan. `plans` are the rows of the result,
    `uncorrected` the same rows estimated without earlier readings.
    """
    readings, left_out = [], []
    several = (records(table) for table in (plans, uncorrected, result.table))
    for planned, plain, paid in zip(*several, strict=True):
        ratio = _time_ratio(planned, paid)
        if is_missing(ratio):
            continue
        measured = float(planned["step_seconds"]) * ratio
        reading = RunReading(
            *("time", "step_seconds", measured, float(plain["step_seconds"])),
            *(TOOL, result.last_day, plain),
        )
        if reading.is_far:
            left_out.append(
                f"{paid['plan']}: its hours are {three_digits(ratio)} times those planned, far "
                f"outside their range, so they are left out: they are of further attempts or idle."
            )
        else:
            readings.append(reading)
    return readings, left_out


def _time_ratio(planned: Row, paid: Row) -> float:
    """Hours of steps on the bill over those planned; NaN where the bill does not say it.

    Starts are left out as planned. Blocks are paid by the day, whatever a run takes.
    """
    is_block = MARKETS[planned["market"]].block_hours > 0
    if planned["work"] != "training" or is_block or is_missing(paid["attempts_seen"]):
        return np.nan
    runs = float(paid["planned_hours"]) / (float(planned["hours"]) * float(planned["instances"]))
    starts = runs * float(np.nan_to_num(planned["start_hours"])) * float(planned["instances"])
    ratio = (float(paid["actual_hours"]) - starts) / (float(paid["planned_hours"]) - starts)
    return ratio if ratio > 0 else np.nan
