"""How estimated scenarios stand: whether each runs and fits, or why not; their order."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from calc.rules.support import RUNS
from calc.scenarios.inputs import inputs_by_name

# Best first: the row fits (or is tight) and runs, runs by emulation, or may run; else why it does
# not.
STANDINGS = (*RUNS[:-1], "does not fit", "no card", "refused", "problem")
OFFERED = len(RUNS) - 1


def standing(rows: pd.DataFrame | dict[str, Any]) -> np.ndarray:
    """The standing of each result row, as its place in STANDINGS."""
    fits, runs, problem = (
        np.atleast_1d(np.asarray(rows[name], dtype=object)) for name in ("fits", "runs", "problem")
    )
    verdicts = {"": "no card", **{word: word for word in RUNS[:-1]}, RUNS[-1]: "refused"}
    ran = np.array([STANDINGS.index(verdicts[word]) for word in runs])
    lost = [problem != "", runs == RUNS[-1], (fits == "no") | (fits == "")]
    return np.select(
        lost,
        [STANDINGS.index("problem"), ran, np.maximum(ran, STANDINGS.index("does not fit"))],
        ran,
    )


def offered(rows: pd.DataFrame | dict[str, Any]) -> np.ndarray:
    """Whether each result row fits, or is tight, and is not refused."""
    return standing(rows) < OFFERED


def rank(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows: best standing first, then cheapest by the hour, then smallest."""
    keys = [
        rows[name].to_numpy(dtype=float) for name in ("memory_bytes", "usd_per_hour_on_demand")
    ]  # NaN goes last
    return rows.iloc[np.lexsort((*keys, (rows["fits"] == "tight").to_numpy(), standing(rows)))]


def scenario_of(row: Mapping[str, Any] | pd.Series) -> dict[str, Any]:
    """The inputs of a result row, as one scenario."""
    return {name: row[name] for name in inputs_by_name() if name in row}
