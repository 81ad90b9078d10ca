"""Widths of what LoRA with `all-linear` adapts outside the blocks (peft 0.21)."""


def end_adapter_width(masked_head, hidden, embedding_width, pooler, pooled_width, text_width, projected_out):
    """Of dense layers before the head, and matrices around the blocks. [elements]"""
    ends = (1 + projected_out) * (embedding_width + text_width) if embedding_width != text_width else 0
    return masked_head * (hidden + embedding_width) + pooler * (hidden + (pooled_width or hidden)) + ends


def classifier_adapter_width(kind, outputs, classifier_widths, hidden, waveform_width):
    """Of a classifier of images or sounds, and the matrix behind a waveform. [elements]"""
    classifier = classifier_widths * hidden + outputs if kind in ("vision", "sound") and outputs else 0
    return classifier + (waveform_width + hidden if waveform_width else 0)


def pair_adapter_width(projection, sigmoid_loss, hidden, text_hidden):
    """Of the projections of a pair. [elements]"""
    return (2 - sigmoid_loss) * projection + (1 - sigmoid_loss) * hidden + text_hidden if projection else 0


def image_adapter_width(pool_head, hidden, ffn, patch, patches, channels):
    """Of SigLIP's pooling, and of a matrix that takes patches. [elements]

    A convolution takes them where images have one size.
    """
    return pool_head * 2 * (2 * hidden + ffn) + (patch * patch * channels + hidden if patches else 0)


def input_adapter_width(layer_inputs_width, residual_streams, hidden):
    """Of inputs that layers have of their own, and of further residual streams. [elements]"""
    own_inputs = hidden + layer_inputs_width if layer_inputs_width else 0
    return own_inputs + 4 * max(residual_streams - 1, 0) * hidden


def outside_adapter_width(
    end_adapter_width, classifier_adapter_width, pair_adapter_width, image_adapter_width, input_adapter_width
):  # fmt: skip
    """Input and output widths of all of them. [elements]"""
    return end_adapter_width + classifier_adapter_width + pair_adapter_width + image_adapter_width + input_adapter_width
