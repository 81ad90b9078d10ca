"""The classes of families.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    CatalogFile,
    Entry,
    FilledMap,
    SnakeName,
    Text,
    TypeKey,
    hint,
)

WholeTrait = Annotated[int, Meta(ge=0, le=1024)]
TraitValue = Annotated[
    WholeTrait | str, hint("a value of the kind that the trait's default has, for example 1")
]

KINDS = ["decoder", "encoder", "encoder-decoder", "vision", "sound", "audio", "dual"]
MIXERS = [
    "delta",
    "kimi_delta",
    "ling_delta",
    "lightning",
    "mamba2",
    "mamba",
    "convolution",
    "mlstm",
]
Traits = Annotated[
    FilledMap[str, TraitValue],
    Meta(extra_json_schema={"properties": {"kind": {"enum": KINDS}, "mixer": {"enum": MIXERS}}}),
]


class Trait(Entry, kw_only=True):
    """A trait that families may set."""

    default: Annotated[int | str, hint("the value where a family says nothing")]
    meaning: Annotated[Text, hint("what the trait is, in words")]


class File(CatalogFile, kw_only=True):
    """Families: what distinguishes one family of transformers from another."""

    traits: Annotated[FilledMap[SnakeName, Trait], hint("trait -> its usual value and its meaning")]
    families: Annotated[
        FilledMap[TypeKey, Traits],
        hint("model_type -> the traits that differ from the usual, sorted"),
    ]
