"""The classes of assumptions.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from calc.catalogs.schemas.kinds import CatalogFile, Entry, NotNegative, Text, hint


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


class Assumptions(Entry, kw_only=True):
    """The numbers, each under its name."""

    adapter_step_seconds: Assumption | None = None
    answer_variation_ratio: Assumption | None = None
    answers_per_day: Assumption | None = None
    attempts: Assumption
    checkpoint_bytes_per_second: Assumption
    collective_latency_seconds: Assumption
    compile_element_ratio: Assumption
    easiest_usd_ratio: Assumption
    endpoint_usd_per_million_input_tokens: Assumption
    endpoint_usd_per_million_output_tokens: Assumption
    failure_gpu_seconds: Assumption
    failure_lost_seconds: Assumption
    fallback_ratio: Assumption
    faster_ratio: Assumption
    host_bandwidth_bytes_per_second: Assumption
    host_power_ratio: Assumption
    idle_power_ratio: Assumption
    interruption_month_ratio: Assumption
    interruption_together_ratio: Assumption
    interruption_unknown_ratio: Assumption
    kept_checkpoints: Assumption
    knee_pace_ratio: Assumption
    knee_usd_ratio: Assumption
    network_reach_ratio: Assumption
    nvlink_reach_ratio: Assumption
    optimizer_step_bytes_each: Assumption
    overlap_ratio: Assumption
    paid_ratio: Assumption
    pcie_reach_ratio: Assumption
    peak_to_mean: Assumption
    pipeline_chunks: Assumption
    prompt_variation_ratio: Assumption | None = None
    restart_seconds: Assumption
    scarce_spot_seconds: Assumption
    served_tokens_per_second: Assumption
    serving_power_ratio: Assumption
    share_active: Assumption
    sober_uninterrupted_seconds: Assumption
    spare: Assumption
    speculation_gain_ratio: Assumption | None = None
    spot_spare_replicas: Assumption
    spot_wait_seconds: Assumption
    storage_usd_per_gib_month: Assumption
    streaming_ratio: Assumption
    think_seconds: Assumption | None = None
    think_variation_ratio: Assumption | None = None
    tie_ratio: Assumption
    training_power_ratio: Assumption
    working_days_per_month: Assumption | None = None


class File(CatalogFile, kw_only=True):
    """Numbers of time and of the bill that are neither facts nor fitted per card or software."""

    assumptions: Assumptions
