"""The estimate against what PyTorch allocates, case by case: tests/published, each with source and tolerance."""

from pathlib import Path

import pytest
import yaml
from examples import catalogs

from calc import estimate
from validation.compare import with_fewer_layers

STEPS = yaml.safe_load((Path(__file__).parent / "published" / "steps.yaml").read_text("utf-8"))["steps"]


@pytest.mark.parametrize("published", STEPS, ids=[step["case"] for step in STEPS])
def test_allocated_peak(published):
    scenario = {name: value for name, value in published.items() if name not in ("case", "bytes", "tolerance_ratio")}
    held, layers = catalogs(), scenario.pop("layers", 0)
    if layers:
        held, scenario["model"] = with_fewer_layers(held, scenario["model"], layers)
    result = estimate(scenario, held, solve=False)
    assert result["problem"] == ""
    assert result["allocated_peak_bytes"] == pytest.approx(published["bytes"], rel=published["tolerance_ratio"])


def test_what_is_published_covers_the_kinds_of_work():
    """Training in three formats, adapters on three bases, sharding, tensor parallel, recompute and serving."""
    columns = ("work", "precision", "sharding", "tuning", "recompute")
    found = {name: {step.get(name) for step in STEPS} for name in columns}
    assert found["work"] == {"training", "inference"}
    assert found["precision"] >= {"bf16", "fp32", "bf16-mixed", "nf4-dq", "int8"}
    assert found["sharding"] >= {"zero2", "zero3"}
    assert found["recompute"] >= {"full", "selective-ops"}
    assert found["tuning"] >= {"lora"}
