"""One scenario in full: every column of its table, and its components in every phase."""

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.columns import ALLOCATED
from calc.engine.pipeline import parts
from calc.engine.stages import AFTER_MEMORY, at_places, walk
from calc.memory.moments import MOMENTS, PHASES, moments_of_scenario
from calc.scenarios.lookups import work_of
from calc.scenarios.read import as_frame
from calc.table import Table


def one_scenario(scenario: dict | pd.Series, catalogs: Catalogs) -> Table:
    """The table of one scenario at the fullest place of its pipeline, with every column."""
    frame = as_frame(scenario if isinstance(scenario, dict) else scenario.to_dict())
    places = at_places(next(parts(frame, catalogs)).table)
    return max(
        (table for table, _ in places), key=lambda table: float(table["allocated_peak_bytes"][0])
    )


def one_scenario_with_times(scenario: dict | pd.Series, catalogs: Catalogs) -> Table:
    """The table of one_scenario, with what comes after memory: times, spreads and cost."""
    table = one_scenario(scenario, catalogs)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return walk(table, AFTER_MEMORY)


def phases_table(scenario: dict | pd.Series, catalogs: Catalogs) -> pd.DataFrame:
    """Components at the largest moment of each phase of a scenario: phase, component, bytes."""
    table = one_scenario(scenario, catalogs)
    moments = MOMENTS[work_of(table)]
    totals = [float(np.ravel(total)[0]) for total in table["moment_bytes"]]
    rows = []
    for phase in PHASES:
        of_phase = [
            number
            for number in moments_of_scenario(table, work_of(table))
            if moments[number].phase == phase
        ]
        if of_phase:
            largest = max(of_phase, key=totals.__getitem__)
            for name in ALLOCATED:
                values = (
                    table[f"moment_{name}"][largest] if f"moment_{name}" in table else table[name]
                )
                rows.append(
                    {"phase": phase, "component": name, "bytes": float(np.ravel(values)[0])}
                )
    return pd.DataFrame(rows)
