"""The classes of software_blocks.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Literal

from msgspec import Meta

from calc.catalogs.schemas.blocks import FormMemory, SharedCoefficients
from calc.catalogs.schemas.kinds import CatalogFile, Entry, Filled, hint


class Coefficients(SharedCoefficients, kw_only=True):
    """Bytes per token as a sum: each coefficient times the size of its name."""

    rms_hidden: Annotated[
        float | None, hint("width of the hidden state, once for each RMSNorm of it")
    ] = None
    layer_norm_hidden: Annotated[
        float | None, hint("width of the hidden state, once for each LayerNorm of it")
    ] = None
    gated_ffn: Annotated[float | None, hint("inner width of a network of three matrices")] = None
    plain_ffn: Annotated[float | None, hint("inner width of a network of two matrices")] = None
    joint_query: Annotated[
        float | None, hint("width of the queries where they are as wide as the keys")
    ] = None
    normed_query: Annotated[float | None, hint("width of the queries where they are normed")] = None
    normed_key: Annotated[float | None, hint("width of the keys where they are normed")] = None
    capped_scores: Annotated[float | None, hint("heads x tokens where scores are capped")] = None
    repeated_key: Annotated[
        float | None,
        hint(
            "width of the queries, or of the keys where a GPU has one head of them, which all "
            "queries see"
        ),
    ] = None


class BlockForm(FormMemory[Coefficients], kw_only=True):
    """Memory of a block in one number format and with one attention."""

    attention: Literal[
        "sdpa",
        "sdpa-grouped",
        "sdpa-window",
        "sdpa-window-multiquery",
        "sdpa-window-equal",
        "eager",
    ]
    saved_eight_bit: Annotated[Coefficients | None, hint("kept with 8-bit products")] = None


class Block(Entry, kw_only=True):
    """The block of one software."""

    id: Annotated[str, Meta(pattern="^[a-z0-9_]+(-[a-z0-9_]+)?$")]
    families: Annotated[list[str], hint("model_type of the configs")]
    source: str
    forms: Filled[BlockForm]


class File(CatalogFile, kw_only=True):
    """Blocks of software that has one model for all families, in bytes per token."""

    software_blocks: list[Block]
