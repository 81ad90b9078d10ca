"""The status of estimated scenarios: runs and fits, or why not; and their order."""

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.mappings import Cells
from calc.rules.support import RUNS
from calc.scenarios.inputs import inputs_by_name

# Best first: the row fits (or is tight) and runs, runs by emulation, or may run; else why it does
# not.
STATUSES = (*RUNS[:-1], "no-fit", "no-card", "refused", "problem")
OFFERED = len(RUNS) - 1
FOUR_BITS = 5  # formats of 4 bits keep their scales in part of a further bit


def status(rows: pd.DataFrame | Row) -> np.ndarray:
    """The status of each result row, as its place in STATUSES."""
    fits, runs, problem = (
        np.atleast_1d(np.asarray(rows[name], dtype=object)) for name in ("fits", "runs", "problem")
    )
    verdicts = {"": "no-card", **{word: word for word in RUNS[:-1]}, RUNS[-1]: "refused"}
    ran = np.array([STATUSES.index(verdicts[word]) for word in runs])
    lost = [problem != "", runs == RUNS[-1], (fits == "no") | (fits == "")]
    return np.select(
        lost,
        [STATUSES.index("problem"), ran, np.maximum(ran, STATUSES.index("no-fit"))],
        ran,
    )


def is_offered(rows: pd.DataFrame | Row) -> np.ndarray:
    """Return whether each result row fits, or is tight, and is not refused."""
    return status(rows) < OFFERED


def rank(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows: best status first, then cheapest by the hour, then smallest."""
    # NaN goes last.
    keys = [rows[name].to_numpy(dtype=float) for name in ("memory_bytes", "usd_per_hour_on_demand")]
    return rows.iloc[np.lexsort((*keys, (rows["fits"] == "tight").to_numpy(), status(rows)))]


def scenario_of(row: Cells | pd.Series) -> Row:
    """The inputs of a result row, as one scenario."""
    return {name: row[name] for name in inputs_by_name() if name in row}


def method_name(row: Row, catalogs: Catalogs) -> str:
    """Return the method of a row: Full, LoRA or QLoRA."""
    if row["tuning"] != "lora":
        return "Full"
    return "QLoRA" if matrix_bits(row, catalogs) < FOUR_BITS else "LoRA"


def matrix_bits(row: Row, catalogs: Catalogs) -> float:
    """Bits of each number of the large matrices."""
    return 8 * float(catalogs.precisions["matrix_bytes_each"][row["precision"]])
