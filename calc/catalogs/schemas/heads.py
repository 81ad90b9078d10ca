"""The classes of heads.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    UNIQUE,
    BytesPerLogit,
    CatalogFile,
    Entry,
    Filled,
    FilledMap,
    Key,
    NotNegative,
    Text,
    hint,
    one_of,
)

SizeName = Annotated[
    str,
    one_of("hidden", "hidden_dropout", "source_hidden", "shared_scores", "layer_inputs", "one"),
]


class HeadForm(Entry, kw_only=True):
    """Memory of a head in one number format."""

    format: Annotated[
        Literal["bf16", "fp32", "amp"], hint("number format of the activations: bf16, fp32, amp")
    ]
    forward: Annotated[BytesPerLogit, hint("bytes per logit at the forward peak")]
    saved: Annotated[BytesPerLogit, hint("bytes per logit at the end of the forward pass")]
    backward: Annotated[BytesPerLogit, hint("bytes per logit when the backward pass begins")]
    outside: Annotated[
        FilledMap[
            SizeName,
            NotNegative,
        ],
        hint(
            "size -> bytes per token kept outside the blocks where all weights are trained, for "
            "example {hidden: 4, one: 24}"
        ),
    ]
    frozen_outside: Annotated[
        FilledMap[
            SizeName,
            NotNegative,
        ],
        hint(
            "size -> bytes per token kept outside the blocks where only adapters are trained, "
            "for example {hidden: 4, one: 24}"
        ),
    ]


class Head(Entry, kw_only=True):
    """The layers behind the last block of a model: a language head, a classifier or none."""

    id: Annotated[Key, hint("an id, for example causal")]
    name: Annotated[Text, hint("what the head is, in words")]
    families: Annotated[
        list[Text],
        UNIQUE,
        hint("model types that end so; empty: every type that no other head names"),
    ]
    forms: Annotated[
        list[HeadForm],
        Meta(min_length=1, max_length=3),
        hint("one form per number format of the activations"),
    ]


class File(CatalogFile, kw_only=True):
    """Heads: what the end of a model holds in training, outside its blocks."""

    heads: Annotated[Filled[Head], hint("the heads, sorted by id")]
