"""The classes of neuron.yaml: its schema, its reader and its documentation."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    Count,
    Day,
    Entry,
    Filled,
    FilledMap,
    Key,
    Positive,
    SourcedFile,
    SourceKeys,
    Text,
    hint,
)


class NeuronChip(Entry, kw_only=True):
    """A chip of AWS: Inferentia or Trainium."""

    name: Text
    trains: bool
    memory_gib: Positive
    source: SourceKeys


class NeuronInstance(Entry, kw_only=True):
    """An EC2 instance with such chips."""

    schema_rules: ClassVar = {"dependentRequired": {"usd_per_hour": ["as_of", "price_source"]}}

    chip: Key
    chips: Count
    vcpus: Count
    host_memory_gib: Positive
    source: SourceKeys
    usd_per_hour: Annotated[Positive | None, hint("USD; leave it out where no source has it")] = (
        None
    )
    market: Annotated[
        Literal["on-demand", "capacity-block"], hint("how the price is sold; on demand if omitted")
    ] = "on-demand"
    region: Annotated[Text, hint("of the price; us-east-1 if omitted")] = "us-east-1"
    as_of: Day | None = None
    price_source: Key | None = None


class NeuronRate(Entry, kw_only=True):
    """A rate that AWS publishes for a model."""

    model: Text
    work: Literal["training", "inference"]
    instance: Text
    instances: Count
    tokens_per_second: Positive
    in_flight: Count | None = None
    prompt_tokens: Count | None = None
    sequence_tokens: Count | None = None
    first_token_seconds: Positive | None = None
    token_seconds: Positive | None = None
    precision: Text
    source: SourceKeys


class File(SourcedFile, kw_only=True):
    """AWS's own accelerators, and the rates that AWS publishes for them."""

    chips: FilledMap[Key, NeuronChip]
    instances: FilledMap[Annotated[str, Meta(pattern=r"^[a-z0-9-]+\.[a-z0-9-]+$")], NeuronInstance]
    rates: Filled[NeuronRate]
