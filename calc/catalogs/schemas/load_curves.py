"""The classes of load_curves.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Entry, FilledMap, NotNegative, Text, hint


class LoadCurve(Entry, kw_only=True):
    """Load by hour of a day."""

    name: Text
    basis: Literal["assumed", "measured"]
    about: Text
    hours: Annotated[list[NotNegative], Meta(min_length=24, max_length=24)]
    weekend_ratio: Annotated[NotNegative, hint("load of Saturday and Sunday over a weekday's")]


class TraceFormat(Entry, kw_only=True):
    """Columns of a file of requests."""

    name: Text
    source: Text
    time: Text
    prompt_tokens: Text
    answer_tokens: Text


class File(CatalogFile, kw_only=True):
    """Load by hour of the day, and formats of requests."""

    curves: FilledMap[str, LoadCurve]
    traces: FilledMap[str, TraceFormat]
