"""Advice where a run is tight or does not fit: the same training first."""

import pytest
from examples import catalogs, recorded

from calc import estimate
from calc.answers.advice import advise
from calc.studies.neighbors import distinct_changes, narrower_formats, neighbors

CASES = recorded("cases/advice.json")
PLAN = (CASES["fitting"] | CASES["others"] | CASES["too big"])["without a length"]


def test_a_tight_run_is_told_first_what_makes_the_same_training_certain_to_fit():
    scenario = {
        "model": "qwen2.5-32b",
        "implementation": "deepspeed",
        "precision": "bf16-master",
        "sharding": "zero3",
        "recompute": "full",
        "gpu": "a100-80gb-sxm",
        "gpus": 7,
        "sequence_tokens": 1024,
    }
    row = estimate(scenario, catalogs(), solve=False)
    assert row["fits"] == "tight"
    changes = advise(row, catalogs())
    assert set(changes["fits"]) == {"yes"}
    assert changes["change"].iloc[0] == "optimizer state in CPU memory"


def test_rollouts_are_told_to_score_fewer_sequences_at_once():
    scenario = {
        "model": "qwen3-8b",
        "implementation": "openrlhf",
        "objective": "grpo",
        "gpu": "h100-80gb-sxm",
        "gpus": 6,
        "precision": "bf16-master",
        "sharding": "zero3",
        "recompute": "full",
        "loss": "fused",
        "offload": "optimizer",
        "rollout": "own gpus",
        "rollout_gpus": 2,
        "generations": 2,
        "prompt_tokens": 4096,
        "completion_tokens": 8192,
        "sequence_tokens": 12_288,
        "log_prob_batch": 32,
    }
    row = estimate(scenario, catalogs(), solve=False)
    assert (row["fits"], row["peak_phase"]) == ("no", "log-probs")
    assert "1 sequence scored at once" in set(advise(row, catalogs())["change"])


def test_what_changes_nothing_and_adapters_of_a_run_from_scratch_are_left_out():
    planned = estimate(PLAN, catalogs(), solve=False)
    changes = neighbors(planned, catalogs(), "on-demand", {}).changes
    assert all(
        planned[name] != value
        for change in changes
        for name, value in change.items()
        if name in planned
    )
    assert distinct_changes(planned, [changes[0], changes[0]]) == changes[:1]
    assert any("tuning" in change for change in changes)
    from_scratch = neighbors(planned, catalogs(), "on-demand", {"goal": "train"})
    assert not any("tuning" in change for change in from_scratch.changes)


@pytest.mark.parametrize(
    ("model", "precision", "narrower"),
    [
        ("gpt-oss-20b", "mxfp4", set()),  # 4 bits are the fewest
        ("kimi-k2.6", "int4-experts", set()),
        ("qwen3-coder-480b-a35b", "fp8", {"nvfp4"}),  # as NVIDIA publishes it
        ("olmo-2-7b", "bf16", {"fp8", "int8", "awq-4bit"}),  # nobody publishes fewer bits
    ],
)
def test_a_service_is_told_of_fewer_bits_as_they_are_published(model, precision, narrower):
    row = {"model": model, "precision": precision}
    assert set(narrower_formats(row, catalogs())) == narrower
