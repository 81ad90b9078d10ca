"""Parameters of one block: attention, network, mixer and norms. Counts, not bytes.

The last four widths distinguish blocks for software that has one block for all families.
"""


def mixer_linear_parameters(hidden, mixer_in_width, mixer_width, mixer_inner_linear):
    """Weight matrices of the mixer: inputs, output, and those in between. [parameters]"""
    return hidden * (mixer_in_width + mixer_width) + mixer_inner_linear


def mixer_parameters(
    mixer_linear_parameters,
    convolution_channels,
    convolution_kernel,
    convolution_bias,
    mixer_bias,
    mixer_in_width,
    mixer_width,
    hidden,
    mixer_vectors,
):
    """All parameters of the mixer. [parameters]

    Matrices, one convolution per channel, decays, norms and biases.
    """
    convolution = convolution_channels * (convolution_kernel + convolution_bias)
    biases = mixer_bias * (mixer_in_width + hidden) if mixer_width else 0
    return mixer_linear_parameters + convolution + mixer_vectors + biases


def convolution_state_elements(convolution_channels, convolution_kernel):
    """Inputs that the short convolution keeps per sequence, one per kernel step. [elements]

    Source: transformers 5.23, cache_utils.py, LinearAttentionLayer.
    """
    return convolution_channels * convolution_kernel


def normed_head_width(head_norm, owns_keys, head_dim, full_norm, query_width, key_width):
    """Width of the norms on queries and keys. [elements per token]"""
    return head_norm * (1 + owns_keys) * head_dim + full_norm * (query_width + key_width)


def latent_norm_parameters(
    query_latent_width, kv_latent_rank, rope_norm, rope_head_dim, index_ratio, index_head_dim
):
    """Norms on MLA's latents, its rotated key, and the indexer's key. [parameters]"""
    return (
        query_latent_width
        + kv_latent_rank
        + rope_norm * rope_head_dim
        + 2 * index_ratio * index_head_dim
    )


def norm_parameters(
    block_norms, cross_attention, hidden, norm_vectors, normed_head_width, latent_norm_parameters
):
    """Norms around the layers of the block and inside attention. [parameters]"""
    return (
        norm_vectors * ((block_norms + cross_attention) * hidden + normed_head_width)
        + latent_norm_parameters
    )


def waveform_parameters(waveform_width, stem_bias, stem_norms):
    """Seven convolutions over a waveform and their norms. [parameters]

    Their kernels are 10, 3, 3, 3, 3, 2 and 2 wide.
    Source: Baevski et al. 2020, arXiv 2006.11477, section 4.2.
    """
    kernels = (10 + 16 * waveform_width) * waveform_width
    return kernels + (7 * stem_bias + 2 * stem_norms) * waveform_width


def waveform_active_parameters(waveform_width):
    """Weights of these convolutions, times how often each acts per frame. [parameters]

    The first acts 64 times per frame, each further one half as often as the one before.
    """
    halving_parameters = 3 * (32 + 16 + 8 + 4) + 2 * (2 + 1)
    return (10 * 64 + halving_parameters * waveform_width) * waveform_width


def layer_scale_parameters(layer_scales, hidden):
    """Vectors that scale the outputs of attention and network. [parameters]

    Source: LayerScale, Touvron et al. 2021, arXiv 2103.17239.
    """
    return layer_scales * hidden


def per_layer_linear_parameters(hidden, per_layer_width):
    """Gate and projection of the per-layer input (Gemma 3n, Gemma 4). [parameters]"""
    return 2 * hidden * per_layer_width


def stream_parameters(hidden, residual_streams, low_rank):
    """Gemma 3n's mixing of residual streams, and its low-rank path. [parameters]

    Streams have a scale, a norm, coefficients that predict and correct them, and a router; the path
    has two matrices and a norm. Source: AltUp, Baykal et al. 2023, arXiv 2301.13310.
    """
    streams = (
        residual_streams**3 + residual_streams**2 + (2 + residual_streams) * hidden
        if residual_streams
        else 0
    )
    return streams + (2 * low_rank + 1) * hidden * (low_rank > 0)


def layer_input_parameters(per_layer_linear_parameters, per_layer_width, hidden, stream_parameters):
    """Parameters that mix per-layer inputs and residual streams into a block. [parameters]"""
    return per_layer_linear_parameters + (hidden if per_layer_width else 0) + stream_parameters


def own_layers_ratio(layers, layer_groups):
    """Share of the layers that have their own parameters (ALBERT). [ratio]

    Lan et al. 2020, arXiv 1909.11942, section 3.1.
    """
    return layer_groups / layers if layer_groups else 1


def network_parameters(
    mixer_parameters, waveform_parameters, dense_parameters, dense_biases, moe_parameters
):
    """Parameters of the block's network, and of its mixer or convolutions. [parameters]"""
    return mixer_parameters + waveform_parameters + dense_parameters + dense_biases + moe_parameters


def block_parameters(
    own_layers_ratio,
    block_attention_parameters,
    network_parameters,
    norm_parameters,
    layer_scale_parameters,
    layer_input_parameters,
    further_parameters,
):
    """All parameters of one block. [parameters]

    The rules of catalogs/edited/model_types.yaml count what only one family has.
    """
    parts = (
        block_attention_parameters + network_parameters + norm_parameters + layer_scale_parameters
    )
    return own_layers_ratio * (parts + layer_input_parameters + further_parameters)


def block_linear_parameters(
    own_layers_ratio,
    attention_linear_parameters,
    mixer_linear_parameters,
    dense_parameters,
    expert_linear_parameters,
    per_layer_linear_parameters,
    low_rank,
    hidden,
):
    """Weight matrices that autocast copies and quantization shrinks. [parameters]

    Biases, norms and the router are not among them.
    """
    of_network = mixer_linear_parameters + dense_parameters + expert_linear_parameters
    return own_layers_ratio * (
        attention_linear_parameters
        + of_network
        + per_layer_linear_parameters
        + 2 * hidden * low_rank
    )


def block_largest_matrix(
    hidden,
    mixer_in_width,
    output_width,
    gate_width,
    largest_query_matrix,
    largest_key_value_matrix,
    largest_network_matrix,
):
    """Size of the largest single weight tensor. [elements]

    The input projections of a mixer count as one matrix, as they are in some families.
    """
    others = hidden * max(mixer_in_width, output_width, gate_width)
    return max(others, largest_query_matrix, largest_key_value_matrix, largest_network_matrix)


def rms_norm_width(rms_norms, hidden):
    """Hidden width, once per RMSNorm over it in one block. [elements per token]"""
    return rms_norms * hidden


def layer_norm_width(block_norms, rms_norms, hidden):
    """Hidden width, once per LayerNorm in one block. [elements per token]"""
    return (block_norms - rms_norms) * hidden


def gated_ffn_width(gated, ffn_width):
    """Inner width of a gated network; 0 if the network has two matrices. [elements per token]"""
    return gated * ffn_width


def norms_heads(head_norm, full_norm):
    """1 if queries and keys have norms. [0 or 1]"""
    return max(head_norm, full_norm)
