"""Advice on a plan with pipeline stages or a divided sequence, which other layouts do without."""

import pytest
from examples import catalogs

from calc.answers.advice import advise
from calc.studies.neighbors import free_layout


def test_advice_frees_stages_only_beside_a_plan_that_has_some():
    plain = {"work": "training", "pipeline_parallel": 1.0, "context_parallel": 1.0}
    assert not {"pipeline_parallel", "context_parallel"} & {*free_layout(plain)}
    staged = {*free_layout(plain | {"pipeline_parallel": 2.0})}
    assert {"pipeline_parallel", "context_parallel"} <= staged


@pytest.mark.long
def test_a_plan_with_stages_is_told_what_none_would_save():
    """Llama 3.1 8B in two stages on eight H100: without them nothing has to be recomputed."""
    row = {
        "model": "llama-3.1-8b",
        "implementation": "megatron",
        "precision": "bf16-mixed",
        "sequence_tokens": 8192,
        "accumulation_steps": 8,
        "gpus": 8,
        "instance": "p5.48xlarge",
        "tensor_parallel": 2,
        "pipeline_parallel": 2,
        "sharding": "zero1",
        "recompute": "full",
        "train_tokens": 1e9,
    }
    first = advise(row, catalogs()).iloc[0]
    assert first["same_work"]
    assert first["set"]["pipeline_parallel"] == 1
    assert first["saved_work_ratio"] > 0.25
