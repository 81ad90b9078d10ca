"""Attention in one block: widths, what it caches, parameters. Counts of numbers, not bytes.

Indicators are 0 or 1, and a size that a block does not have is 0, so one set of formulas serves
every family. Source: Vaswani et al. 2017, arXiv 1706.03762; grouped heads of keys and values (GQA):
Ainslie et al. 2023, arXiv 2305.13245; latent attention (MLA): DeepSeek-V2, arXiv 2405.04434. Counts
match the classes of transformers 5.23.
"""


def query_width(heads, head_dim):
    """Total width of the query heads. [elements per token]"""
    return heads * head_dim


def key_width(kv_heads, head_dim):
    """Total width of the key heads, fewer than query heads under GQA. [elements per token]

    Ainslie et al. 2023, arXiv 2305.13245.
    """
    return kv_heads * head_dim


def value_width(kv_heads, value_head_dim):
    """Total width of the value heads. [elements per token]"""
    return kv_heads * value_head_dim


def output_width(heads, value_head_dim):
    """Input width of attention's output projection. [elements per token]"""
    return heads * value_head_dim


def latent_width(kv_latent_rank, rope_head_dim):
    """Width of the latent and the rotated key that latent attention caches. [elements per token]

    DeepSeek-V2, arXiv 2405.04434, equations 9 to 16.
    """
    return kv_latent_rank + rope_head_dim


def expanded_width(heads, head_dim, rope_head_dim, value_head_dim, kv_latent_rank):
    """Width of unrotated keys and values expanded from MLA's latent. [elements per token]"""
    return heads * (head_dim - rope_head_dim + value_head_dim) if kv_latent_rank else 0


def index_parameters(index_ratio, query_latent_width, index_heads, index_head_dim, hidden):
    """Weights of the indexer of sparse attention, averaged over the layers. [parameters]

    DeepSeek-V3.2 (2025), section 2.1: queries come from their latent, all heads share one key, and
    each head has a weight. Without a latent (MiniMax M3) queries come from the hidden state, and
    heads have no weights.
    """
    queries = (query_latent_width or hidden) * index_heads * index_head_dim
    return index_ratio * (
        queries + hidden * index_head_dim + (hidden * index_heads if query_latent_width else 0)
    )


def read_elements_per_token(
    caches,
    kv_latent_rank,
    latent_width,
    caches_all_heads,
    query_width,
    key_width,
    value_width,
    index_ratio,
    index_head_dim,
):
    """Elements of keys and values, or of MLA's latent, read per cached token. [elements]

    Ainslie et al. 2023, arXiv 2305.13245; DeepSeek-V2, arXiv 2405.04434, table 1.
    """
    keys_and_values = 2 * query_width if caches_all_heads else key_width + value_width
    of_heads = latent_width if kv_latent_rank else keys_and_values
    return caches * (of_heads + (index_ratio * index_head_dim if query_width else 0))


def cached_elements_per_token(read_elements_per_token, owns_keys):
    """Elements that one block caches per token; 0 if it reads another block's. [elements]"""
    return owns_keys * read_elements_per_token


def cross_cached_elements_per_token(cross_attention, key_width, value_width):
    """Elements that cross attention caches per encoder token. [elements]"""
    return cross_attention * (key_width + value_width)


def query_parameters(hidden, query_width, query_latent_width, query_gate):
    """Weights that make the queries and a gate of the same width. [parameters]

    Vaswani et al. 2017, arXiv 1706.03762, section 3.2.2; DeepSeek-V2, arXiv 2405.04434, equations
    12 to 14.
    """
    through_latent = query_latent_width * (hidden + query_width)
    return through_latent if query_latent_width else (1 + query_gate) * hidden * query_width


def key_value_parameters(
    hidden,
    key_width,
    value_width,
    kv_latent_rank,
    latent_width,
    expanded_width,
    owns_keys,
    keys_are_values,
):
    """Weights that make the keys and values. [parameters]

    Ainslie et al. 2023, arXiv 2305.13245; with MLA DeepSeek-V2, arXiv 2405.04434, equations 9 to 11
    and 15.
    """
    direct = owns_keys * hidden * (key_width + (1 - keys_are_values) * value_width)
    return hidden * latent_width + kv_latent_rank * expanded_width if kv_latent_rank else direct


def gate_width(output_gate, head_gate, output_width, heads):
    """Width of the gate on attention's output that has its own matrix. [elements per token]

    Qiu et al. 2025, arXiv 2505.06708, section 2.2.
    """
    return output_gate * output_width + head_gate * heads


def attention_parameters(
    query_parameters, key_value_parameters, output_width, hidden, cross_attention, gate_width
):
    """Weight matrices of attention, doubled by cross attention. [parameters]

    Vaswani et al. 2017, arXiv 1706.03762, section 3.2: 4 hidden^2 if all heads together are as
    wide as the block.
    """
    return (1 + cross_attention) * (
        query_parameters + key_value_parameters + output_width * hidden
    ) + gate_width * hidden


def key_value_biases(owns_keys, keyless_bias, key_width, keys_are_values, value_width):
    """Biases of the keys and values that the block makes itself. [parameters]"""
    return owns_keys * ((1 - keyless_bias) * key_width + (1 - keys_are_values) * value_width)


def query_key_value_biases(
    qkv_bias,
    query_gate,
    query_width,
    key_value_biases,
    kv_latent_rank,
    query_latent_width,
    latent_width,
):
    """Biases of queries, keys and values, or of MLA's down-projections. [parameters]"""
    of_heads = (1 + query_gate) * query_width + key_value_biases
    return qkv_bias * (query_latent_width + latent_width if kv_latent_rank else of_heads)


def attention_biases(query_key_value_biases, output_bias, query_width, hidden, cross_attention):
    """Biases of attention; twice as many in a block with cross attention. [parameters]"""
    return (1 + cross_attention) * (
        query_key_value_biases + (output_bias * hidden if query_width else 0)
    )


def position_key_parameters(position_projections, hidden, query_width, qkv_bias):
    """Projections of relative positions or of globally attending tokens. [parameters]

    Source: DeBERTa, XLNet (positions) and LED (global tokens) in transformers 5.23.
    """
    return position_projections * (hidden + qkv_bias) * query_width


def sink_parameters(sinks, heads):
    """Learned attention sinks, one per head (gpt-oss). [parameters]"""
    return sinks * heads


def block_attention_parameters(
    attention_parameters,
    attention_biases,
    position_key_parameters,
    sink_parameters,
    index_parameters,
):
    """All parameters of attention except its norms. [parameters]"""
    return (
        attention_parameters
        + attention_biases
        + position_key_parameters
        + sink_parameters
        + index_parameters
    )


def attention_linear_parameters(
    attention_parameters, position_projections, hidden, query_width, index_parameters
):
    """Weight matrices of attention, relative positions and indexer. [parameters]"""
    return attention_parameters + position_projections * hidden * query_width + index_parameters


def largest_query_matrix(hidden, query_width, query_latent_width, query_gate):
    """Size of the largest matrix that makes queries. [elements]"""
    if query_latent_width:
        return max(hidden, query_width) * query_latent_width
    return (1 + query_gate) * hidden * query_width


def largest_key_value_matrix(
    hidden,
    query_width,
    key_width,
    value_width,
    owns_keys,
    fused_qkv,
    kv_latent_rank,
    latent_width,
    expanded_width,
):
    """Size of the largest matrix that makes keys or values. [elements]"""
    of_heads = hidden * max(
        owns_keys * key_width,
        owns_keys * value_width,
        fused_qkv * (query_width + key_width + value_width),
    )
    if kv_latent_rank:
        return max(hidden * latent_width, kv_latent_rank * expanded_width)
    return of_heads
