"""The classes of overheads.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Entry, NotNegative, Text, hint, one_of


class Overhead(Entry, kw_only=True):
    """A number of the memory beside what PyTorch allocates."""

    value: Annotated[NotNegative, hint("a number")]
    unit: Annotated[
        Literal["bytes", "ratio", "bytes_per_second", "count", "tokens"], hint("its unit")
    ]
    meaning: Annotated[Text, hint("what it is")]
    basis: Annotated[
        Literal["published", "simulated", "assumed"],
        hint(
            "published: read off published runs; simulated: read off simulated steps; assumed: "
            "our own choice"
        ),
    ]
    source: Annotated[Text, hint("where it comes from")]


class File(CatalogFile, kw_only=True):
    """What a GPU and its host hold or lose beside what PyTorch allocates."""

    overheads: Annotated[
        dict[
            Annotated[
                str,
                one_of(
                    "collective_held_bytes",
                    "context_held_bytes",
                    "derived_error_ratio",
                    "derived_spread_ratio",
                    "known_gpus",
                    "known_pipeline_stages",
                    "known_sequences",
                    "known_serving_tokens",
                    "known_tensor_parallel",
                    "known_training_tokens",
                    "least_cached_bytes",
                    "least_spread_bytes",
                    "lost_ratio",
                    "lost_spread_ratio",
                    "returned_ratio",
                    "serving_batch_error_ratio",
                    "serving_batch_slack_ratio",
                    "serving_batch_spread_ratio",
                    "serving_error_ratio",
                    "serving_slack_ratio",
                    "serving_spread_ratio",
                    "sharded_error_ratio",
                    "sharded_slack_ratio",
                    "sharded_spread_ratio",
                    "sized_expert_ratio",
                    "sized_high_ratio",
                    "sized_low_ratio",
                    "slowest_joining_bytes_per_second",
                    "training_error_ratio",
                    "training_slack_ratio",
                    "training_spread_ratio",
                    "uncounted_parts_ratio",
                    "usable_host_ratio",
                ),
            ],
            Overhead,
        ],
        Meta(min_length=1),
        Meta(
            extra_json_schema={
                "required": [
                    "collective_held_bytes",
                    "context_held_bytes",
                    "derived_error_ratio",
                    "least_cached_bytes",
                    "least_spread_bytes",
                    "lost_ratio",
                    "lost_spread_ratio",
                    "returned_ratio",
                    "serving_batch_error_ratio",
                    "serving_batch_slack_ratio",
                    "serving_batch_spread_ratio",
                    "serving_error_ratio",
                    "serving_slack_ratio",
                    "serving_spread_ratio",
                    "sharded_error_ratio",
                    "sharded_slack_ratio",
                    "sharded_spread_ratio",
                    "sized_high_ratio",
                    "sized_low_ratio",
                    "slowest_joining_bytes_per_second",
                    "training_error_ratio",
                    "training_slack_ratio",
                    "training_spread_ratio",
                    "uncounted_parts_ratio",
                    "usable_host_ratio",
                ]
            }
        ),
    ]
