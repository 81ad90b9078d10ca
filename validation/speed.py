"""Time against published runs: `python -m validation.speed` prints the error and writes results/speed_errors.csv.

The numbers of catalogs/utilization.yaml, engines.yaml and kernels.yaml were fitted to two thirds of the rows; the other
third was held out of the fit. A row whose set-up a scenario cannot say is left out, with the reason in the data file.
"""

import json
import zlib
from pathlib import Path

import numpy as np
import pandas as pd

from calc import add_models, load_catalogs
from calc.evaluate import Table
from calc.pipeline import parts
from calc.scenarios.inputs import BY_NAME
from calc.stages import NAMES, STAGES, TIME, walk

DATA = Path(__file__).parent / "data"
RESULTS = Path(__file__).parent / "results"
HELD_OUT_OF = 3


def published():
    """The published rows that a scenario can say, with the mark of those held out."""
    rows = pd.read_csv(DATA / "throughput_published.csv", keep_default_na=False, low_memory=False)
    rows = rows[rows["left_out"] == ""].reset_index(drop=True)
    rows["value"] = rows["value"].astype(float)
    return rows.assign(held_out=[zlib.crc32(f"{row}".encode()) % HELD_OUT_OF == 0 for row in rows["row"]])


def with_published_models(catalogs):
    """The catalogs with the models of the published runs that they lack."""
    return add_models(catalogs, json.loads((DATA / "throughput_models.json").read_text("utf-8")))


def time_table(scenarios: pd.DataFrame, catalogs) -> tuple[Table, np.ndarray]:
    """The columns of the scenarios with time in it, and what is wrong with each; memory is not estimated."""
    table, problems = {}, np.full(len(scenarios), "", dtype=object)
    for part in parts(scenarios, catalogs):
        with np.errstate(divide="ignore", invalid="ignore"):
            walk(part.table, (STAGES[NAMES.index("layout")], *TIME))
        problems[part.rows] = part.problems.text
        for name, values in part.table.items():
            if isinstance(values, np.ndarray) and values.ndim == 1:
                table.setdefault(name, np.full(len(scenarios), np.nan))[part.rows] = values
    return table | {"rows": len(scenarios)}, problems


def errors(rows, catalogs):
    """The rows with the predicted value and its error beside the published one."""
    scenarios = rows[[name for name in rows if name in BY_NAME]]
    table, problems = time_table(scenarios, catalogs)
    predicted = np.select(
        [rows["measured"] == name for name in rows["measured"].unique()], [table[name] for name in rows["measured"].unique()]
    )
    low = rows["value"] / predicted <= 1 / table["engine_time_low_ratio"]
    high = rows["value"] / predicted >= 1 / table["engine_time_high_ratio"]
    return rows.assign(predicted=predicted, error_ratio=predicted / rows["value"] - 1, inside=low & high, problem=problems)


def summary(found, by):
    """Median, bias and 90th percentile of the error, and the share inside the range, by group."""
    groups = found.assign(size=found["error_ratio"].abs()).groupby(by)
    return groups.agg(
        rows=("size", "size"),
        median_error_ratio=("size", "median"),
        bias_ratio=("error_ratio", "median"),
        p90_error_ratio=("size", lambda sizes: sizes.quantile(0.9)),
        inside_ratio=("inside", "mean"),
    ).round(3)


def main():
    """Print the errors and write them."""
    found = errors(published(), with_published_models(load_catalogs()))
    print(summary(found, ["work", "held_out"]).to_string(), "\n")
    print(summary(found, ["source", "implementation", "held_out"]).to_string())
    RESULTS.mkdir(exist_ok=True)
    kept = ["row", "published_model", "work", "measured", "value", "predicted", "error_ratio", "inside", "held_out"]
    found[[*kept, "source", "assumed"]].to_csv(RESULTS / "speed_errors.csv", index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
