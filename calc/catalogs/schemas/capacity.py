"""The classes of capacity.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from calc.catalogs.schemas.kinds import CatalogFile, Day, Entry, Positive, Text, hint


class CapacityAnswer(Entry, kw_only=True):
    """An answer to one question on one day."""

    signal: Literal["quota", "block", "score"]
    region: Text
    of: Annotated[
        Text, hint("the quota's code, the instance type, or the types of the pool joined by +")
    ]
    answer: Literal["yes", "none", "refused"]
    as_of: Day
    value: Annotated[float | None, hint("vCPUs or blocks of the quota, or the score")] = None
    zone: str | None = None
    starts_on: Day | None = None
    hours: Positive | None = None
    usd_per_hour: Annotated[
        Positive | None, hint("USD, more than 0; leave the region out where there is no price")
    ] = None
    error: str | None = None


class File(CatalogFile, kw_only=True):
    """Answers of AWS to one account about quotas, capacity blocks and Spot scores."""

    capacity: list[CapacityAnswer]
