"""Widths of the matrices outside the blocks that LoRA with `all-linear` adapts (peft 0.21)."""


def end_adapter_width(
    masked_head, hidden, embedding_width, pooler, pooled_width, text_width, projected_out
):
    """Widths of dense layers before the head and of matrices around the blocks. [elements]"""
    around_blocks = 0
    if embedding_width != text_width:
        around_blocks = (1 + projected_out) * (embedding_width + text_width)
    before_head = masked_head * (hidden + embedding_width)
    of_pooler = pooler * (hidden + (pooled_width or hidden))
    return before_head + of_pooler + around_blocks


def classifier_adapter_width(kind, outputs, classifier_widths, hidden, waveform_width):
    """Widths of a classifier of images or sounds and of the matrix after a waveform. [elements]"""
    classifier = (
        classifier_widths * hidden + outputs if kind in ("vision", "sound") and outputs else 0
    )
    return classifier + (waveform_width + hidden if waveform_width else 0)


def pair_adapter_width(projection, sigmoid_loss, hidden, text_hidden):
    """Widths of the projections of an image-text pair. [elements]"""
    if projection:
        return (2 - sigmoid_loss) * projection + (1 - sigmoid_loss) * hidden + text_hidden
    return 0


def image_adapter_width(pool_head, hidden, ffn, patch, patches, channels):
    """Widths of SigLIP's pooling and of the matrix that reads patches. [elements]

    Models whose images have one size read them with a convolution instead, which LoRA does not
    adapt.
    """
    return pool_head * 2 * (2 * hidden + ffn) + (
        patch * patch * channels + hidden if patches else 0
    )


def input_adapter_width(layer_inputs_width, residual_streams, hidden):
    """Widths of per-layer inputs and of residual streams after the first. [elements]"""
    own_inputs = hidden + layer_inputs_width if layer_inputs_width else 0
    return own_inputs + 4 * max(residual_streams - 1, 0) * hidden


def outside_adapter_width(
    end_adapter_width,
    classifier_adapter_width,
    pair_adapter_width,
    image_adapter_width,
    input_adapter_width,
):
    """Input and output widths of all adapted matrices outside the blocks. [elements]"""
    return (
        end_adapter_width
        + classifier_adapter_width
        + pair_adapter_width
        + image_adapter_width
        + input_adapter_width
    )
