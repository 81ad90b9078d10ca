"""The classes of checkpoints.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    CatalogFile,
    Count,
    Day,
    Entry,
    Filled,
    FilledMap,
    Text,
    hint,
)


class Checkpoint(Entry, kw_only=True):
    """Published weights of a model in one precision."""

    model: Annotated[Text, hint("an id of models.yaml")]
    precision: Annotated[Text, hint("an id of precisions.yaml")]
    scales: Annotated[
        Literal[
            "block-128",
            "channel",
            "microscale-16",
            "group-32",
            "microscale-32",
            "group-128",
            "tensor",
            "unknown",
        ],
        hint("what one scale holds for"),
    ]
    publisher: Annotated[Literal["maker", "third-party"], hint("who publishes it")]
    padded_ffn: Annotated[Count | None, hint("the inner width of its padded matrices")] = None
    as_of: Annotated[Day, hint("the day of the source, in quotes")]
    source: Annotated[Text, hint("a key of sources")]


class File(CatalogFile, kw_only=True):
    """Published weights below 16 bits."""

    known_publishers: Annotated[
        Filled[Text],
        hint("third parties whose files a default answer may use, as Hugging Face names them"),
    ]
    sources: Annotated[
        FilledMap[str, Annotated[Text, hint("a source in words")]],
        hint("key -> the source in words"),
    ]
    checkpoints: FilledMap[Annotated[str, Meta(pattern=r"^[\w.-]+/[\w.-]+$")], Checkpoint]
