"""The widths and parameter counts of one block of a transformer, from its sizes. Counts of numbers, not bytes.

Every formula is named after the quantity it makes and reads the sizes that its parameters name, as everywhere in calc.
Indicators (0 or 1) and sizes that a block does not have are 0, so one set of formulas serves every family. The counts are
those of the classes of transformers 5.23. Where the well-known ones come from:
attention with one head of keys and values for several of queries (GQA): Ainslie et al. 2023, arXiv 2305.13245;
latent attention (MLA): DeepSeek-V2, arXiv 2405.04434; multi-head attention and the feed-forward network: Vaswani et al.
2017, arXiv 1706.03762; its gated form: Shazeer 2020, arXiv 2002.05202; routed experts: Shazeer et al. 2017, arXiv
1701.06538, and Fedus et al. 2021, arXiv 2101.03961; shared experts: DeepSeekMoE, arXiv 2401.06066.
"""


def query_width(heads, head_dim):
    """Width of all query heads together. [elements per token]"""
    return heads * head_dim


def key_width(kv_heads, head_dim):
    """Width of all key heads together, fewer than query heads under GQA. [elements per token]

    Ainslie et al. 2023, arXiv 2305.13245.
    """
    return kv_heads * head_dim


def value_width(kv_heads, value_head_dim):
    """Width of all value heads together. [elements per token]"""
    return kv_heads * value_head_dim


def output_width(heads, value_head_dim):
    """Width that attention hands to its output projection. [elements per token]"""
    return heads * value_head_dim


def latent_width(kv_latent_rank, rope_head_dim):
    """What latent attention (MLA) caches: the latent, and one rotated key for all heads. [elements per token]

    DeepSeek-V2, arXiv 2405.04434, equations 9 to 16.
    """
    return kv_latent_rank + rope_head_dim


def expanded_width(heads, head_dim, rope_head_dim, value_head_dim, kv_latent_rank):
    """Keys without their rotated part and values that MLA makes from the latent; 0 without MLA. [elements per token]"""
    return heads * (head_dim - rope_head_dim + value_head_dim) if kv_latent_rank else 0


def index_parameters(index_ratio, query_latent_width, index_heads, index_head_dim, hidden):
    """Weights of the indexer that chooses the tokens to attend to, a mean over the layers. [parameters]

    DeepSeek-V3.2 (2025), section 2.1: queries from their latent, one key for all heads, a weight for each head. Without
    such a latent (MiniMax M3) queries come from the hidden state, and heads have no weights.
    """
    queries = (query_latent_width or hidden) * index_heads * index_head_dim
    return index_ratio * (queries + hidden * index_head_dim + (hidden * index_heads if query_latent_width else 0))


def read_elements_per_token(
    caches, kv_latent_rank, latent_width, caches_all_heads, query_width, key_width, value_width, index_ratio, index_head_dim
):  # fmt: skip
    """Elements that one block reads per cached token: keys and values, or MLA's latent and the indexer's key. [elements]

    Ainslie et al. 2023, arXiv 2305.13245; DeepSeek-V2, arXiv 2405.04434, table 1.
    """
    keys_and_values = 2 * query_width if caches_all_heads else key_width + value_width
    of_heads = latent_width if kv_latent_rank else keys_and_values
    return caches * (of_heads + (index_ratio * index_head_dim if query_width else 0))


def cached_elements_per_token(read_elements_per_token, owns_keys):
    """Elements that one block caches per token; none where it reads those of a layer below (Gemma 3n, Gemma 4). [elements]"""
    return owns_keys * read_elements_per_token


def cross_cached_elements_per_token(cross_attention, key_width, value_width):
    """Elements that cross attention caches per token of the encoder. [elements]"""
    return cross_attention * (key_width + value_width)


def query_parameters(hidden, query_width, query_latent_width, query_gate):
    """Weights that make the queries, by way of a latent where there is one, and a gate of their width. [parameters]

    Vaswani et al. 2017, arXiv 1706.03762, section 3.2.2; DeepSeek-V2, arXiv 2405.04434, equations 12 to 14.
    """
    through_latent = query_latent_width * (hidden + query_width)
    return through_latent if query_latent_width else (1 + query_gate) * hidden * query_width


def key_value_parameters(hidden, key_width, value_width, kv_latent_rank, latent_width, expanded_width, owns_keys, keys_are_values):
    """Weights that make keys and values; the keys' alone where they are the values too. [parameters]

    Ainslie et al. 2023, arXiv 2305.13245; with MLA DeepSeek-V2, arXiv 2405.04434, equations 9 to 11 and 15.
    """
    direct = owns_keys * hidden * (key_width + (1 - keys_are_values) * value_width)
    return hidden * latent_width + kv_latent_rank * expanded_width if kv_latent_rank else direct


def gate_width(output_gate, head_gate, output_width, heads):
    """Width of a gate of attention's output that a matrix of its own makes: that of the output, or one value per head. [elements per token]

    Qiu et al. 2025, arXiv 2505.06708, section 2.2.
    """
    return output_gate * output_width + head_gate * heads


def attention_parameters(query_parameters, key_value_parameters, output_width, hidden, cross_attention, gate_width):
    """Weight matrices of attention, twice in a block that also attends to the encoder. [parameters]

    Vaswani et al. 2017, arXiv 1706.03762, section 3.2: 4 hidden^2 where all heads together are as wide as the block.
    """
    return (1 + cross_attention) * (query_parameters + key_value_parameters + output_width * hidden) + gate_width * hidden


def attention_biases(
    qkv_bias, keyless_bias, output_bias, query_width, key_width, value_width, hidden, cross_attention, kv_latent_rank,
    latent_width, query_latent_width, query_gate, owns_keys, keys_are_values,
):  # fmt: skip
    """Biases of attention; with MLA those of the two projections down to the latents. [parameters]"""
    of_keys = owns_keys * ((1 - keyless_bias) * key_width + (1 - keys_are_values) * value_width)
    of_heads = (1 + query_gate) * query_width + of_keys
    of_latents = query_latent_width + latent_width
    of_output = output_bias * hidden if query_width else 0
    return (1 + cross_attention) * (qkv_bias * (of_latents if kv_latent_rank else of_heads) + of_output)


def position_key_parameters(position_projections, hidden, query_width, qkv_bias):
    """Further projections to queries' width: DeBERTa's and XLNet's of relative positions, LED's of chosen tokens. [parameters]"""
    return position_projections * (hidden + qkv_bias) * query_width


def norm_parameters(
    block_norms, cross_attention, norm_vectors, hidden, head_norm, head_dim, full_norm, query_width, key_width,
    query_latent_width, kv_latent_rank, index_ratio, index_head_dim, owns_keys, rope_norm, rope_head_dim,
):  # fmt: skip
    """Norms before and after the parts of the block, of q and k, of MLA's latents and of the indexer's key. [parameters]"""
    of_heads = head_norm * (1 + owns_keys) * head_dim + full_norm * (query_width + key_width)
    widths = (block_norms + cross_attention) * hidden + of_heads
    return norm_vectors * widths + query_latent_width + kv_latent_rank + rope_norm * rope_head_dim + 2 * index_ratio * index_head_dim


def waveform_parameters(waveform_width, stem_bias, stem_norms):
    """Seven convolutions over a waveform, of widths 10, 3 (four of them) and 2 (two), and the norms behind them. [parameters]

    Baevski et al. 2020, arXiv 2006.11477, section 4.2.
    """
    kernels = (10 + 16 * waveform_width) * waveform_width
    return kernels + (7 * stem_bias + 2 * stem_norms) * waveform_width


def waveform_active_parameters(waveform_width):
    """Weights that one frame is multiplied with in the same, the first's 64 times over, each further one's half as often. [parameters]"""
    halved = 3 * (32 + 16 + 8 + 4) + 2 * (2 + 1)
    return (10 * 64 + halved * waveform_width) * waveform_width


def layer_scale_parameters(layer_scales, hidden):
    """Vectors that scale what attention and the network add (LayerScale: Touvron et al. 2021, arXiv 2103.17239). [parameters]"""
    return layer_scales * hidden


def sink_parameters(sinks, heads):
    """One learned sink per head (gpt-oss). [parameters]"""
    return sinks * heads


def dense_parameters(gated, hidden, ffn_width):
    """Weight matrices of the dense feed-forward network. [parameters]

    Vaswani et al. 2017, arXiv 1706.03762, equation 2; gated: Shazeer 2020, arXiv 2002.05202.
    """
    return (2 + gated) * hidden * ffn_width


def dense_biases(mlp_bias, down_bias, gated, ffn_width, hidden, experts):
    """Biases of the dense feed-forward network; a block of experts has none of these. [parameters]"""
    return 0 if experts or not ffn_width else mlp_bias * (1 + gated) * ffn_width + max(mlp_bias, down_bias) * hidden


def expert_hidden(hidden, expert_latent):
    """Width of what the routed experts take and give: the block's, or a latent's (Nemotron 3 Super). [elements per token]"""
    return expert_latent or hidden


def expert_latent_parameters(expert_latent, hidden):
    """The matrices into that latent and out of it. [parameters]"""
    return 2 * hidden * expert_latent


def block_expert_parameters(experts, gated, expert_hidden, expert_ffn_width, expert_bias):
    """All routed experts of one block. [parameters]

    Shazeer et al. 2017, arXiv 1701.06538; Fedus et al. 2021, arXiv 2101.03961.
    """
    biases = expert_bias * ((1 + gated) * expert_ffn_width + expert_hidden)
    return experts * ((2 + gated) * expert_hidden * expert_ffn_width + biases)


def shared_parameters(gated, hidden, shared_ffn_width, shared_gate, mlp_bias):
    """The experts that every token passes, and their gate. [parameters]

    DeepSeekMoE, arXiv 2401.06066, section 3.2; the gate: transformers, modeling_qwen2_moe.py.
    """
    biases = mlp_bias * ((1 + gated) * shared_ffn_width + hidden) if shared_ffn_width else 0
    return (2 + gated) * hidden * shared_ffn_width + biases + (shared_gate * hidden if shared_ffn_width else 0)


def router_parameters(experts, hidden, router_bias, router_scales):
    """The matrix that rates experts, and Gemma 4's scales of its input and of each expert. [parameters]

    Shazeer et al. 2017, arXiv 1701.06538, section 2.1; Fedus et al. 2021, arXiv 2101.03961.
    """
    return experts * (hidden + router_bias) + (router_scales * (hidden + experts) if experts else 0)


def per_layer_linear_parameters(hidden, per_layer_width):
    """The gate and the projection of an input that each layer has of its own (Gemma 3n, Gemma 4). [parameters]"""
    return 2 * hidden * per_layer_width


def stream_parameters(hidden, residual_streams, low_rank):
    """Gemma 3n's mixing of several residual streams (AltUp: Baykal et al. 2023, arXiv 2301.13310) and its low-rank path. [parameters]

    Their scale and norm, the coefficients that predict and correct the streams, and the router of both; two matrices and a norm.
    """
    streams = residual_streams**3 + residual_streams**2 + (2 + residual_streams) * hidden if residual_streams else 0
    return streams + (2 * low_rank + 1) * hidden * (low_rank > 0)


def own_layers_ratio(layers, layer_groups):
    """Share of the layers that have parameters of their own; the others use theirs again (ALBERT). [ratio]

    Lan et al. 2020, arXiv 1909.11942, section 3.1.
    """
    return layer_groups / layers if layer_groups else 1


def block_parameters(
    attention_parameters, attention_biases, position_key_parameters, sink_parameters, norm_parameters, dense_parameters,
    dense_biases, block_expert_parameters, shared_parameters, router_parameters, index_parameters, mixer_parameters,
    expert_latent_parameters, per_layer_linear_parameters, per_layer_width, stream_parameters, layer_scale_parameters, hidden,
    waveform_parameters, further_parameters, own_layers_ratio,
):  # fmt: skip
    """Everything one block learns, with what its family alone has (calc/models/huggingface/rules). [parameters]"""
    attention = attention_parameters + attention_biases + position_key_parameters + sink_parameters + index_parameters
    experts = block_expert_parameters + shared_parameters + router_parameters + expert_latent_parameters
    per_layer = per_layer_linear_parameters + (hidden if per_layer_width else 0) + stream_parameters
    network = mixer_parameters + waveform_parameters + dense_parameters + dense_biases + experts
    return own_layers_ratio * (attention + network + norm_parameters + layer_scale_parameters + per_layer + further_parameters)


def block_linear_parameters(
    attention_parameters, position_projections, hidden, query_width, dense_parameters, experts, gated, expert_ffn_width,
    shared_ffn_width, shared_gate, index_parameters, mixer_linear_parameters, expert_hidden, expert_latent_parameters,
    per_layer_linear_parameters, low_rank, own_layers_ratio,
):  # fmt: skip
    """Weight matrices, which autocast copies and quantisation shrinks; no biases, norms or router. [parameters]"""
    of_experts = (2 + gated) * (experts * expert_hidden * expert_ffn_width + hidden * shared_ffn_width) + expert_latent_parameters
    of_gate = shared_gate * hidden if shared_ffn_width else 0
    of_attention = attention_parameters + position_projections * hidden * query_width + index_parameters
    of_network = mixer_linear_parameters + dense_parameters + of_experts + of_gate
    return own_layers_ratio * (of_attention + of_network + per_layer_linear_parameters + 2 * hidden * low_rank)


def block_largest_matrix(
    hidden, query_width, key_width, value_width, output_width, fused_qkv, kv_latent_rank, latent_width, expanded_width,
    query_latent_width, gated, fused_gate_up, ffn_width, shared_ffn_width, experts, expert_ffn_width, expert_hidden, query_gate,
    mixer_in_width, owns_keys, gate_width,
):  # fmt: skip
    """The largest single weight tensor; transformers stacks the experts' gate and up matrices in one. [elements]

    A mixer's input projections count as one matrix, which in some families they are.
    """
    of_queries = max(hidden, query_width) * query_latent_width if query_latent_width else (1 + query_gate) * hidden * query_width
    of_latents = max(hidden * latent_width, kv_latent_rank * expanded_width)
    of_heads = hidden * max(owns_keys * key_width, owns_keys * value_width, fused_qkv * (query_width + key_width + value_width))
    of_dense = hidden * max((1 + fused_gate_up) * ffn_width, shared_ffn_width)
    of_experts = experts * expert_hidden * (1 + gated) * expert_ffn_width
    of_keys = of_latents if kv_latent_rank else of_heads
    return max(hidden * max(mixer_in_width, output_width, gate_width), of_queries, of_keys, of_dense, of_experts)


FORMULAS = (
    *(query_width, key_width, value_width, output_width, latent_width, expanded_width, index_parameters),
    *(
        read_elements_per_token,
        cached_elements_per_token,
        cross_cached_elements_per_token,
        query_parameters,
        key_value_parameters,
        gate_width,
        attention_parameters,
        attention_biases,
    ),
    *(position_key_parameters, norm_parameters, layer_scale_parameters, sink_parameters, dense_parameters, dense_biases, shared_parameters),
    *(expert_hidden, expert_latent_parameters, block_expert_parameters, router_parameters, per_layer_linear_parameters),
    *(waveform_parameters, waveform_active_parameters),
    *(stream_parameters, own_layers_ratio, block_parameters, block_linear_parameters, block_largest_matrix),
)
