"""Training of models whose layers are all alike or differ in their network alone, against whole simulated steps of cut models.

The steps (tests/recorded/dense_steps.jsonl) were followed as those of test_hybrid_training.py were. Of autocast's copies of
experts' weights more are counted than are kept, Mixtral's too: of a cut model, which is nearly all experts, up to 3.4 % of the peak.
"""

import pytest
from examples import recorded

from tests.test_hybrid_training import beside

STEPS = recorded("dense_steps.jsonl")


def test_a_step_peaks_where_the_simulation_did():
    for step, row in beside(STEPS):
        case = step["config"], step["scenario"]
        assert row["problem"] == "", case
        assert row["parameters"] == step["parameters"], case
        routed = any("experts" in name for name in step["config"])
        tolerance = 0.035 if routed and step["scenario"]["precision"] == "bf16-mixed" else 0.003
        assert row["allocated_peak_bytes"] == pytest.approx(step["allocated_peak_bytes"], rel=tolerance), case
        if step["scenario"]["recompute"] == "none":
            assert row["saved_activations_bytes"] == pytest.approx(step["saved_activations_bytes"], rel=0.003), case
