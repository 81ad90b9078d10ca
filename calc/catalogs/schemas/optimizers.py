"""The classes of optimizers.yaml: its schema, its reader and its documentation."""

from typing import Annotated

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    BytesPerLogit,
    CatalogFile,
    Entry,
    FilledMap,
    Key,
    NotNegative,
    Text,
    hint,
)


class Optimizer(Entry, kw_only=True):
    """State and traffic of an optimizer."""

    name: Annotated[Text, hint("the name on screen")]
    matrix_states: Annotated[
        int, Meta(ge=0, le=8), hint("state elements per element of a matrix inside a block")
    ]
    outer_states: Annotated[
        int, Meta(ge=0, le=8), hint("state elements per element of everything else")
    ]
    fixed_state_bytes_each: Annotated[
        BytesPerLogit,
        hint("bytes per state element where the precision does not settle it; 0: it does"),
    ]
    embedding_in_fp32: Annotated[bool, hint("true where the states of the embedding stay fp32")]
    fused_copies: Annotated[
        int, Meta(ge=0, le=8), hint("copies of all trained parameters in the fused step")
    ]
    fused_largest_16bit_bytes_each: Annotated[
        BytesPerLogit, hint("bytes per element of the largest parameter, 16-bit")
    ]
    fused_largest_32bit_bytes_each: Annotated[
        BytesPerLogit, hint("bytes per element of the largest parameter, fp32")
    ]
    foreach_copies: Annotated[
        int, Meta(ge=0, le=8), hint("copies of all trained parameters in the foreach step")
    ]
    loop_largest_copies: Annotated[
        int, Meta(ge=0, le=8), hint("copies of the largest parameter in the loop")
    ]
    quality_note: Annotated[Text, hint("what the choice costs in quality, in words")]
    quality_source: Annotated[
        Text | None, hint("who measured it, for example Dettmers et al. 2023, arXiv 2305.14314")
    ] = None
    meaning: Annotated[Text, hint("one sentence for the screen")]
    step_bytes_each: Annotated[
        NotNegative, hint("bytes read and written per trained parameter in one step")
    ]


class File(CatalogFile, kw_only=True):
    """Optimizers: what they keep per trained element and need for their step."""

    optimizers: Annotated[FilledMap[Key, Optimizer], hint("id -> entry, sorted by id")]
