"""The classes of overheads.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from calc.catalogs.schemas.kinds import CatalogFile, Entry, NotNegative, Text, hint


class Overhead(Entry, kw_only=True):
    """A number for memory that PyTorch does not allocate."""

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


class Overheads(Entry, kw_only=True):
    """The numbers, each under its name."""

    collective_held_bytes: Overhead
    context_held_bytes: Overhead
    derived_error_ratio: Overhead
    derived_spread_ratio: Overhead | None = None
    known_gpus: Overhead | None = None
    known_pipeline_stages: Overhead | None = None
    known_sequences: Overhead | None = None
    known_serving_tokens: Overhead | None = None
    known_tensor_parallel: Overhead | None = None
    known_training_tokens: Overhead | None = None
    least_cached_bytes: Overhead
    least_spread_bytes: Overhead
    lost_ratio: Overhead
    lost_spread_ratio: Overhead
    returned_ratio: Overhead
    serving_batch_error_ratio: Overhead
    serving_batch_slack_ratio: Overhead
    serving_batch_spread_ratio: Overhead
    serving_error_ratio: Overhead
    serving_slack_ratio: Overhead
    serving_spread_ratio: Overhead
    sharded_error_ratio: Overhead
    sharded_slack_ratio: Overhead
    sharded_spread_ratio: Overhead
    sized_expert_ratio: Overhead
    sized_high_ratio: Overhead
    sized_low_ratio: Overhead
    slowest_joining_bytes_per_second: Overhead
    training_error_ratio: Overhead
    training_slack_ratio: Overhead
    training_spread_ratio: Overhead
    uncounted_parts_ratio: Overhead
    usable_host_ratio: Overhead


class File(CatalogFile, kw_only=True):
    """Memory and bandwidth that a GPU and its host lose outside of PyTorch's allocations."""

    overheads: Overheads
