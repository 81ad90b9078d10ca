"""The classes of storage_and_traffic.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from calc.catalogs.schemas.kinds import (
    Day,
    Entry,
    FilledMap,
    Key,
    NotNegative,
    Positive,
    SourcedFile,
    Text,
    hint,
)


class RegionPrice(Entry, kw_only=True):
    """A price per GiB in one region."""

    usd_per_gib: Annotated[
        Positive, hint("USD, more than 0; leave the region out where there is no price")
    ]
    as_of: Day
    source: Annotated[Key, hint("a key of sources")]


class Tariff(Entry, kw_only=True):
    """A kind of storage or traffic, with its prices by region."""

    label: Text
    least_gib: Annotated[NotNegative, hint("the smallest size that is sold; 0: any size")]
    step_gib: Annotated[NotNegative, hint("larger sizes are multiples of it; 0: any size")]
    prices: dict[str, RegionPrice]


class File(SourcedFile, kw_only=True):
    """Storage and traffic, USD per GiB by region."""

    storage_and_traffic: FilledMap[str, Tariff]
