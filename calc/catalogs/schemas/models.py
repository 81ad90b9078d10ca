"""The classes of models.yaml: its schema, its reader and its documentation."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from calc.catalogs.schemas.kinds import (
    Count,
    Day,
    Entry,
    Filled,
    FilledMap,
    Flag,
    NotNegative,
    SourcedFile,
    Text,
    WholeNumber,
    hint,
)


class ParameterCount(Entry, kw_only=True):
    """A published parameter count that the entry is checked against."""

    schema_rules: ClassVar = {"dependentRequired": {"difference": ["why"], "why": ["difference"]}}

    parameters: Annotated[Count, hint("the known count")]
    source: Annotated[Text, hint("a key of sources")]
    difference: Annotated[int | None, hint("the known count minus ours")] = None
    why: Annotated[Text | None, hint("where the difference comes from")] = None


class LayerKind(Entry, kw_only=True):
    """Layers of one kind."""

    kind: Annotated[
        str,
        Meta(pattern="^(dense|moe|both|none)(-(windowed|shared|sparse|linear|parallel|alone))*$"),
        hint("its network and what it looks at"),
    ]
    layers: Annotated[Count, hint("the number of such layers")]
    head_dim: Annotated[Count | None, hint("its own width of a head")] = None
    kv_heads: Annotated[Count | None, hint("its own key and value heads")] = None
    ffn: Annotated[Count | None, hint("its own inner width")] = None
    block_norms: Annotated[Count | None, hint("its own norms of the hidden width")] = None
    keys_are_values: Annotated[Count | None, hint("1: its keys are its values too")] = None


class Model(Entry, kw_only=True):
    """A published model: its sizes."""

    name: Annotated[Text, hint("the name on screen")]
    family: Annotated[Text, hint("the family it is listed under")]
    model_type: Annotated[Text, hint("a family of families.yaml")]
    hf_repo: Annotated[
        str, Meta(pattern="^[^/ ]+/[^/ ]+$"), hint("owner/name on the Hugging Face hub")
    ]
    refused: Annotated[Text | None, hint("one sentence: why no estimate is made")] = None
    layers: Annotated[Count | None, hint("the number of blocks")] = None
    encoder_layers: Annotated[Count | None, hint("the number of the encoder's blocks")] = None
    decoder_layers: Annotated[Count | None, hint("the number of the decoder's blocks")] = None
    hidden: Annotated[Count, hint("the width of the residual stream")]
    heads: Annotated[Count, hint("query heads")]
    kv_heads: Annotated[Count, hint("key and value heads")]
    head_dim: Annotated[Count, hint("the width of one query and key head")]
    experts: Annotated[Count | None, hint("routed experts per layer")] = None
    experts_per_token: Annotated[Count | None, hint("routed experts that each token passes")] = None
    expert_ffn: Annotated[Count | None, hint("the inner width of one routed expert")] = None
    shared_ffn: Annotated[Count | None, hint("the inner width of all shared experts together")] = (
        None
    )
    ffn: Annotated[Count | None, hint("the inner width of the dense feed-forward network")] = None
    encoder_heads: Annotated[Count | None, hint("heads of the encoder, where they differ")] = None
    encoder_ffn: Annotated[
        Count | None, hint("inner width of the encoder's feed-forward network, where it differs")
    ] = None
    query_latent_rank: Annotated[Count | None, hint("the width of MLA's latent for queries")] = None
    kv_latent_rank: Annotated[
        Count | None, hint("the width of MLA's latent for keys and values")
    ] = None
    rope_head_dim: Annotated[Count | None, hint("the rotated part of MLA's keys")] = None
    value_head_dim: Annotated[
        Count | None, hint("the width of one value head, where it differs")
    ] = None
    window_tokens: Annotated[Count | None, hint("tokens that a windowed layer sees")] = None
    image: Annotated[Count | None, hint("pixels of the side of an image")] = None
    patch: Annotated[Count | None, hint("pixels of the side of a patch")] = None
    channels: Annotated[Count | None, hint("colors of an image")] = None
    classes: Annotated[Count | None, hint("classes of the classifier")] = None
    text_layers: Annotated[Count | None, hint("blocks of the text side")] = None
    text_hidden: Annotated[Count | None, hint("width of the text side")] = None
    text_heads: Annotated[Count | None, hint("heads of the text side")] = None
    text_ffn: Annotated[Count | None, hint("inner width of the text side")] = None
    projection: Annotated[Count | None, hint("width of the space that both sides share")] = None
    mel_bins: Annotated[Count | None, hint("mel bins of the sound")] = None
    source_positions: Annotated[Count | None, hint("frames of the sound that the encoder sees")] = (
        None
    )
    relative_positions: Annotated[
        Count | None, hint("rows of DeBERTa's table of relative positions")
    ] = None
    embedding_width: Annotated[
        Count | None, hint("width of the token embedding, where it differs from hidden")
    ] = None
    position_projections: Annotated[
        Count | None, hint("separate projections of relative positions")
    ] = None
    vocab: Annotated[Count | None, hint("rows of the embedding table")] = None
    max_position: Annotated[Count | None, hint("the longest sequence the model is made for")] = None
    token_types: Annotated[WholeNumber | None, hint("rows of the segment table")] = None
    final_norms: Annotated[WholeNumber | None, hint("norms after the last block")] = None
    tied: Annotated[bool | None, hint("whether the output head is the embedding table")] = None
    headless: Annotated[
        Flag | None, hint("1: the class has no output head, as of embedding models")
    ] = None
    qkv_bias: Annotated[bool | None, hint("biases on queries, keys and values")] = None
    output_bias: Annotated[bool | None, hint("a bias on attention's output")] = None
    mlp_bias: Annotated[bool | None, hint("biases on the feed-forward network")] = None
    head_bias: Annotated[bool | None, hint("a bias on the output head")] = None
    head_norm: Annotated[bool | None, hint("norms of queries and keys, head by head")] = None
    full_norm: Annotated[bool | None, hint("norms of queries and keys over their whole width")] = (
        None
    )
    hidden_dropout: Annotated[
        bool | None, hint("dropout on the residual stream while training")
    ] = None
    attention_dropout: Annotated[bool | None, hint("dropout on attention while training")] = None
    source: Annotated[Text, hint("a key of sources")]
    checked_on: Day
    notes: Annotated[Text | None, hint("what else to know")] = None
    check: Annotated[ParameterCount | None, hint("a known parameter count")] = None
    indexed_layers: Annotated[
        Count | None, hint("layers with an indexer of their own, where not all have one")
    ] = None
    index_heads: Annotated[
        Count | None, hint("heads of the indexer that chooses the tokens to attend to")
    ] = None
    index_head_dim: Annotated[
        Count | None, hint("the width of one of its heads and of its key")
    ] = None
    extended_tokens: Annotated[
        Count | None, hint("tokens to which its maker extends the context")
    ] = None
    extended_by: Annotated[Text | None, hint("what extends it, for example YaRN by 4")] = None
    published_precision: Annotated[
        Literal["fp8", "mxfp4", "nvfp4", "int4-experts", "gptq-4bit", "awq-4bit"] | None,
        hint(
            "the id in precisions.yaml of the published weights where they have fewer than 16 bits"
        ),
    ] = None
    left_out: Annotated[
        Text | None, hint("what of the model is not counted, as its vision tower")
    ] = None
    left_out_parameters: Annotated[Count | None, hint("how many parameters that has")] = None
    tower_layers: Annotated[Count | None, hint("layers of its vision tower")] = None
    tower_full_layers: Annotated[
        Count | None, hint("layers of it that attend to the whole image, where not all do")
    ] = None
    tower_window_tokens: Annotated[
        Count | None, hint("patches of a window that its other layers attend to")
    ] = None
    tower_hidden: Annotated[Count | None, hint("width of its vision tower")] = None
    tower_heads: Annotated[Count | None, hint("heads of its vision tower")] = None
    tower_ffn: Annotated[Count | None, hint("inner width of the networks of its vision tower")] = (
        None
    )
    tower_gated: Annotated[Count | None, hint("1: these networks have three matrices")] = None
    patches_per_image_token: Annotated[
        NotNegative | None, hint("patches of an image of which one token is made")
    ] = None
    usual_image_tokens: Annotated[
        Count | None,
        hint("tokens of one image or tile: fixed by its config, else of 1024 x 1024 pixels"),
    ] = None
    largest_image_tokens: Annotated[
        Count | None, hint("tokens of the largest image that its preprocessor admits")
    ] = None
    tower_block: Annotated[
        str | None,
        hint("id in blocks.yaml of the block of its vision tower, where it was read off"),
    ] = None
    activation: Annotated[
        str | None, hint("the activation function where it is not the family's")
    ] = None
    layer_kinds: Annotated[
        Filled[LayerKind] | None, hint("the kinds of layers, where they differ")
    ] = None
    state_heads: Annotated[Count | None, hint("heads of a mixer that keeps a state")] = None
    state_head_dim: Annotated[Count | None, hint("the width of one such head")] = None
    state_size: Annotated[Count | None, hint("the other width of its state")] = None
    state_groups: Annotated[
        Count | None, hint("groups of heads that share the projections of a state")
    ] = None
    convolution_kernel: Annotated[
        Count | None, hint("inputs that the mixer's convolution sees")
    ] = None
    convolution_bias: Annotated[Count | None, hint("1: that convolution has a bias")] = None
    time_rank: Annotated[Count | None, hint("the rank of Mamba's step")] = None
    recurrent_bytes_each: Annotated[
        Count | None, hint("bytes per element of a state as the config asks for")
    ] = None
    expert_latent: Annotated[
        Count | None, hint("the width of a latent that the routed experts work in")
    ] = None
    per_layer_width: Annotated[Count | None, hint("the width of an input of each layer's own")] = (
        None
    )
    per_layer_vocab: Annotated[Count | None, hint("rows of the table of such inputs")] = None
    residual_streams: Annotated[Count | None, hint("residual streams, where there are several")] = (
        None
    )
    low_rank: Annotated[Count | None, hint("rank of a path beside attention")] = None
    softcap: Annotated[
        Annotated[int, Meta(ge=0, le=1)] | None,
        hint("1: tanh soft-capping of the final logits, where the family may have it or not"),
    ] = None
    kind: Annotated[
        Literal["encoder"] | None,
        hint("encoder: a model of a decoder's family whose tokens all see one another"),
    ] = None
    registers: Annotated[
        WholeNumber | None, hint("learned tokens beside an image's patches, without positions")
    ] = None
    position_kernel: Annotated[
        Count | None, hint("width of the convolution that makes positions of sound")
    ] = None
    position_groups: Annotated[Count | None, hint("groups of channels of that convolution")] = None
    stem_block: Annotated[
        str | None, hint("an id of blocks.yaml: convolutions over a waveform")
    ] = None
    stem_norms: Annotated[Count | None, hint("norms among those convolutions")] = None
    stem_bias: Annotated[bool | None, hint("biases of those convolutions")] = None
    pooler: Annotated[
        Flag | None, hint("1: a dense layer of the hidden width behind the first token")
    ] = None
    masked_head: Annotated[Flag | None, hint("0: no masked-LM head")] = None
    spare_bias: Annotated[Flag | None, hint("0: no second bias per word")] = None
    labels: Annotated[Count | None, hint("classes that a classifier tells apart")] = None


class File(SourcedFile, kw_only=True):
    """Models: their architecture."""

    models: FilledMap[Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9.-]*$")], Model]
