"""Megatron's fp8_param_gather: weights that are stored in 8 bits."""

import pandas as pd
import pytest

from calc import estimate, load_catalogs

# NVIDIA-NeMo/Megatron-Bridge, skills/nemo-mbridge-perf-memory-tuning
RUN = {
    "work": "training",
    "implementation": "megatron",
    "model": "llama-3-70b",
    "sequence_tokens": 4096,
    "recompute": "selective",
    "sharding": "zero1",
    "gradient_precision": "bf16",
    "gpus": 32,
    "gpu": "h100-80gb-sxm",
}
SPLIT = ("tensor_parallel", "pipeline_parallel", "accumulation_steps")


@pytest.mark.parametrize(
    ("split", "measured"), [((4, 4, 16), 58.8e9), ((4, 8, 32), 53.2e9), ((8, 4, 32), 50.2e9)]
)
def test_the_peak_is_what_megatron_measured(split, measured):
    """Its transposes are made anew for each product (no cache), which no scenario says."""
    run = RUN | dict(zip(SPLIT, split, strict=True)) | {"pipeline_chunks": 5}
    rows = pd.DataFrame([run | {"precision": name} for name in ("fp8-params", "fp8-mixed")])
    peak = estimate(rows, load_catalogs(), solve=False)["allocated_peak_bytes"].astype(float)
    assert peak[0] == pytest.approx(measured, rel=0.17)
    # Two bytes a weight of the matrices less, on each GPU.
    matrices = 80 * (2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672)
    assert peak[1] - peak[0] == pytest.approx(2 * matrices / (split[0] * split[1]), rel=0.01)
