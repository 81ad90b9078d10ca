"""Own runs, judged on pairs of published runs: `python -m validation.calibration` writes results/calibration.csv.

The estimate is calibrated on one run of a pair and held against the other, of the same software in the same release and on the same
card. The pairs are ordered, drawn for each run by a rule (a hash of both rows) among all that differ in something. The ratios of
catalogs/calibrated/time_constants.yaml that say how alike two runs are (run_*_ratio) rest on these pairs.
"""

import zlib

import numpy as np
import pandas as pd

from calc import load_catalogs
from calc.evaluate import evaluate_all
from calc.scenarios import likeness
from calc.scenarios.join_runs import OTHER
from calc.scenarios.lookups import constants
from validation.speed import RESULTS, encoders, errors, published, with_published_models

OF_PROMPTS = ("time_to_first_token_seconds", "prefill_tokens_per_second")
SAME = ["quantity", "implementation", "engine", "engine_release", "gpu"]
PARTNERS = 12  # runs on which each run's estimate is calibrated in turn
NUMBERS = ("gpus", "batch", "sequence_tokens")


def runs_of_one_card(catalogs):
    """Published runs with the logarithm of measured over estimated time, and of the ends of their range."""
    rows = errors(pd.concat([published(), encoders()], ignore_index=True), with_published_models(catalogs))
    seconds = rows["measured"].str.endswith("_seconds")
    rows["error"] = np.where(seconds, 1, -1) * np.log(rows["value"] / rows["predicted"])
    rows["low"], rows["high"] = np.log(rows["low_ratio"]), np.log(rows["high_ratio"])
    first = rows["measured"].isin(OF_PROMPTS)
    rows["quantity"] = np.where(first, "first token", np.where(rows["work"] == "training", "training time", "serving time"))
    rows = rows[np.isfinite(rows["error"]) & (rows["problem"] == "")]
    rows[list(NUMBERS)] = rows[list(NUMBERS)].apply(pd.to_numeric, errors="coerce").fillna(1.0)  # an image has no length
    return rows.fillna(dict.fromkeys(SAME, "")).reset_index(drop=True)


def pairs_of(rows):
    """For each run, by number, the runs that it is calibrated on in turn."""
    pairs = []
    for _, group in rows.groupby(SAME, sort=False):
        for one in group.index:
            others = [other for other in group.index if rows.at[other, "row"] != rows.at[one, "row"]]
            others.sort(key=lambda other: zlib.crc32(f"{rows.at[one, 'row']} {rows.at[other, 'row']}".encode()))
            pairs += [(one, other) for other in others[:PARTNERS]]
    return np.array(pairs).T


def calibrated(rows, one, other, catalogs):
    """The error and the range of `one` before and after a run of `other`, by the formulas of the estimate."""
    ratios = constants(catalogs, "time_constants")
    run, row = rows.loc[other].reset_index(drop=True), rows.loc[one].reset_index(drop=True)
    work = np.prod([np.where(run[name] == row[name], 1, ratios[OTHER[name]]) for name in ("model", "precision")], axis=0)
    columns = {f"run_{name}": run[name].to_numpy()[None] for name in NUMBERS} | {name: row[name].to_numpy() for name in NUMBERS}
    columns |= ratios | {"run_work_likeness": work[None], "run_gpu_row": np.zeros((1, 1)), "gpu_row": np.zeros(1)}
    columns["trains"] = (row["work"] == "training").to_numpy()
    for quantity in ("time", "first_token"):
        columns |= {f"{quantity}_run_inverse": np.ones((1, 1, 1)), f"{quantity}_run_weight": run["error"].to_numpy()[None]}
    table = evaluate_all((likeness.run_lengths_likeness, *likeness.OF_TIME), columns)
    first = row["quantity"] == "first token"
    width, ratio = (np.where(first, table[f"first_token_run_{name}"], table[f"time_run_{name}"]) for name in ("width_ratio", "ratio"))
    after = row["error"] - np.log(ratio)
    inside = [(row["low"] * narrow <= error) & (error <= row["high"] * narrow) for error, narrow in ((row["error"], 1), (after, width))]
    same = (run["model"] == row["model"]) & (run["precision"] == row["precision"])
    return row.assign(after=after, narrower=1 - width, inside_before=inside[0], inside_after=inside[1], same=same)


def summary(pairs):
    """By quantity and by how near the runs are: pairs, median error and share inside before and after, how much narrower."""
    pairs = pairs.assign(near=np.where(pairs["same"], "same model and format", "another model or format"))
    tables = [pairs, pairs[pairs["same"]].assign(quantity="all times"), pairs.assign(quantity="all times", near="all")]
    groups = pd.concat(tables).groupby(["quantity", "near"])
    return groups.agg(
        pairs=("after", "size"),
        median_before_ratio=("error", lambda errors: np.expm1(errors.abs().median())),
        median_after_ratio=("after", lambda errors: np.expm1(errors.abs().median())),
        narrower_ratio=("narrower", "median"),
        inside_before_ratio=("inside_before", "mean"),
        inside_after_ratio=("inside_after", "mean"),
    ).reset_index()


def main():
    """Print the pairs by group and write them."""
    catalogs = load_catalogs()
    rows = runs_of_one_card(catalogs)
    table = summary(calibrated(rows, *pairs_of(rows), catalogs))
    print(table.round(3).to_string(index=False))
    table.to_csv(RESULTS / "calibration.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
