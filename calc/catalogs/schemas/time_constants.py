"""The classes of time_constants.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Entry, Positive, Text, hint, one_of


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


class File(CatalogFile, kw_only=True):
    """Single numbers of time that belong to no card, software or choice."""

    time_constants: Annotated[
        dict[
            Annotated[
                str,
                one_of(
                    "adapter_launch_ratio",
                    "attention_backward_passes",
                    "backward_passes",
                    "closed_loop_rounds",
                    "compile_launch_ratio",
                    "compiled_cast_bytes_each",
                    "eager_score_passes",
                    "earlier_captured_tokens",
                    "encoder_element_ratio",
                    "expert_popularity_shape",
                    "few_tokens",
                    "fused_adapter_passes",
                    "kept_input_ratio",
                    "logit_passes",
                    "many_gpus",
                    "many_sequences",
                    "nearly_full_ratio",
                    "pcie_3_bytes_per_second",
                    "run_batch_doubled_ratio",
                    "run_gpus_doubled_ratio",
                    "run_held_serving_ratio",
                    "run_held_training_ratio",
                    "run_other_card_ratio",
                    "run_other_format_ratio",
                    "run_other_model_ratio",
                    "run_prior_runs",
                    "run_prompt_doubled_ratio",
                    "run_tokens_doubled_ratio",
                    "run_training_gpus_doubled_ratio",
                    "scheduled_ahead_steps",
                    "tokenize_seconds_each",
                    "untiled_tensor_parallel",
                ),
            ],
            TimeConstant,
        ],
        Meta(min_length=1),
        Meta(
            extra_json_schema={
                "required": [
                    "adapter_launch_ratio",
                    "attention_backward_passes",
                    "backward_passes",
                    "closed_loop_rounds",
                    "compile_launch_ratio",
                    "compiled_cast_bytes_each",
                    "eager_score_passes",
                    "earlier_captured_tokens",
                    "encoder_element_ratio",
                    "expert_popularity_shape",
                    "few_tokens",
                    "fused_adapter_passes",
                    "kept_input_ratio",
                    "logit_passes",
                    "many_gpus",
                    "many_sequences",
                    "nearly_full_ratio",
                    "pcie_3_bytes_per_second",
                    "run_batch_doubled_ratio",
                    "run_gpus_doubled_ratio",
                    "run_held_serving_ratio",
                    "run_held_training_ratio",
                    "run_other_card_ratio",
                    "run_other_format_ratio",
                    "run_other_model_ratio",
                    "run_prior_runs",
                    "run_prompt_doubled_ratio",
                    "run_tokens_doubled_ratio",
                    "run_training_gpus_doubled_ratio",
                    "scheduled_ahead_steps",
                    "tokenize_seconds_each",
                    "untiled_tensor_parallel",
                ]
            }
        ),
    ]
