"""The estimate against what PyTorch allocates, case by case: tests/published, each with source and tolerance."""

import pandas as pd
from examples import catalogs, published

from calc import estimate
from validation.compare import with_fewer_layers

STEPS = published("steps")["steps"]


def test_the_allocated_peak_of_each_step_is_within_its_tolerance():
    steps, with_cut_models = pd.DataFrame(STEPS).astype(object), catalogs()
    for row in steps.index[steps["layers"].notna()]:
        with_cut_models, steps.loc[row, "model"] = with_fewer_layers(with_cut_models, steps.at[row, "model"], int(steps.at[row, "layers"]))
    scenarios = steps.drop(columns=["case", "bytes", "tolerance_ratio", "layers"]).fillna("")
    results = estimate(scenarios, with_cut_models, solve=False)
    assert (results["problem"] == "").all()
    error_ratio = results["allocated_peak_bytes"] / steps["bytes"] - 1
    assert error_ratio[abs(error_ratio) > steps["tolerance_ratio"]].rename(steps["case"]).to_dict() == {}


def test_what_is_published_covers_the_kinds_of_work():
    """Training in three formats, adapters on three bases, sharding, tensor parallel, recompute and serving."""
    columns = ("work", "precision", "sharding", "tuning", "recompute")
    covered = {name: {step.get(name) for step in STEPS} for name in columns}
    assert covered["work"] == {"training", "inference"}
    assert covered["precision"] >= {"bf16", "fp32", "bf16-mixed", "nf4-dq", "int8"}
    assert covered["sharding"] >= {"zero2", "zero3"}
    assert covered["recompute"] >= {"full", "selective-ops"}
    assert covered["tuning"] >= {"lora"}
