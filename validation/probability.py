"""Coverage of the probability that a run fits, against published runs.

`python -m validation.probability` prints it and writes `results/probability.csv`.

Memory: how many published peaks lie at or below the level that so many should, where the spread of
each kind of work is that of the other models' runs (a run alone in its kind takes the spread of
figures derived from source). Fit: the mean squared difference (Brier score) between
`fit_probability` and whether a run with a card ran, by work.
"""

import sys

import numpy as np
import pandas as pd

from calc import load_catalogs
from calc.memory.memory_basis import DERIVED
from calc.memory.overhead import SCALE
from calc.say.remarks.memory import GROUNDS
from validation.compare import RAN, RANGED_BYTES, RESULTS, verdicts

DERIVED_GROUNDS = tuple(list(GROUNDS)[DERIVED:])
LEVELS = (0.5, 0.75, 0.9, 0.95)


def published_errors():
    """Peaks of published runs: kind of work, model, and log of measured over estimated."""
    errors = pd.read_csv(RESULTS / "errors.csv", keep_default_na=False, low_memory=False)
    runs = errors[
        errors["group"].str.startswith("published")
        & (errors["problem"] == "")
        & (errors["truth"] > RANGED_BYTES)
    ]
    derived = runs["memory_basis"].str.startswith(DERIVED_GROUNDS) & (runs["work"] == "training")
    several = pd.to_numeric(runs["gpus"], errors="coerce").fillna(1) > 1
    kind = np.where(
        derived,
        "derived",
        np.where(runs["work"] == "inference", "serving", np.where(several, "sharded", "training")),
    )
    return pd.DataFrame(
        {
            "kind": kind,
            "model": runs["model"],
            "ln_error": np.log(runs["truth"] / runs["predicted"]),
        }
    )


def spread_ratio(runs):
    """Root mean square of the errors over models; the runs of a model count as one. [share]"""
    return (
        np.sqrt((runs["ln_error"] ** 2).groupby(runs["model"]).mean().mean())
        if len(runs)
        else np.nan
    )


def held_out(errors):
    """Spread by which each run is judged: that of its kind's other models, or a derived one."""
    derived = errors[errors["kind"] == "derived"]
    spreads = [
        spread_ratio(errors[(errors["kind"] == row.kind) & (errors["model"] != row.model)])
        for row in errors.itertuples()
    ]
    return np.where(np.isnan(spreads), spread_ratio(derived), spreads)


def coverage(errors):
    """Runs, models and spread by kind, and the share of runs at or below each stated level."""
    standing = errors["ln_error"] / (SCALE * held_out(errors))
    rows = []
    for kind, part in [("all", errors), *errors.groupby("kind")]:
        shares = {
            f"below_{level:.0%}": np.mean(standing[part.index] <= np.log(level / (1 - level)))
            for level in LEVELS
        }
        rows.append(
            {
                "kind": kind,
                "runs": len(part),
                "models": part["model"].nunique(),
                "spread_ratio": spread_ratio(part),
            }
            | shares
        )
    return pd.DataFrame(rows)


def brier(runs):
    """Runs with a card, and the mean squared difference of probability and outcome, by work."""
    runs = runs[runs["problem"] == ""]
    squared = (runs["fit_probability"].astype(float) - (runs["outcome"] == RAN)) ** 2
    return pd.DataFrame(
        [
            {"work": work, "runs": len(part), "brier": squared[part.index].mean()}
            for work, part in [("all", runs), *runs.groupby("work", observed=True)]
        ]
    )


def main():
    shares, scores = coverage(published_errors()), brier(verdicts(load_catalogs()))
    pd.concat([shares, scores]).to_csv(
        RESULTS / "probability.csv", index=False, float_format="%.4g"
    )
    print(
        shares.to_string(index=False, float_format="{:.3f}".format),
        scores.to_string(index=False, float_format="{:.4f}".format),
        sep="\n\n",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
