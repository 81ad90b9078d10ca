"""Preference and reward trainings that are refused: what does not go together."""

from calc.rules.layouts import Rule
from calc.units import GIB

SMALL_SHARE = Rule(
    "rollout-share-too-small",
    lambda colocates_engine, rollout_share, rollout_card_bytes, engine_weights_bytes: (
        (colocates_engine > 0) & (engine_weights_bytes > 0.95 * rollout_share * rollout_card_bytes)
    ),
    ("rollout_share",),
    {
        "weights": lambda engine_weights_bytes: engine_weights_bytes / GIB,
        "share": lambda rollout_share, rollout_card_bytes: rollout_share * rollout_card_bytes / GIB,
    },
)
RULES = (
    Rule(
        "objective-needs-decoder",
        lambda has_answers, is_decoder: (has_answers > 0) & (is_decoder == 0),
        ("objective", "model"),
    ),
    Rule(
        "adapter-off-without-adapters",
        lambda takes_adapter_off, adapts: (takes_adapter_off > 0) & (adapts == 0),
    ),
    Rule(
        "rollout-leaves-no-gpus",
        lambda rolls_out_apart, rollout_gpus, gpus: (rolls_out_apart > 0) & (rollout_gpus >= gpus),
        ("rollout_gpus", "gpus"),
    ),
    Rule(
        "rollout-not-divided",
        lambda rolls_out, rollout_gpus, rollout_tensor_parallel: (
            (rolls_out > 0) & (rollout_gpus % rollout_tensor_parallel != 0)
        ),
        ("rollout_tensor_parallel", "rollout_gpus"),
    ),
    SMALL_SHARE,
)
