"""The classes of time_constants.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from calc.catalogs.schemas.kinds import CatalogFile, Entry, Positive, Text, hint


class TimeConstant(Entry, kw_only=True):
    """A number of time that belongs to no card, software or choice."""

    value: Annotated[Positive, hint("a number above 0")]
    unit: Annotated[
        Literal[
            "bytes", "bytes_per_second", "count", "passes", "ratio", "seconds", "steps", "tokens"
        ],
        hint("its unit"),
    ]
    meaning: Annotated[Text, hint("what it is")]
    basis: Annotated[
        Literal["published", "calibrated", "assumed"],
        hint(
            "published: read in the source named; calibrated: fitted by validation/speed.py; "
            "assumed: our own choice"
        ),
    ]
    source: Annotated[Text, hint("where it comes from")]


class TimeConstants(Entry, kw_only=True):
    """The numbers, each under its name."""

    adapter_launch_ratio: TimeConstant
    answer_seconds_each: TimeConstant
    attention_backward_passes: TimeConstant
    backward_passes: TimeConstant
    closed_loop_rounds: TimeConstant
    compile_adapter_ratio: TimeConstant
    compile_launch_ratio: TimeConstant
    compiled_cast_bytes_each: TimeConstant
    eager_score_passes: TimeConstant
    earlier_captured_tokens: TimeConstant
    efa_all_to_all_ratio: TimeConstant
    encoder_element_ratio: TimeConstant
    encoder_launch_ratio: TimeConstant
    encoder_score_passes: TimeConstant
    expert_popularity_shape: TimeConstant
    few_tokens: TimeConstant
    filling_outputs: TimeConstant
    fused_adapter_passes: TimeConstant
    idle_expert_launch_ratio: TimeConstant
    kept_input_ratio: TimeConstant
    logit_passes: TimeConstant
    many_gpus: TimeConstant
    many_sequences: TimeConstant
    nearly_full_ratio: TimeConstant
    pcie_3_bytes_per_second: TimeConstant
    run_batch_doubled_ratio: TimeConstant
    run_gpus_doubled_ratio: TimeConstant
    run_held_serving_ratio: TimeConstant
    run_held_training_ratio: TimeConstant
    run_other_card_ratio: TimeConstant
    run_other_format_ratio: TimeConstant
    run_other_model_ratio: TimeConstant
    run_prompt_doubled_ratio: TimeConstant
    run_tokens_doubled_ratio: TimeConstant
    run_training_gpus_doubled_ratio: TimeConstant
    scheduled_ahead_steps: TimeConstant
    tokenize_seconds_each: TimeConstant
    untiled_tensor_parallel: TimeConstant


class File(CatalogFile, kw_only=True):
    """Single numbers of time that belong to no card, software or choice."""

    time_constants: TimeConstants
