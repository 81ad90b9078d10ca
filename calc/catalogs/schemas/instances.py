"""The classes of instances.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    Count,
    Day,
    Entry,
    FilledMap,
    NotNegative,
    Positive,
    Share,
    SourcedFile,
    SourceKeys,
    Text,
    WholeNumber,
    hint,
)


class Instance(Entry, kw_only=True):
    """An EC2 instance type."""

    family: Annotated[Text, hint("the part before the dot")]
    gpu: Annotated[Text, hint("an id of gpus.yaml")]
    gpus: Annotated[Count, hint("GPUs that AWS sells with it; 1 for a fraction of a card")]
    gpu_fraction: Annotated[Share, hint("1.0, or the fraction of a card, for example 0.125")]
    vcpus: Annotated[Count, hint("vCPUs, for example 192")]
    memory_gib: Annotated[Positive, hint("GiB of host memory, for example 2048")]
    arm: Annotated[bool, hint("true for Arm hosts, else false")]
    interconnect: Annotated[Text, hint("how its GPUs are joined, in words")]
    nvlink_domain_gpus: Annotated[Count, hint("GPUs joined by NVLink; 1 without NVLink")]
    network_bytes_per_second: Annotated[
        Positive | None, hint("sustained bytes per second, for example 50.0e+9 for 400 Gbit/s")
    ] = None
    efa_interfaces: Annotated[WholeNumber | None, hint("EFA interfaces, 0 if none")] = None
    local_nvme_bytes: Annotated[
        NotNegative | None, hint("bytes of local NVMe disks, for example 900.0e+9; 0 if none")
    ] = None
    current: Annotated[bool, hint("true while the EC2 API lists it, else false")]
    source: SourceKeys
    checked_on: Day
    notes: Text | None = None


class File(SourcedFile, kw_only=True):
    """AWS instances with GPUs."""

    instances: FilledMap[Annotated[str, Meta(pattern=r"^[a-z0-9-]+\.[a-z0-9-]+$")], Instance]
