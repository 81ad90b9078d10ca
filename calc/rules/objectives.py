"""Preference and reward trainings that are refused: what does not go together."""

from calc.rules.layouts import Rule
from calc.units import GIB

SMALL_SHARE = Rule(
    lambda colocates_engine, rollout_share, rollout_card_bytes, engine_weights_bytes: (
        (colocates_engine > 0) & (engine_weights_bytes > 0.95 * rollout_share * rollout_card_bytes)
    ),
    "The rollout engine's weights are {weights:.1f} GiB on each card, and its share of "
    "{rollout_share:.2g} is {share:.1f}; take a "
    "larger rollout_share or rollout_tensor_parallel, or rollout own gpus.",
    {
        "weights": lambda engine_weights_bytes: engine_weights_bytes / GIB,
        "share": lambda rollout_share, rollout_card_bytes: rollout_share * rollout_card_bytes / GIB,
    },
)
RULES = (
    Rule(
        lambda has_answers, is_decoder: (has_answers > 0) & (is_decoder == 0),
        (
            "objective {objective} trains models that make text token by token; {model} is none, "
            "choose sft."
        ),
    ),
    Rule(
        lambda takes_adapter_off, adapts: (takes_adapter_off > 0) & (adapts == 0),
        (
            "reference adapter-off is the base without LoRA's adapters, and tuning is full; "
            "choose kept, precomputed or none."
        ),
    ),
    Rule(
        lambda rolls_out_apart, rollout_gpus, gpus: (rolls_out_apart > 0) & (rollout_gpus >= gpus),
        (
            "rollout_gpus {rollout_gpus:.0f} leaves none of the {gpus:.0f} GPUs to train; take "
            "fewer, or more GPUs."
        ),
    ),
    Rule(
        lambda rolls_out, rollout_gpus, rollout_tensor_parallel: (
            (rolls_out > 0) & (rollout_gpus % rollout_tensor_parallel != 0)
        ),
        (
            "rollout_tensor_parallel {rollout_tensor_parallel:.0f} does not divide the "
            "{rollout_gpus:.0f} GPUs that generate; take a divisor."
        ),
    ),
    SMALL_SHARE,
)
