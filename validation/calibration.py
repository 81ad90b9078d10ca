"""Accuracy of calibration on your own runs, judged on published runs.

`python -m validation.calibration` writes results/calibration.csv.

The estimate of a run is calibrated on others of the same software in the same release and on the
same card, and held against it: on one run (a pair), and, as a log has many steps and a benchmark
many rows, on several. The others are drawn for each run by a rule (a hash of both rows). So that
one large table does not decide, each median and share is given twice: over the pairs, and with each
table (software, release, card) weighing as much as any other. Last stands what no calibration can
pass: the factor that takes off the median error of the whole set-up, the run itself included. The
ratios of catalogs/calibrated/time_constants.yaml that say how alike two runs are (run_*_ratio) rest
on these runs.
"""

import zlib

import numpy as np
import pandas as pd

from calc import load_catalogs
from calc.evaluate import Columns, evaluate_all
from calc.scenarios import likeness
from calc.scenarios.likeness import NUMBERS
from calc.scenarios.lookups import catalog_rows, constants
from validation.speed import OF_PROMPTS, RESULTS, encoders, errors, published, with_published_models

TABLE = ["quantity", "implementation", "engine", "engine_release", "gpu"]
SET_UP = [*TABLE, "model", "precision"]
NEAR = 0.8  # how alike runs are that differ by a doubling or two in all
SWEEP = [*SET_UP, "gpus", "sequence_tokens", "prompt_tokens"]  # a benchmark at several loads
DRAWN = 12  # times that each run's estimate is calibrated, on others in turn
SEVERAL = (1, 3, 5, 10)
FORMULAS = (
    likeness.time_run_weight,
    likeness.time_run_share,
    likeness.time_run_ratio,
    likeness.time_run_width_ratio,
)


def runs_of_one_card(catalogs):
    """Published runs with their error and the ends of their range, as logarithms.

    The error is measured over estimated time.
    """
    rows = errors(pd.concat([published(), encoders()], ignore_index=True), catalogs)
    seconds = rows["measured"].str.endswith("_seconds")
    rows["error"] = np.where(seconds, 1, -1) * np.log(rows["value"] / rows["predicted"])
    rows["low"], rows["high"] = np.log(rows["low_ratio"]), np.log(rows["high_ratio"])
    first = rows["measured"].isin(OF_PROMPTS)
    rows["quantity"] = np.where(
        first, "first token", np.where(rows["work"] == "training", "training time", "serving time")
    )
    rows = rows[np.isfinite(rows["error"]) & (rows["problem"] == "")]
    # An image has no length.
    rows[list(NUMBERS)] = rows[list(NUMBERS)].apply(pd.to_numeric, errors="coerce").fillna(1.0)
    whole = (rows["work"] == "training") | (rows["prompt_tokens"] == 0)
    rows["prompt_tokens"] = rows["prompt_tokens"].where(~whole, rows["sequence_tokens"])
    return rows.fillna(dict.fromkeys(SET_UP, "")).reset_index(drop=True)


def draw_others(rows, of, several):
    """Draw `several` other runs of the same group for each run that has as many.

    Return the runs and their draws. Shapes: (draws,), (several, draws).
    """
    ones, others = [], []
    for group in rows.groupby(of, sort=False).indices.values():
        for one in group:
            ranked = [other for other in group if rows.at[other, "row"] != rows.at[one, "row"]]
            ranked.sort(
                key=lambda other: zlib.crc32(
                    f"{rows.at[one, 'row']} {rows.at[other, 'row']}".encode()
                )
            )
            for start in range(min(DRAWN, len(ranked)) if len(ranked) >= several else 0):
                ones.append(one)
                others.append([ranked[(start + step) % len(ranked)] for step in range(several)])
    return np.array(ones), np.array(others).T


def likeness_among(table, catalogs):
    """Return the likeness of runs to each other. Shape (runs, runs). [share]"""

    def alike(*names):
        same = np.ones((len(table), len(table)), dtype=bool)
        for name in names:
            words = table[name].to_numpy(object)
            same &= words[:, None] == words
        return same

    columns: Columns = {name: table[name].to_numpy(dtype=float) for name in NUMBERS}
    columns["gpu_row"] = catalog_rows(catalogs, "gpus", table["gpu"]).astype(float)
    columns["trains"] = (table["work"] == "training").to_numpy()
    columns |= {f"run_{name}": values[:, None] for name, values in columns.items()}
    columns |= constants(catalogs, "time_constants")
    columns["run_work_likeness"] = likeness.of_work(
        alike("work", "implementation"), alike("model"), alike("precision"), catalogs
    )
    formulas = (
        likeness.run_lengths_likeness,
        likeness.run_place_likeness,
        likeness.run_likeness,
    )
    return evaluate_all(formulas, columns)["run_likeness"]


def calibration_errors(rows, ones, others, alike):
    """Errors and ranges of runs before and after calibration on other runs.

    The estimate's own formulas do the calibration.
    """
    row = rows.loc[ones].reset_index(drop=True)
    columns = {
        "run_likeness": alike[others, ones],
        "time_run_error": rows["error"].to_numpy()[others],
    }
    table = evaluate_all(FORMULAS, columns)
    after, width = row["error"] - np.log(table["time_run_ratio"]), table["time_run_width_ratio"]
    inside = [
        (row["low"] * narrow <= error) & (error <= row["high"] * narrow)
        for error, narrow in ((row["error"], 1), (after, width))
    ]
    return row.assign(
        before=row["error"].abs(),
        after=after.abs(),
        narrower=1 - width,
        inside_before=inside[0],
        inside_after=inside[1],
    )


def summary(runs):
    """Medians of the errors, how much narrower the ranges are, and the share inside them.

    Each figure is given twice: every run counts the same, and every table of runs counts the same.
    """
    runs = runs.assign(of_table=1 / runs.groupby(TABLE)["after"].transform("size"))
    made = {"runs": len(runs)}
    for suffix, weight in (("", np.ones(len(runs))), ("_by_table", runs["of_table"].to_numpy())):
        for name in ("before", "after"):
            made[f"median_{name}{suffix}_ratio"] = np.expm1(_median(runs[name].to_numpy(), weight))
        made[f"narrower{suffix}_ratio"] = _median(runs["narrower"].to_numpy(), weight)
        for name in ("before", "after"):
            made[f"inside_{name}{suffix}_ratio"] = np.average(
                runs[f"inside_{name}"], weights=weight
            )
    return made


def _median(values, weights):
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return values[order][np.searchsorted(reached, reached[-1] / 2)]


def judgment(rows, catalogs):
    """A row for each quantity and kind of calibration."""
    alike = likeness_among(rows, catalogs)
    lines = {}
    for several in SEVERAL:
        ones, others = draw_others(rows, SET_UP, several)
        lines |= _lines(
            f"{several} of the set-up", runs := calibration_errors(rows, ones, others, alike)
        )
        if several == 1:
            lines |= _lines("1 of the set-up, near", runs[alike[others[0], ones] >= NEAR])
    lines |= _lines("3 of its sweep", calibration_errors(rows, *draw_others(rows, SWEEP, 3), alike))
    ones, others = draw_others(rows, TABLE, 1)
    unlike = (
        rows[["model", "precision"]].to_numpy()[ones]
        != rows[["model", "precision"]].to_numpy()[others[0]]
    ).any(axis=1)
    lines |= _lines(
        "1 of another model or format",
        calibration_errors(rows, ones[unlike], others[:, unlike], alike),
    )
    best = rows.assign(
        before=rows["error"].abs(),
        narrower=0.0,
        inside_before=rows["inside"],
        inside_after=rows["inside"],
    )
    best["after"] = (rows["error"] - rows.groupby(SET_UP)["error"].transform("median")).abs()
    lines |= _lines("the best one factor", best[best.groupby(SET_UP)["row"].transform("size") > 1])
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis(["calibrated_on", "quantity"])


def _lines(kind, runs):
    groups = {"all times": runs} | dict(iter(runs.groupby("quantity")))
    return {(kind, quantity): summary(group) for quantity, group in groups.items()}


def main():
    """Print the judgment by group and write it."""
    catalogs = with_published_models(load_catalogs())
    table = judgment(runs_of_one_card(catalogs), catalogs)
    print(table.round(3).to_string())
    table.to_csv(RESULTS / "calibration.csv", float_format="%.4g")


if __name__ == "__main__":
    main()
