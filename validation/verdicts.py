"""Whether published runs ran, and what the estimate says of them: called "no" though they ran, "yes" though they did not.

Rows of published_memory.csv that name their card, and every run whose speed was published; not those whose recompute or
batch the source leaves open.
"""

import numpy as np
import pandas as pd

from calc import estimate
from calc.scenarios.inputs import BY_NAME
from validation.cases import published_scenario, read
from validation.speed import DATA, with_published_models

RAN, FAILED = "ran", "out of memory"
OPEN = ("recompute", "as many sequences as the memory holds")  # what the source of a speed does not say
SHOWN = ["work", "model", "precision", "implementation", "gpu", "gpus", "batch", "sequence_tokens", "fits", "memory_basis", "problem"]


def of_memory():
    """The runs of published_memory.csv that name their card."""
    rows = [row for row in read("published_memory") if row["gpu"] and not row["left_out"]]
    return pd.DataFrame([{**published_scenario(row), **{name: row[name] for name in ("source", "outcome", "gpu")}} for row in rows])


def of_speed(name):
    """The runs of which a speed was published, once each; they ran."""
    rows = pd.read_csv(DATA / f"{name}.csv", keep_default_na=False, low_memory=False)
    usable = (rows["left_out"] == "") & ~rows["assumed"].str.contains("|".join(OPEN))
    if "published_recompute" in rows:
        usable &= (rows["work"] == "inference") | ~rows["published_recompute"].isin(["not stated", "per recipe (not in the table)"])
    rows = rows[usable]
    return rows[["source", *(column for column in rows if column in BY_NAME)]].assign(outcome=RAN).drop_duplicates()


def verdicts(catalogs):
    """A row per published run: whether it ran, and whether it is said to fit."""
    parts = [of_memory(), of_speed("throughput_published"), of_speed("throughput_serving_2026")]
    runs = pd.concat([part.astype(object) for part in parts], ignore_index=True).fillna("")
    estimates = estimate(runs[[name for name in runs if name in BY_NAME]], with_published_models(catalogs), solve=False)
    return pd.concat([runs[["source", "outcome"]], estimates[SHOWN]], axis="columns").astype({"fits": str, "problem": str})


def verdicts_summary(runs):
    """By work and outcome: runs, and the share called no, tight and yes; a row of all beside them."""
    runs = runs[runs["problem"] == ""]
    groups = [("all", runs), *runs.groupby("work", observed=True)]
    rows = []
    for work, part in groups:
        for outcome in (RAN, FAILED):
            fits = part.loc[part["outcome"] == outcome, "fits"]
            shares = {f"called_{verdict}_ratio": np.mean(fits == verdict) if len(fits) else np.nan for verdict in ("no", "tight", "yes")}
            rows.append({"work": work, "outcome": outcome, "runs": len(fits), **shares})
    return pd.DataFrame(rows)
