"""The estimate against every case: `python -m validation.compare`.

It prints the error by group and writes `results/`.

`errors.csv` has a row per case; `summary.csv` the median, 90th percentile and worst error, the
share in the range and the range's half width; `verdicts.csv` whether published runs ran and what is
said of them. Simulated truth is what PyTorch allocates: our overhead is added before it is held
against the range, which has it; to what a run had reserved, our context.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from calc import estimate, load_catalogs
from calc.scenarios.inputs import BY_NAME
from validation.cases import all_cases, published_scenario, read
from validation.speed import DATA, with_published_models

RESULTS = Path(__file__).parent / "results"
NOT_SCENARIO = [
    "case",
    "source",
    "group",
    "layers",
    "quantity",
    "truth",
    "left_out",
    "published_by",
    "lacks_context",
]
# Below, a range is absolute: context and cached blocks alone are 1 to 2.5 GiB.
RANGED_BYTES = 6 * 2**30
ALLOCATED, LOGGED, SHOWN = "allocated_peak_bytes", "logged_peak_bytes", "memory_bytes"
BY_GROUP, BY_FAMILY = ["group"], ["group", "family"]
RAN, FAILED = "ran", "out of memory"
# What the source of a speed does not say.
OPEN = (
    "recompute",
    "as many sequences as the memory holds",
)
ASKED = [
    *("work", "model", "precision", "implementation", "gpu", "gpus", "batch", "sequence_tokens"),
    *("fits", "fit_probability", "memory_basis", "problem"),
]


def with_fewer_layers(catalogs, model, layers):
    """Return the catalogs with a copy of the model that has only this many layers, and its id.

    Each side loses layers in its largest stack.
    """
    name = f"{model}-{layers}-layers"
    if layers == catalogs.models.at[model, "layers"]:
        return catalogs, model
    if name in catalogs.models.index:
        return catalogs, name
    stacks = catalogs.stacks[catalogs.stacks["model"] == model].copy()
    for _, side in stacks.groupby("side"):
        share = np.maximum(np.round(side["layers"] * layers / side["layers"].sum()), 1)
        largest = side["layers"].idxmax()
        share[largest] = layers - share.drop(largest).sum()
        stacks.loc[side.index, "layers"] = share
    stacks["model"] = name
    entry = catalogs.models.loc[[model]].rename(index={model: name})
    entry["layers"] = layers
    entry["parameters"] = (
        entry["outside_parameters"] + (stacks["layers"] * stacks["block_parameters"]).sum()
    )
    models = pd.concat([catalogs.models, entry])
    return replace(
        catalogs, models=models, stacks=pd.concat([catalogs.stacks, stacks], ignore_index=True)
    ), name


def predictions(cases, catalogs):
    """The cases with their estimate, error and problem, and whether the range holds the truth."""
    for row in cases.index[cases["layers"] > 0]:
        catalogs, name = with_fewer_layers(
            catalogs, cases.at[row, "model"], cases.at[row, "layers"]
        )
        cases.at[row, "model"] = name
    scenarios = cases.drop(columns=NOT_SCENARIO)
    estimates = estimate(scenarios, catalogs)
    errors = cases[["case", "group", "model", "quantity", "truth", "published_by"]].copy()
    errors["truth"] += np.where(
        cases["lacks_context"] > 0, estimates["context_bytes"].to_numpy(), 0
    )
    errors.insert(2, "family", catalogs.models["family"].reindex(cases["model"]).to_numpy())
    errors["predicted"] = [estimates.at[row, name] for row, name in cases["quantity"].items()]
    errors["error_ratio"] = errors["predicted"] / errors["truth"] - 1
    simulated = cases["quantity"].isin([ALLOCATED, LOGGED])
    beyond = estimates["memory_bytes"].to_numpy() - errors["predicted"].to_numpy(dtype=float)
    shown = errors["truth"] + np.where(simulated, beyond, 0)
    inside = (shown >= estimates["memory_low_bytes"].to_numpy()) & (
        shown <= estimates["memory_high_bytes"].to_numpy()
    )
    errors["peak_phase"] = estimates["peak_phase"].to_numpy()
    errors["problem"] = estimates["problem"].fillna("").to_numpy()
    ranged = np.where(
        cases["group"].str.startswith("measured"),
        cases["quantity"] == SHOWN,
        simulated | (cases["quantity"] == SHOWN),
    )
    ranged = ranged & (errors["problem"] == "")
    errors["inside"] = np.where(ranged, inside.astype(float), np.nan)
    errors["memory_basis"] = estimates["memory_basis"].astype(str).to_numpy()
    errors["limit_ratio"] = np.where(
        ranged, estimates["memory_high_bytes"].to_numpy() / shown - 1, np.nan
    )
    half = (
        (estimates["memory_high_bytes"] - estimates["memory_low_bytes"])
        / 2
        / estimates["memory_bytes"]
    )
    stated = (
        ranged
        & (estimates["memory_bytes"] > RANGED_BYTES)
        & ~errors["memory_basis"].str.contains("extrapolated").to_numpy()
    )
    errors["half_width_ratio"] = np.where(stated, half, np.nan)
    return pd.concat([errors, scenarios.drop(columns="model")], axis="columns")


def summary(errors, by):
    """Cases, refusals and errors by group, and the cost of a limit at the range's high end.

    The cost is the share of runs that it would kill, and the memory that it wastes.
    """
    answered = errors[errors["problem"] == ""]
    size = answered["error_ratio"].abs().groupby([answered[name] for name in by])
    table = pd.DataFrame(
        {
            "cases": errors.groupby(by).size(),
            "refused": (errors["problem"] != "").groupby([errors[name] for name in by]).sum(),
            "median_error_ratio": size.median(),
            "p90_error_ratio": size.quantile(0.9),
            "worst_error_ratio": size.max(),
            "mean_signed_error_ratio": answered.groupby(by)["error_ratio"].mean(),
            "inside_ratio": answered.groupby(by)["inside"].mean(),
            "half_width_ratio": answered.groupby(by)["half_width_ratio"].median(),
            "killed_ratio": (answered["limit_ratio"] < 0)
            .groupby([answered[name] for name in by])
            .mean(),
            "wasted_ratio": answered.groupby(by)["limit_ratio"].median(),
        }
    )
    return table.reset_index()


def of_memory():
    """The runs of published_memory.csv that name their card."""
    rows = [row for row in read("published_memory") if row["gpu"] and not row["left_out"]]
    return pd.DataFrame(
        [
            {
                **published_scenario(row),
                **{name: row[name] for name in ("source", "outcome", "gpu")},
            }
            for row in rows
        ]
    )


def of_speed(name):
    """The runs whose speed was published, once each; all of them fitted."""
    rows = pd.read_csv(DATA / f"{name}.csv", keep_default_na=False, low_memory=False)
    usable = (rows["left_out"] == "") & ~rows["assumed"].str.contains("|".join(OPEN))
    if "published_recompute" in rows:
        usable &= (rows["work"] == "inference") | ~rows["published_recompute"].isin(
            ["not stated", "per recipe (not in the table)"]
        )
    rows = rows[usable]
    return (
        rows[["source", *(column for column in rows if column in BY_NAME)]]
        .assign(outcome=RAN)
        .drop_duplicates()
    )


def verdicts(catalogs):
    """A row per published run: whether it ran, and whether the estimate says that it fits.

    Of runs that name their card: not those whose recompute or batch the source leaves open.
    """
    parts = [of_memory(), of_speed("throughput_published"), of_speed("throughput_serving_2026")]
    runs = pd.concat([part.astype(object) for part in parts], ignore_index=True).fillna("")
    estimates = estimate(
        runs[[name for name in runs if name in BY_NAME]],
        with_published_models(catalogs),
        solve=False,
    )
    return pd.concat([runs[["source", "outcome"]], estimates[ASKED]], axis="columns").astype(
        {"fits": str, "problem": str}
    )


def verdicts_summary(runs):
    """Runs by work and outcome, and the shares that the estimate calls no, tight and yes.

    The first rows are for all work together.
    """
    runs = runs[runs["problem"] == ""]
    groups = [("all", runs), *runs.groupby("work", observed=True)]
    rows = []
    for work, part in groups:
        for outcome in (RAN, FAILED):
            fits = part.loc[part["outcome"] == outcome, "fits"]
            shares = {
                f"called_{verdict}_ratio": np.mean(fits == verdict) if len(fits) else np.nan
                for verdict in ("no", "tight", "yes")
            }
            rows.append({"work": work, "outcome": outcome, "runs": len(fits), **shares})
    return pd.DataFrame(rows)


def main():
    cases = all_cases()
    left_out = cases[cases["left_out"] != ""]
    errors = predictions(cases[cases["left_out"] == ""].reset_index(drop=True), load_catalogs())
    RESULTS.mkdir(exist_ok=True)
    errors.to_csv(RESULTS / "errors.csv", index=False, float_format="%.10g")
    left_out[["case", "group", "model", "left_out"]].to_csv(RESULTS / "left_out.csv", index=False)
    runs = verdicts(load_catalogs())
    runs.to_csv(RESULTS / "verdicts.csv", index=False)
    by_family = summary(errors, BY_FAMILY)
    groups = summary(errors, BY_GROUP).assign(family="")
    pd.concat([groups, by_family])[list(by_family)].to_csv(
        RESULTS / "summary.csv", index=False, float_format="%.4g"
    )
    percent = {name: lambda value: f"{value:.2%}" for name in by_family if name.endswith("_ratio")}
    for table in (groups.drop(columns="family"), by_family):
        print(table.to_string(index=False, formatters=percent, na_rep=""), end="\n\n")
    print(
        verdicts_summary(runs).to_string(
            index=False, formatters=percent | {"called_no_ratio": "{:.1%}".format}
        ),
        end="\n\n",
    )
    print(
        f"{len(errors)} cases, {len(left_out)} left out because no scenario says what they "
        f"did: results/left_out.csv"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
