"""The classes of endpoints.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from calc.catalogs.schemas.kinds import (
    Day,
    Entry,
    FilledMap,
    Key,
    Positive,
    SourcedFile,
    Text,
    hint,
)


class Endpoint(Entry, kw_only=True):
    """An endpoint that is paid per token."""

    usd_per_million_input_tokens: Annotated[
        Positive, hint("USD, more than 0; leave the region out where there is no price")
    ]
    usd_per_million_output_tokens: Annotated[
        Positive, hint("USD, more than 0; leave the region out where there is no price")
    ]
    sold_as: Text
    as_of: Day
    source: Annotated[Key, hint("a key of sources")]


class File(SourcedFile, kw_only=True):
    """Amazon Bedrock, USD per million tokens by model and region."""

    endpoints: FilledMap[str, FilledMap[str, Endpoint]]
