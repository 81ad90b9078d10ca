"""Parameters outside the blocks: embeddings, positions, stems and heads.

The last three formulas apply the traits of a family (catalogs/edited/families.yaml) to the whole
model. Counts, not bytes.
"""

import math


def patch_tokens(image, patch, patches):
    """Patches of an image, or the most patches that the model reads. [tokens]"""
    return patches or ((image // patch) ** 2 if patch else 0)


def fixed_tokens(kind, patch_tokens, class_tokens, registers, source_positions):
    """Tokens whose number the model fixes: those of an image, or the frames of a sound. [tokens]"""
    if patch_tokens:
        return patch_tokens + class_tokens + registers
    return source_positions * (kind == "audio")


def tower_linear_parameters(tower_layers, tower_hidden, tower_ffn, tower_gated):
    """Weight matrices of the layers of a vision tower. [parameters]

    Vaswani et al. 2017, arXiv 1706.03762; gated: Shazeer 2020, arXiv 2002.05202.
    """
    return tower_layers * (4 * tower_hidden**2 + (2 + tower_gated) * tower_hidden * tower_ffn)


def outputs(vocab, classes, kind, labels, headless):
    """Width of the logits: vocabulary or classes; 0 for a model of image-text pairs. [elements]"""
    return 0 if kind == "dual" or headless else labels or classes + vocab


def embedding_parameters(vocab, embedding_width):
    """Parameters of the table of token embeddings. [parameters]"""
    return vocab * embedding_width


def table_width(narrow_tables, embedding_width, text_width):
    """Width of the position and segment tables and of their norm. [elements]"""
    return embedding_width if narrow_tables else text_width


def head_parameters(
    tied,
    outputs,
    labels,
    projected_out,
    embedding_width,
    text_width,
    classifier_widths,
    pooled_width,
):
    """Parameters of the output matrix; 0 if it is the embedding table. [parameters]"""
    width = pooled_width or (text_width if labels and not projected_out else embedding_width)
    return (1 - tied) * outputs * classifier_widths * width


def projection_parameters(embedding_width, text_width, projected_out):
    """Matrices between the embedding and blocks of a different width. [parameters]

    ELECTRA has one with a bias; OPT-350m has one at the input and one at the output.
    """
    if embedding_width == text_width:
        return 0
    matrix = embedding_width * text_width
    return 2 * matrix if projected_out else matrix + text_width


def masked_head_parameters(masked_head, hidden, masked_head_bias, norm_vectors, embedding_width):
    """Dense layer and norm before a masked-LM head. [parameters]"""
    return masked_head * (hidden + masked_head_bias + norm_vectors) * embedding_width


def classifier_dense_parameters(pooler, hidden, pooled_width):
    """Dense layer of a classifier before its output. [parameters]"""
    return pooler * (hidden + 1) * (pooled_width or hidden)


def output_biases(head_bias, spare_bias, tied, outputs):
    """Biases of the output. [parameters]"""
    return (head_bias + spare_bias * (1 - tied)) * outputs


def end_parameters(
    embedding_parameters,
    head_parameters,
    projection_parameters,
    masked_head_parameters,
    classifier_dense_parameters,
    output_biases,
):
    """Embedding, head, and the layers between them and the blocks. [parameters]"""
    of_head = head_parameters + masked_head_parameters + classifier_dense_parameters + output_biases
    return embedding_parameters + of_head + projection_parameters


def position_parameters(
    learned_positions,
    max_position,
    extra_positions,
    table_width,
    token_types,
    relative_positions,
    hidden,
):
    """Tables of learned positions, of segments and of DeBERTa's relative positions. [parameters]"""
    tables = learned_positions * (max_position + extra_positions) + token_types
    return tables * table_width + relative_positions * hidden


def relative_bias_parameters(relative_buckets, heads, kind):
    """Relative position bias of T5 and MPNet: one table on each side. [parameters]"""
    return (2 if kind == "encoder-decoder" else 1) * relative_buckets * heads


def outside_norm_parameters(
    embedding_norms, final_norms, norm_vectors, hidden, table_width, bare_first_norm
):
    """Norms on the embeddings and after the last block. [parameters]

    A first block without a norm of its own subtracts one.
    """
    return norm_vectors * (embedding_norms * table_width + (final_norms - bare_first_norm) * hidden)


def image_parameters(
    patch,
    channels,
    hidden,
    stem_bias,
    patch_tokens,
    class_tokens,
    registers,
    mask_tokens,
    learned_positions,
):
    """Patch embedding, learned tokens and the table of positions. [parameters]"""
    positions = learned_positions * (patch_tokens + class_tokens)
    single_tokens = class_tokens + registers + mask_tokens
    return (
        (patch * patch * channels + stem_bias + single_tokens + positions) * hidden if patch else 0
    )


def pool_head_parameters(pool_head, hidden, ffn):
    """SigLIP's pooling: one learned query that attends, a norm and a network. [parameters]

    Source: Zhai et al. 2023, arXiv 2303.15343.
    """
    return pool_head * (
        hidden + 4 * hidden * (hidden + 1) + 2 * hidden + 2 * hidden * ffn + ffn + hidden
    )


def sound_parameters(mel_bins, hidden, source_positions):
    """Whisper's two convolutions and its encoder's positions. [parameters]"""
    return (3 * mel_bins + 3 * hidden + 2 + source_positions) * hidden if mel_bins else 0


def frame_parameters(waveform_width, hidden, position_kernel, position_groups, mask_tokens):
    """Layers after the convolutions over a waveform. [parameters]

    A norm, a matrix, a convolution that makes positions, and the vector that replaces masked
    frames. Source: Baevski et al. 2020, arXiv 2006.11477, section 2; the convolution has weight
    normalization (Salimans and Kingma 2016, arXiv 1602.07868).
    """
    if not waveform_width:
        return 0
    projections = 2 * waveform_width + (waveform_width + 1) * hidden
    positions = (hidden // position_groups * position_kernel + 1) * hidden + position_kernel
    return projections + positions + mask_tokens * hidden


def pair_parameters(projection, hidden, text_hidden, norm_vectors, sigmoid_loss):
    """Projections of an image-text pair, its temperature, one more norm per side. [parameters]

    SigLIP has a temperature, a bias and a biased projection of the text (Zhai et al. 2023, arXiv
    2303.15343).
    """
    if sigmoid_loss:
        return projection * (text_hidden + 1) + 2 + norm_vectors * text_hidden
    if projection:
        return projection * (hidden + text_hidden) + 1 + norm_vectors * (hidden + text_hidden)
    return 0


def stem_parameters(
    image_parameters, pool_head_parameters, sound_parameters, frame_parameters, pair_parameters
):
    """Layers that read images and sounds and join the sides of a pair. [parameters]"""
    return (
        image_parameters
        + pool_head_parameters
        + sound_parameters
        + frame_parameters
        + pair_parameters
    )


def layer_inputs_width(layers, per_layer_width):
    """Width of the per-layer inputs of all layers (Gemma 3n, Gemma 4). [elements per token]"""
    return layers * per_layer_width


def per_layer_parameters(
    layer_inputs_width, per_layer_width, per_layer_vocab, hidden, residual_streams
):
    """Per-layer inputs, and the residual streams after the first. [parameters]"""
    inputs = layer_inputs_width * (per_layer_vocab + hidden) + per_layer_width
    return inputs + 2 * max(residual_streams - 1, 0) * hidden**2


def outside_parameters(
    end_parameters,
    position_parameters,
    relative_bias_parameters,
    outside_norm_parameters,
    stem_parameters,
    per_layer_parameters,
    further_outside_parameters,
):
    """All parameters outside the blocks. [parameters]

    Parameters that only one family has are counted by the rules of
    catalogs/edited/model_types.yaml.
    """
    tables = position_parameters + relative_bias_parameters + outside_norm_parameters
    return (
        end_parameters
        + tables
        + stem_parameters
        + per_layer_parameters
        + further_outside_parameters
    )


def rms_norms(block_norms, norm_vectors, unbiased_norms):
    """RMSNorms over the hidden state in one block; 0 if they are LayerNorms. [norms]"""
    return block_norms * (norm_vectors == 1) * (1 - unbiased_norms)


def longest_sequence_tokens(kind, learned_positions, max_position):
    """Number of learned positions; infinity for other models and for images. [tokens]"""
    return max_position if learned_positions and kind not in ("vision", "dual") else math.inf


def index_ratio(indexed_layers, layers, index_heads):
    """Share of the layers with their own indexer (GLM-5 shares some). [0 to 1]"""
    return (indexed_layers or layers) / layers if index_heads and layers else 0
