"""Advice where a run is tight or does not fit: the same training first."""

from examples import catalogs

from calc import estimate
from calc.answers.advice import advise


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
