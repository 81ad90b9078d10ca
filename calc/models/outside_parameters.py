"""What a model holds outside its blocks: embeddings, positions, norms, stems and heads. Counts, not bytes."""


def fixed_tokens(kind, image, patch, source_positions):
    """Tokens that the model fixes: an image's patches and its class token, or the frames of a sound. [tokens]"""
    return (image // patch) ** 2 + 1 if patch else source_positions * (kind == "audio")


def tower_linear_parameters(tower_layers, tower_hidden, tower_ffn, tower_gated):
    """Weight matrices of the layers of a vision tower beside the model; its stem, merger and projector apart. [parameters]

    Vaswani et al. 2017, arXiv 1706.03762; gated: Shazeer 2020, arXiv 2002.05202.
    """
    return tower_layers * (4 * tower_hidden**2 + (2 + tower_gated) * tower_hidden * tower_ffn)


def outputs(vocab, classes, kind, labels, headless):
    """Width of the logits: the vocabulary, or the classes of a classifier; an encoder of pairs has none. [elements]"""
    return 0 if kind == "dual" or headless else labels or classes + vocab


def embedding_parameters(vocab, embedding_width):
    """The table of token embeddings. [parameters]"""
    return vocab * embedding_width


def head_parameters(tied, outputs, embedding_width):
    """The output matrix; 0 where it is the embedding table. [parameters]"""
    return (1 - tied) * outputs * embedding_width


def position_parameters(learned_positions, max_position, extra_positions, text_width, token_types, relative_positions, hidden):
    """Learned positions, segments, and DeBERTa's relative positions. [parameters]"""
    tables = learned_positions * (max_position + extra_positions) * text_width
    return tables + (token_types + relative_positions) * hidden


def relative_bias_parameters(relative_buckets, heads):
    """T5's relative bias: one table for the encoder and one for the decoder, in their first blocks. [parameters]"""
    return 2 * relative_buckets * heads


def outside_norm_parameters(embedding_norms, final_norms, norm_vectors, hidden):
    """Norms on the embeddings and after the last block. [parameters]"""
    return (embedding_norms + final_norms) * norm_vectors * hidden


def projection_parameters(embedding_width, text_width):
    """Matrices into and out of blocks of another width than the embedding (OPT-350m). [parameters]"""
    return 2 * embedding_width * text_width if embedding_width != text_width else 0


def head_extra_parameters(masked_head, head_bias, spare_bias, tied, hidden, outputs, pooler):
    """The masked-LM head's dense layer and norm, a classifier's dense layer, and biases of the output. [parameters]"""
    dense = masked_head * (hidden * hidden + 3 * hidden) + pooler * (hidden * hidden + hidden)
    return dense + (head_bias + spare_bias * (1 - tied)) * outputs


def image_parameters(patch, channels, hidden, stem_bias, fixed_tokens):
    """The patch embedding, the class token and the table of positions. [parameters]"""
    return (patch * patch * channels + stem_bias + 1 + fixed_tokens) * hidden if patch else 0


def sound_parameters(mel_bins, hidden, source_positions):
    """Whisper's two convolutions of width 3 with biases, and the encoder's positions. [parameters]"""
    return (3 * mel_bins + 3 * hidden + 2 + source_positions) * hidden if mel_bins else 0


def pair_parameters(projection, hidden, text_hidden, norm_vectors):
    """CLIP's two projections, its temperature, and one more norm on each side. [parameters]"""
    return projection * (hidden + text_hidden) + 1 + norm_vectors * (hidden + text_hidden) if projection else 0


def layer_inputs_width(layers, per_layer_width):
    """Width of the inputs that all layers have of their own (Gemma 3n, Gemma 4). [elements per token]"""
    return layers * per_layer_width


def per_layer_parameters(layer_inputs_width, per_layer_width, per_layer_vocab, hidden, residual_streams):
    """Inputs that each layer has of its own, their projection and norm, and those of further residual streams. [parameters]"""
    inputs = layer_inputs_width * (per_layer_vocab + hidden) + per_layer_width
    return inputs + 2 * max(residual_streams - 1, 0) * hidden**2


def outside_parameters(
    embedding_parameters, head_parameters, position_parameters, relative_bias_parameters, outside_norm_parameters,
    projection_parameters, head_extra_parameters, image_parameters, sound_parameters, pair_parameters, per_layer_parameters,
    further_outside_parameters,
):  # fmt: skip
    """Everything outside the blocks, with what its family alone has (calc/models/huggingface/early_forms.py). [parameters]"""
    ends = embedding_parameters + head_parameters + projection_parameters + head_extra_parameters
    tables = position_parameters + relative_bias_parameters + outside_norm_parameters
    other_ends = image_parameters + sound_parameters + pair_parameters
    return ends + tables + other_ends + per_layer_parameters + further_outside_parameters


def outside_adapter_width(
    kind, masked_head, hidden, outputs, projection, text_hidden, embedding_width, text_width, layer_inputs_width, residual_streams,
    pooler,
):  # fmt: skip
    """Input and output widths of the Linear modules outside the blocks that `all-linear` adapts. [elements]"""
    classifier = hidden + outputs if kind == "vision" else 0
    pairs = 2 * projection + hidden + text_hidden if projection else 0
    ends = 2 * (embedding_width + text_width) if embedding_width != text_width else 0
    own_inputs = hidden + layer_inputs_width if layer_inputs_width else 0
    streams = 4 * max(residual_streams - 1, 0) * hidden
    return 2 * (masked_head + pooler) * hidden + classifier + pairs + ends + own_inputs + streams


FORMULAS = (
    *(fixed_tokens, tower_linear_parameters, outputs, embedding_parameters, head_parameters, position_parameters, relative_bias_parameters),
    *(outside_norm_parameters, projection_parameters, head_extra_parameters, image_parameters, sound_parameters),
    *(pair_parameters, layer_inputs_width, per_layer_parameters, outside_parameters, outside_adapter_width),
)
