"""The classes of gpus.yaml: its schema, its reader and its documentation."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    Count,
    Day,
    Entry,
    Filled,
    FilledMap,
    Key,
    NotNegative,
    Positive,
    SourcedFile,
    SourceKeys,
    Text,
    hint,
)


class Gpu(Entry, kw_only=True):
    """A GPU."""

    schema_rules: ClassVar = {
        "dependentRequired": {"memory_mib": ["memory_source"], "ec2_memory_mib": ["ec2_name"]}
    }

    name: Annotated[Text, hint("the vendor's name")]
    vendor: Literal["NVIDIA", "AMD"]
    architecture: Text
    form_factor: Text
    compute_capability: Annotated[Text, hint("in quotes, for example '8.9' or gfx942")]
    release_year: Annotated[int, Meta(ge=2010, le=2100), hint("a year, for example 2023")]
    memory_mib: Annotated[Count | None, hint("MiB that the driver reports, for example 23034")] = (
        None
    )
    memory_source: Annotated[Key | None, hint("a key of sources: who printed memory_mib")] = None
    memory_type: Text | None = None
    ec2_name: Annotated[Text | None, hint("the card's name in the EC2 API")] = None
    ec2_memory_mib: Annotated[
        Count | None, hint("MiB that the EC2 API reports, for example 22888")
    ] = None
    bandwidth_bytes_per_second: Annotated[
        Positive | None, hint("bytes per second, for example 300.0e+9")
    ] = None
    fp32_flops_per_second: Annotated[
        Positive | None, hint("dense fp32 rate in operations per second, for example 121.0e+12")
    ] = None
    tf32_flops_per_second: Annotated[
        Positive | None, hint("dense tf32 rate in operations per second, for example 121.0e+12")
    ] = None
    bf16_flops_per_second: Annotated[
        Positive | None, hint("dense 16-bit rate in operations per second, for example 121.0e+12")
    ] = None
    fp8_flops_per_second: Annotated[
        Positive | None, hint("dense fp8 rate in operations per second, for example 121.0e+12")
    ] = None
    fp4_flops_per_second: Annotated[
        Positive | None, hint("dense fp4 rate in operations per second, for example 121.0e+12")
    ] = None
    int8_flops_per_second: Annotated[
        Positive | None, hint("dense int8 rate in operations per second, for example 121.0e+12")
    ] = None
    nvlink_bytes_per_second: Annotated[
        NotNegative | None,
        hint("bytes per second, both directions added, for example 900.0e+9; 0 is none"),
    ] = None
    pcie_generation: Annotated[Count | None, hint("3, 4, 5 or 6")] = None
    tdp_watts: Annotated[Count | None, hint("watts, for example 700")] = None
    system_watts: Annotated[
        Positive | None,
        hint(
            "watts that the maker rates the whole system of such cards at, for each card, for "
            "example 1275"
        ),
    ] = None
    supports_bf16: bool
    supports_fp8: bool
    supports_fp4: bool
    source: SourceKeys
    checked_on: Day
    notes: Text | None = None
    unverified: Annotated[
        Filled[Text] | None, hint("names of columns without a source at hand")
    ] = None
    takes_small_engine_defaults: Annotated[
        bool | None,
        hint(
            "true where serving engines give the card the defaults of a smaller one (vLLM on A100)"
        ),
    ] = None


class File(SourcedFile, kw_only=True):
    """GPUs: what one card holds and does."""

    gpus: FilledMap[Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9./-]*$")], Gpu]
