"""The classes of blocks.yaml: its schema, its reader and its documentation."""

from typing import Annotated, Generic, Literal, TypeVar

from msgspec import Meta

from calc.catalogs.schemas.kinds import CatalogFile, Entry, Filled, OnlyTrue, hint


class SharedCoefficients(Entry, kw_only=True):
    """Coefficients of the sizes that the blocks of every software have."""

    hidden: Annotated[float | None, hint("width of the hidden state")] = None
    hidden_dropout: Annotated[float | None, hint("hidden where dropout is on, else 0")] = None
    query: Annotated[float | None, hint("heads x head width")] = None
    key: Annotated[float | None, hint("key-value heads x head width")] = None
    value: Annotated[
        float | None, hint("width of all values where it is not the keys' (latent attention)")
    ] = None
    latent: Annotated[float | None, hint("width of the cached latent, rotary part included")] = None
    query_latent: Annotated[float | None, hint("low rank of the queries, 0 without")] = None
    ffn: Annotated[float | None, hint("width of the dense feed-forward network")] = None
    routed_hidden: Annotated[float | None, hint("experts per token x hidden")] = None
    routed_ffn: Annotated[float | None, hint("experts per token x expert width")] = None
    experts_hidden: Annotated[
        float | None, hint("all experts x hidden (Llama 4 runs every expert)")
    ] = None
    experts_ffn: Annotated[float | None, hint("all experts x expert width")] = None
    shared_ffn: Annotated[float | None, hint("width of the shared expert")] = None
    experts: Annotated[float | None, hint("number of experts")] = None
    experts_per_token: Annotated[float | None, hint("experts per token")] = None
    heads: Annotated[float | None, hint("query heads")] = None
    kv_heads: Annotated[float | None, hint("key-value heads")] = None
    scores: Annotated[float | None, hint("heads x sequence")] = None
    scores_dropout: Annotated[
        float | None, hint("scores where attention dropout is on, else 0")
    ] = None
    shared_scores: Annotated[
        float | None, hint("heads x sequence / batch: scores that all sequences share")
    ] = None
    mask: Annotated[float | None, hint("sequence: one mask per sequence")] = None
    shared_mask: Annotated[float | None, hint("sequence / batch: one mask for all")] = None
    shared_hidden: Annotated[float | None, hint("hidden / batch: one row per position")] = None
    source_hidden: Annotated[float | None, hint("hidden x source tokens / own tokens")] = None
    source_key: Annotated[float | None, hint("key width x source tokens / own tokens")] = None
    source_scores: Annotated[float | None, hint("heads x source tokens")] = None
    source_scores_dropout: Annotated[
        float | None, hint("source_scores where attention dropout is on, else 0")
    ] = None
    shared_source_scores: Annotated[float | None, hint("heads x source tokens / batch")] = None
    one: Annotated[float | None, hint("1")] = None
    relative_hidden: Annotated[
        float | None, hint("hidden x 512 / sequence: DeBERTa's relative positions")
    ] = None


Sizes = TypeVar("Sizes", bound=SharedCoefficients)
Moments = Filled[Annotated[Sizes, hint("bytes per token = the sum of coefficient x size")]]


class FormMemory(Entry, Generic[Sizes], kw_only=True):
    """Memory of a block in one number format, in the sizes that its software has."""

    format: Literal["bf16", "fp32", "amp"]
    saved: Annotated[Sizes, hint("kept for the backward pass, all weights trained")]
    saved_alone: Annotated[
        Sizes | None, hint("kept with a batch of one sequence, if not as saved")
    ] = None
    frozen: Annotated[Sizes, hint("kept when the weights are frozen and the input is not")]
    checkpoint: Annotated[Sizes, hint("kept when the whole block is recomputed")]
    selective_ops: Annotated[Sizes | None, hint("kept by torchtitan's policy per operator")] = None
    backward: Annotated[Moments[Sizes], hint("alive at the worst moments of its backward pass")]
    recomputed: Annotated[
        Moments[Sizes] | None, hint("the same where the block was recomputed, if not as above")
    ] = None
    forward: Annotated[
        Moments[Sizes] | None, hint("alive at the worst moments without gradients")
    ] = None


class Coefficients(SharedCoefficients, kw_only=True):
    """Bytes per token as a sum: each coefficient times the size of its name."""

    state_group_keys: Annotated[
        float | None, hint("keys of a mixer's state, once for each group of heads")
    ] = None
    state_keys: Annotated[float | None, hint("the same for each head")] = None
    state_values: Annotated[float | None, hint("width of a mixer's values")] = None
    state_heads: Annotated[float | None, hint("heads of a mixer's state")] = None
    state: Annotated[float | None, hint("elements of a mixer's state")] = None
    layer_inputs: Annotated[
        float | None, hint("width of the inputs that all layers have of their own")
    ] = None
    per_layer: Annotated[
        float | None, hint("width of the input that this layer has of its own")
    ] = None
    expert_latent: Annotated[
        float | None, hint("width of the latent that routed experts work in")
    ] = None


class BlockForm(FormMemory[Coefficients], kw_only=True):
    """Memory of a block in one number format and with one attention."""

    attention: Literal[
        "sdpa",
        "sdpa-grouped",
        "sdpa-window",
        "sdpa-window-multiquery",
        "sdpa-window-equal",
        "sdpa-wide",
        "sdpa-wide-multiquery",
        "eager",
    ]


class BlockMemory(Entry, kw_only=True):
    """Memory of a block, and where it was read off."""

    families: Annotated[list[str], hint("model_type of the configs")]
    source: str
    forms: Filled[BlockForm]


class Block(BlockMemory, kw_only=True):
    """A block of the model types that share its code."""

    id: Annotated[str, Meta(pattern="^[a-z0-9_]+(-[a-z0-9_]+)?$")]
    derived: Annotated[
        OnlyTrue | None, hint("the sizes follow from the source of its kernels; not simulated")
    ] = None


class File(CatalogFile, kw_only=True):
    """Blocks: bytes per token that one block of each class of transformers keeps and needs."""

    blocks: list[Block]
