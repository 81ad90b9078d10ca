"""The classes of speculations.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Entry, FilledMap, Flag, Key, Ratio, Text, hint


class Speculation(Entry, kw_only=True):
    """A kind of speculative decoding."""

    speculates: Annotated[Flag, hint("1: a draft proposes tokens")]
    speculation_4_ratio: Annotated[
        float, Meta(ge=1, le=20), hint("tokens per decode step with 4 sequences in flight")
    ]
    speculation_8_ratio: Annotated[
        float, Meta(ge=1, le=20), hint("tokens per decode step with 8 sequences in flight")
    ]
    speculation_32_ratio: Annotated[
        float, Meta(ge=1, le=20), hint("tokens per decode step with 32 sequences in flight")
    ]
    speculation_64_ratio: Annotated[
        float, Meta(ge=1, le=20), hint("tokens per decode step with 64 sequences in flight")
    ]
    speculation_256_ratio: Annotated[
        float, Meta(ge=1, le=20), hint("tokens per decode step with 256 sequences in flight")
    ]
    draft_layers: Annotated[
        float, Meta(ge=0, le=100), hint("blocks of the model's own size that the draft has")
    ]
    draft_weights_ratio: Annotated[
        Ratio, hint("weights of a draft model of its own, of the model's")
    ]
    draft_cache_ratio: Annotated[
        float,
        Meta(ge=0, le=10),
        hint("keys and values of a draft model of its own, of the model's"),
    ]
    basis: Annotated[Literal["published", "derived", "assumed"], hint("how the gains are known")]
    meaning: Annotated[Text, hint("what it is, in words")]
    source: Annotated[Text, hint("where the figures come from, with dates")]
    known_of: Annotated[list[Text], hint("ids of models of which a published run is known")]


class File(CatalogFile, kw_only=True):
    """Speculative decoding: gains by load, weights and cache of drafts."""

    speculations: FilledMap[Key, Speculation]
