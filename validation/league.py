"""Estimators of memory beside each other, on the same peaks of published and simulated runs.

    make league

The estimate, the four calculators that it grew from, and packages of other authors
(requirements/league.txt), each asked through its own functions. What it has no word for counts as
refused. Where a peak is what was allocated, what a package states as overhead is left out. Writes
results/league.csv, a row for each estimator with its version and the day on which it was asked, and
results/league_predictions.csv, what each said of every peak.
"""

from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from calc import estimate, load_catalogs
from calc.engine.pipeline import parts
from calc.explain.calculators import SYSTEMS, compared_with_ours
from calc.scenarios.inputs import BY_NAME
from calc.scenarios.read import as_frame
from validation.league_packages import PACKAGES

RESULTS = Path(__file__).parent / "results"
PEAKS = ("allocated_peak_bytes", "logged_peak_bytes", "memory_bytes")


TITLES = tuple(system.title for system in SYSTEMS)


def cases(catalogs):
    """The covered peaks of whole models in the catalog, each with the estimate of its scenario."""
    rows = pd.read_csv(RESULTS / "errors.csv", keep_default_na=False, low_memory=False)
    rows = rows[
        rows["quantity"].isin(PEAKS)
        & (rows["problem"] == "")
        & rows["model"].isin(catalogs.models.index)
    ].reset_index(drop=True)
    return rows, estimate(rows[[name for name in rows if name in BY_NAME]], catalogs, solve=False)


def inner_width(model, catalogs):
    """Inner width of a model's feed-forward networks. [elements]"""
    return float(np.max(next(parts(as_frame({"model": model}), catalogs)).table["stack_ffn_width"]))


def predictions_of(rows, estimates, catalogs):
    """Yield a row for each case and estimator: predicted bytes, NaN where it refuses."""
    inner = {model: inner_width(model, catalogs) for model in rows["model"].unique()}
    for number, row in enumerate(estimates.astype(object).to_dict("records")):
        case = rows.iloc[number]
        is_allocated = case["quantity"] != "memory_bytes"
        model = catalogs.models.loc[row["model"]]
        predicted = {
            "Headroom": float(case["predicted"]),
            **_of_calculators(row, is_allocated, catalogs),
            **_of_packages(row | {"ffn": inner[row["model"]]}, model, is_allocated),
        }
        about = {"case": case["case"], "truth": float(case["truth"])}
        for estimator, bytes_ in predicted.items():
            yield {**about, "estimator": estimator, "predicted": bytes_}


def _of_calculators(row, is_allocated, catalogs):
    """Bytes that each of the four calculators predicts; NaN where it refuses. [B]"""
    predicted = {}
    for other in compared_with_ours(row, catalogs).to_dict("records")[1:]:
        if other["title"] in TITLES:
            bytes_ = other["needed_bytes"] - other["overhead_bytes"] * is_allocated
            predicted[other["title"]] = np.nan if other["problem"] else bytes_
    return predicted


def _of_packages(row, model, is_allocated):
    """Bytes that each package of other authors predicts; NaN where it refuses or fails. [B]"""
    predicted = {}
    for name, predict in PACKAGES.items():
        try:
            predicted[name] = float(predict(row, model, is_allocated))
        except (AssertionError, KeyError, ValueError):
            predicted[name] = np.nan
    return predicted


def league(predictions):
    """Cases answered and refused, and errors, by estimator.

    The errors are the median, the 90th percentile, and the share within 10 %.
    """
    size = (predictions["predicted"] / predictions["truth"] - 1).abs()
    groups = predictions.assign(size=size, refused=predictions["predicted"].isna()).groupby(
        "estimator", sort=False
    )
    return groups.agg(
        answered=("size", "count"),
        refused=("refused", "sum"),
        median_error_ratio=("size", "median"),
        p90_error_ratio=("size", lambda sizes: sizes.quantile(0.9)),
        within_ratio=("size", lambda sizes: (sizes.dropna() <= 0.1).mean()),
    ).reset_index()


def main():
    """Ask every estimator, print the table and write it."""
    catalogs = load_catalogs()
    rows, ours = cases(catalogs)
    predictions = pd.DataFrame(predictions_of(rows, ours, catalogs))
    table = league(predictions)
    table["version"] = [version(name) if name in PACKAGES else "" for name in table["estimator"]]
    table = table.assign(asked_on=date.today().isoformat())
    print(table.round(3).to_string())
    wide = predictions.assign(quantity=np.repeat(rows["quantity"].to_numpy(), len(table)))
    wide = wide.pivot_table(
        "predicted", ["case", "quantity", "truth"], "estimator", sort=False, dropna=False
    ).reset_index()
    wide = wide[wide["Headroom"].notna()]
    wide.to_csv(RESULTS / "league_predictions.csv", index=False, float_format="%.6g")
    table.to_csv(RESULTS / "league.csv", index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
