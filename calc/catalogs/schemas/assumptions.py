"""The classes of assumptions.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Entry, NotNegative, Text, hint, one_of


class Assumption(Entry, kw_only=True):
    """A number that a scenario may override, with its bounds."""

    only: Annotated[
        Literal["training", "inference", "spot"] | None,
        hint("the work or the market that alone reads it; without it all do"),
    ] = None
    value: Annotated[NotNegative, hint("the number, 0 or more")]
    least: Annotated[NotNegative, hint("the least that a scenario may set")]
    most: Annotated[NotNegative, hint("the most that a scenario may set: a share ends at 1")]
    unit: Annotated[
        Literal[
            "bytes", "bytes_per_second", "count", "ratio", "seconds", "tokens_per_second", "usd"
        ],
        hint("its unit"),
    ]
    label: Annotated[Text, hint("what the screen calls it")]
    meaning: Annotated[Text, hint("what it is, in a sentence")]
    basis: Annotated[
        Literal["published", "recalled", "calibrated", "assumed", "input"],
        hint("where it comes from"),
    ]
    source: Annotated[Text, hint("who says so, or why")]


class File(CatalogFile, kw_only=True):
    """Numbers of time and of the bill that are neither facts nor fitted per card or software."""

    assumptions: Annotated[
        dict[
            Annotated[
                str,
                one_of(
                    "adapter_step_seconds",
                    "answer_variation_ratio",
                    "answers_per_day",
                    "attempts",
                    "checkpoint_bytes_per_second",
                    "collective_latency_seconds",
                    "compile_element_ratio",
                    "easiest_usd_ratio",
                    "endpoint_usd_per_million_input_tokens",
                    "endpoint_usd_per_million_output_tokens",
                    "fallback_ratio",
                    "faster_ratio",
                    "host_bandwidth_bytes_per_second",
                    "host_power_ratio",
                    "idle_power_ratio",
                    "interruption_month_ratio",
                    "interruption_together_ratio",
                    "interruption_unknown_ratio",
                    "kept_checkpoints",
                    "knee_pace_ratio",
                    "knee_usd_ratio",
                    "network_reach_ratio",
                    "nvlink_reach_ratio",
                    "optimizer_step_bytes_each",
                    "overlap_ratio",
                    "paid_ratio",
                    "pcie_reach_ratio",
                    "peak_to_mean",
                    "pipeline_chunks",
                    "prompt_variation_ratio",
                    "restart_seconds",
                    "scarce_spot_seconds",
                    "served_tokens_per_second",
                    "serving_power_ratio",
                    "share_active",
                    "sober_uninterrupted_seconds",
                    "spare",
                    "speculation_gain_ratio",
                    "spot_spare_replicas",
                    "spot_wait_seconds",
                    "storage_usd_per_gib_month",
                    "streaming_ratio",
                    "tie_ratio",
                    "training_power_ratio",
                    "working_days_per_month",
                ),
            ],
            Assumption,
        ],
        Meta(min_length=1),
        Meta(
            extra_json_schema={
                "required": [
                    "attempts",
                    "checkpoint_bytes_per_second",
                    "collective_latency_seconds",
                    "compile_element_ratio",
                    "easiest_usd_ratio",
                    "endpoint_usd_per_million_input_tokens",
                    "endpoint_usd_per_million_output_tokens",
                    "fallback_ratio",
                    "faster_ratio",
                    "host_bandwidth_bytes_per_second",
                    "host_power_ratio",
                    "idle_power_ratio",
                    "interruption_month_ratio",
                    "interruption_together_ratio",
                    "interruption_unknown_ratio",
                    "kept_checkpoints",
                    "knee_pace_ratio",
                    "knee_usd_ratio",
                    "network_reach_ratio",
                    "nvlink_reach_ratio",
                    "optimizer_step_bytes_each",
                    "overlap_ratio",
                    "paid_ratio",
                    "pcie_reach_ratio",
                    "peak_to_mean",
                    "pipeline_chunks",
                    "restart_seconds",
                    "scarce_spot_seconds",
                    "served_tokens_per_second",
                    "serving_power_ratio",
                    "share_active",
                    "sober_uninterrupted_seconds",
                    "spare",
                    "spot_spare_replicas",
                    "spot_wait_seconds",
                    "storage_usd_per_gib_month",
                    "streaming_ratio",
                    "tie_ratio",
                    "training_power_ratio",
                ]
            }
        ),
    ]
