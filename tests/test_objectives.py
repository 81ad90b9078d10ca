"""Preference and reward training: what is held beside the policy, and how a release scores tokens."""

import pandas as pd
import pytest
from examples import catalogs

from calc import estimate
from calc.engine.one_scenario import phases_table

DPO = {"model": "llama-3.2-1b", "objective": "dpo", "implementation": "trl", "precision": "bf16-autocast", "recompute": "full", "batch": 4}
GRPO = DPO | {"model": "llama-3.1-8b", "objective": "grpo", "gpus": 8, "sharding": "zero3", "gpu": "h100-80gb-sxm", "rollout_sleep": "yes"}


def one(**scenario):
    result = estimate(scenario, catalogs(), solve=False)
    assert result["problem"] == ""
    return result


def test_a_kept_reference_is_a_second_copy_of_the_weights():
    kept, none = one(**DPO, reference="kept"), one(**DPO, reference="precomputed")
    assert kept["other_models_bytes"] == kept["weights_bytes"]
    assert none["other_models_bytes"] == 0
    assert one(**DPO | {"tuning": "lora"})["reference"] == "adapter-off"


def test_a_pair_is_two_sequences():
    orpo, sft = one(**DPO | {"objective": "orpo"}), one(**DPO | {"objective": "sft", "batch": 8})
    assert orpo["saved_activations_bytes"] == sft["saved_activations_bytes"]
    assert orpo["step_tokens"] == sft["step_tokens"]


@pytest.mark.parametrize("objective", ["dpo", "sft"])
def test_the_release_decides_and_the_note_says_so(objective):
    newest, earlier = one(**DPO | {"objective": objective}), one(**DPO | {"objective": objective}, library_version="1.12.0")
    assert earlier["allocated_peak_bytes"] > 1.1 * newest["allocated_peak_bytes"]
    assert "newest known release" in newest["note"]
    assert "newest known release" not in earlier["note"]


def test_an_engine_asleep_leaves_its_share_to_the_update():
    asleep, awake = one(**GRPO), one(**GRPO | {"rollout_sleep": "no"})
    share = 0.3 * awake["gpu_memory_bytes"]
    assert awake["rollout_engine_bytes"] == pytest.approx(share)
    assert (asleep["peak_phase"], awake["peak_phase"]) == ("rollout", "backward")
    assert awake["allocated_peak_bytes"] > asleep["allocated_peak_bytes"]
    phases = phases_table(GRPO, catalogs()).set_index(["phase", "component"])["bytes"]
    assert phases["rollout", "rollout_engine_bytes"] == pytest.approx(share)
    assert set(phases_table({"model": "gpt2"}, catalogs())["phase"]) == {"load", "forward", "backward", "step"}


def test_ppo_trains_a_value_model_beside_the_policy():
    ppo, grpo = one(**GRPO | {"objective": "ppo"}), one(**GRPO | {"kl_coefficient": 0.1})
    assert grpo["other_models_bytes"] == grpo["weights_bytes"]
    assert ppo["other_models_bytes"] > 3 * grpo["other_models_bytes"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"reference": "adapter-off"}, "choose kept"),
        ({"implementation": "litgpt"}, "litgpt has no dpo"),
        ({"model": "bert-base-uncased"}, "choose sft"),
        ({"objective": "grpo", "rollout": "own gpus", "gpus": 8, "rollout_gpus": 8}, "leaves none"),
        ({"objective": "grpo", "gpu": "l4", "rollout_share": 0.05}, "rollout_share"),
        ({"objective": "dpo", "work": "inference"}, "is a way to train"),
    ],
)
def test_what_does_not_go_together_is_refused(change, says):
    assert says in estimate(DPO | change, catalogs(), solve=False)["problem"]


def test_a_result_row_read_again_gives_the_same_figures():
    first = estimate(pd.DataFrame([DPO, GRPO, GRPO | {"objective": "ppo", "rollout": "own gpus"}]), catalogs(), solve=False)
    again = estimate(first, catalogs(), solve=False)
    pd.testing.assert_frame_equal(first, again, check_categorical=False)
