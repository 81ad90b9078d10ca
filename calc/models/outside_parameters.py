"""What a model holds outside its blocks: embeddings, positions, norms, stems and heads. Counts, not bytes."""


def patch_tokens(image, patch, patches):
    """Patches of an image, or as many as the model reads at most where images may be of any form. [tokens]"""
    return patches or ((image // patch) ** 2 if patch else 0)


def fixed_tokens(kind, patch_tokens, class_tokens, registers, source_positions):
    """Tokens that the model fixes: an image's patches, its class token and registers, or the frames of a sound. [tokens]"""
    return patch_tokens + class_tokens + registers if patch_tokens else source_positions * (kind == "audio")


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


def table_width(narrow_tables, embedding_width, text_width):
    """Width of the tables of positions and segments, and of the norm on the embeddings. [elements]"""
    return embedding_width if narrow_tables else text_width


def head_parameters(tied, outputs, labels, projected_out, embedding_width, text_width, classifier_widths, pooled_width):
    """The output matrix; 0 where it is the embedding table. [parameters]"""
    width = pooled_width or (text_width if labels and not projected_out else embedding_width)
    return (1 - tied) * outputs * classifier_widths * width


def position_parameters(learned_positions, max_position, extra_positions, table_width, token_types, relative_positions, hidden):
    """Learned positions, segments, and DeBERTa's relative positions. [parameters]"""
    tables = learned_positions * (max_position + extra_positions) + token_types
    return tables * table_width + relative_positions * hidden


def relative_bias_parameters(relative_buckets, heads, kind):
    """T5's and MPNet's relative bias: one table in the first block of each side. [parameters]"""
    return (2 if kind == "encoder-decoder" else 1) * relative_buckets * heads


def outside_norm_parameters(embedding_norms, final_norms, norm_vectors, hidden, table_width, bare_first_norm):
    """Norms on the embeddings and after the last block, less the one that the first block does without. [parameters]"""
    return norm_vectors * (embedding_norms * table_width + (final_norms - bare_first_norm) * hidden)


def projection_parameters(embedding_width, text_width, projected_out):
    """Into blocks of another width than the embedding a matrix and a bias (ELECTRA), or one in and one out (OPT-350m). [parameters]"""
    each = embedding_width * text_width
    return (2 * each if projected_out else each + text_width) if embedding_width != text_width else 0


def head_extra_parameters(
    masked_head, masked_head_bias, norm_vectors, head_bias, spare_bias, tied, hidden, embedding_width, outputs, pooler,
    pooled_width,
):  # fmt: skip
    """The masked-LM head's dense layer and norm, a classifier's dense layer, and biases of the output. [parameters]"""
    masked = masked_head * (hidden + masked_head_bias + norm_vectors) * embedding_width
    return masked + pooler * (hidden + 1) * (pooled_width or hidden) + (head_bias + spare_bias * (1 - tied)) * outputs


def image_parameters(
    patch, channels, hidden, stem_bias, patch_tokens, class_tokens, registers, mask_tokens, learned_positions
):  # fmt: skip
    """The patch embedding, the class token and others that are learned, and the table of positions. [parameters]"""
    positions = learned_positions * (patch_tokens + class_tokens)
    own = class_tokens + registers + mask_tokens
    return (patch * patch * channels + stem_bias + own + positions) * hidden if patch else 0


def pool_head_parameters(pool_head, hidden, ffn):
    """SigLIP's pooling: attention of one learned query to all patches, a norm and a network (arXiv 2303.15343). [parameters]"""
    return pool_head * (hidden + 4 * hidden * (hidden + 1) + 2 * hidden + 2 * hidden * ffn + ffn + hidden)


def sound_parameters(mel_bins, hidden, source_positions):
    """Whisper's two convolutions of width 3 with biases, and the encoder's positions. [parameters]"""
    return (3 * mel_bins + 3 * hidden + 2 + source_positions) * hidden if mel_bins else 0


def frame_parameters(waveform_width, hidden, position_kernel, position_groups, mask_tokens):
    """Behind convolutions over a waveform: a norm, a matrix, a convolution that makes positions, what stands for hidden frames.

    Baevski et al. 2020, arXiv 2006.11477, section 2; the convolution is normed weight by weight (Salimans and Kingma 2016,
    arXiv 1602.07868). [parameters]
    """
    if not waveform_width:
        return 0
    projected = 2 * waveform_width + (waveform_width + 1) * hidden
    positions = (hidden // position_groups * position_kernel + 1) * hidden + position_kernel
    return projected + positions + mask_tokens * hidden


def pair_parameters(projection, hidden, text_hidden, norm_vectors, sigmoid_loss):
    """CLIP's two projections, its temperature, and one more norm on each side; SigLIP's are the text's alone. [parameters]

    Zhai et al. 2023, arXiv 2303.15343: a temperature and a bias, and a projection of the text with a bias.
    """
    if sigmoid_loss:
        return projection * (text_hidden + 1) + 2 + norm_vectors * text_hidden
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
    projection_parameters, head_extra_parameters, image_parameters, pool_head_parameters, sound_parameters, frame_parameters,
    pair_parameters, per_layer_parameters, further_outside_parameters,
):  # fmt: skip
    """Everything outside the blocks, with what its family alone has (calc/models/huggingface/rules). [parameters]"""
    ends = embedding_parameters + head_parameters + projection_parameters + head_extra_parameters
    tables = position_parameters + relative_bias_parameters + outside_norm_parameters
    stems = image_parameters + pool_head_parameters + sound_parameters + frame_parameters + pair_parameters
    return ends + tables + stems + per_layer_parameters + further_outside_parameters


def outside_adapter_width(
    kind, masked_head, hidden, outputs, projection, text_hidden, embedding_width, text_width, projected_out, layer_inputs_width,
    residual_streams, classifier_widths, sigmoid_loss, pool_head, ffn, waveform_width, patch, patches, channels, pooler, pooled_width,
):  # fmt: skip
    """Input and output widths of the Linear modules outside the blocks that `all-linear` adapts. [elements]"""
    classifier = classifier_widths * hidden + outputs if kind in ("vision", "sound") and outputs else 0
    classifier += waveform_width + hidden if waveform_width else 0
    pairs = (2 - sigmoid_loss) * projection + (1 - sigmoid_loss) * hidden + text_hidden if projection else 0
    pairs += pool_head * 2 * (2 * hidden + ffn) + (patch * patch * channels + hidden if patches else 0)
    ends = (1 + projected_out) * (embedding_width + text_width) if embedding_width != text_width else 0
    own_inputs = hidden + layer_inputs_width if layer_inputs_width else 0
    streams = 4 * max(residual_streams - 1, 0) * hidden
    dense = masked_head * (hidden + embedding_width) + pooler * (hidden + (pooled_width or hidden))
    return dense + classifier + pairs + ends + own_inputs + streams


FORMULAS = (
    *(patch_tokens, fixed_tokens, tower_linear_parameters, outputs, embedding_parameters, table_width, head_parameters),
    *(position_parameters, relative_bias_parameters, outside_norm_parameters, projection_parameters, head_extra_parameters),
    *(image_parameters, pool_head_parameters, sound_parameters, frame_parameters),
    *(pair_parameters, layer_inputs_width, per_layer_parameters, outside_parameters, outside_adapter_width),
)
