"""What a mixer of any kind learns and keeps. Counts of numbers, not bytes."""


def mixer_linear_parameters(hidden, mixer_in_width, mixer_width, mixer_inner_linear):
    """Weight matrices of the mixer: inputs, output, and those between. [parameters]"""
    return hidden * (mixer_in_width + mixer_width) + mixer_inner_linear


def mixer_parameters(
    mixer_linear_parameters, convolution_channels, convolution_kernel, convolution_bias, mixer_bias, mixer_in_width, mixer_width, hidden,
    mixer_vectors,
):  # fmt: skip
    """Everything that the mixer learns. [parameters]

    Matrices, a convolution for each channel, decays, norms and biases.
    """
    convolved = convolution_channels * (convolution_kernel + convolution_bias)
    biases = mixer_bias * (mixer_in_width + hidden) if mixer_width else 0
    return mixer_linear_parameters + convolved + mixer_vectors + biases


def convolution_state_elements(convolution_channels, convolution_kernel):
    """Inputs that the short convolution keeps per sequence, its own length of them. [elements]

    transformers 5.23, cache_utils.py, LinearAttentionLayer.
    """
    return convolution_channels * convolution_kernel
