"""Widths of the matrices that LoRA adapts in one block, by `lora_targets` (peft 0.21).

An adapter of rank r has r x (in + out) parameters (Hu et al. 2021, arXiv 2106.09685, section 4.1),
so widths add up: MLA's queries go down to a latent and up again (DeepSeek-V2, arXiv 2405.04434),
and a decoder attends to itself and to the encoder; both matrices count. A matrix that serves
several projections counts under the first of them. `all-linear` adapts every Linear module but the
output head, and in families whose experts peft maps to their stacked parameters (`adapts_experts`)
the router and each expert (gate and up together at twice the rank), but then neither dense nor
shared networks. It leaves the experts of gpt-oss, Llama 4 and Qwen2-MoE as they are.
"""


def key_projections(query_width, owns_keys, fused_qkv, cross_attention):
    """Key projections of a block that have their own matrix. [matrices]"""
    return owns_keys * (1 - fused_qkv) * (1 + cross_attention) if query_width else 0


def value_projections(key_projections, keys_are_values):
    """Value projections of a block that have their own matrix. [matrices]"""
    return key_projections * (1 - keys_are_values)


def adapter_q_in(hidden, query_width, query_latent_width, cross_attention):
    """Input widths of the query projection. [elements per token]"""
    return (1 + cross_attention) * (hidden + query_latent_width) if query_width else 0


def adapter_q_out(
    query_width, query_latent_width, key_width, value_width, fused_qkv, cross_attention, query_gate
):
    """Output widths of the query projection. [elements per token]"""
    queries = (1 + query_gate) * query_width + query_latent_width
    return (1 + cross_attention) * (queries + fused_qkv * (key_width + value_width))


def adapter_k_in(hidden, key_projections):
    """Input widths of the key projection, or of MLA's down-projection. [elements per token]"""
    return key_projections * hidden


def adapter_k_out(key_width, kv_latent_rank, latent_width, key_projections):
    """Output widths of the key projection, or of MLA's down-projection. [elements per token]"""
    return key_projections * (latent_width if kv_latent_rank else key_width)


def adapter_v_in(hidden, kv_latent_rank, value_projections):
    """Input widths of the value projection, or of MLA's up-projection. [elements per token]"""
    return value_projections * (kv_latent_rank if kv_latent_rank else hidden)


def adapter_v_out(value_width, kv_latent_rank, expanded_width, value_projections):
    """Output widths of the value projection, or of MLA's up-projection. [elements per token]"""
    return value_projections * (expanded_width if kv_latent_rank else value_width)


def adapter_o_in(output_width, cross_attention):
    """Input widths of the output projection. [elements per token]"""
    return (1 + cross_attention) * output_width


def adapter_o_out(hidden, output_width, cross_attention):
    """Output widths of the output projection. [elements per token]"""
    return (1 + cross_attention) * hidden if output_width else 0


def adapted_ffn_width(ffn_width, shared_ffn_width, adapts_experts):
    """Inner width of dense and shared networks that LoRA adapts. [elements]"""
    return (1 - adapts_experts) * (ffn_width + shared_ffn_width)


def adapter_gate_in(gated, hidden, adapted_ffn_width):
    """Input width of the gate projection. [elements per token]"""
    return gated * hidden if adapted_ffn_width else 0


def adapter_gate_out(gated, fused_gate_up, adapted_ffn_width):
    """Output width of the gate projection. [elements per token]"""
    return gated * (1 + fused_gate_up) * adapted_ffn_width


def adapter_up_in(hidden, fused_gate_up, adapted_ffn_width):
    """Input width of the up projection. [elements per token]"""
    return (1 - fused_gate_up) * hidden if adapted_ffn_width else 0


def adapter_up_out(fused_gate_up, adapted_ffn_width):
    """Output width of the up projection. [elements per token]"""
    return (1 - fused_gate_up) * adapted_ffn_width


def adapter_down_in(adapted_ffn_width):
    """Input width of the down projection. [elements per token]"""
    return adapted_ffn_width


def adapter_down_out(hidden, adapted_ffn_width):
    """Output width of the down projection. [elements per token]"""
    return hidden if adapted_ffn_width else 0


def adapter_router_in(experts, hidden, adapts_router, shared_gate, index_ratio, query_latent_width):
    """Input widths of router, shared gate and indexer (`all-linear`). [elements per token]"""
    of_experts = (adapts_router + shared_gate) * hidden if experts else 0
    return of_experts + index_ratio * (query_latent_width + 2 * hidden)


def adapter_router_out(
    experts,
    adapts_router,
    shared_gate,
    index_ratio,
    index_heads,
    index_head_dim,
    query_latent_width,
):
    """Output widths of router, shared gate and indexer (`all-linear`). [elements per token]"""
    of_experts = adapts_router * experts + shared_gate if experts else 0
    of_weights = index_heads if query_latent_width else 0
    return of_experts + index_ratio * (index_heads * index_head_dim + index_head_dim + of_weights)


def adapter_mixer_in(hidden, mixer_inputs, mixer_width, mixer_inner_in_width):
    """Input widths of the mixer's projections; `all-linear` only. [elements per token]"""
    return mixer_inputs * hidden + mixer_width + mixer_inner_in_width if mixer_width else 0


def adapter_mixer_out(hidden, mixer_in_width, mixer_width, mixer_inner_out_width):
    """Output widths of the mixer's projections; `all-linear` only. [elements per token]"""
    return mixer_in_width + hidden + mixer_inner_out_width if mixer_width else 0


def adapted_gate_width(gate_width, adapts_experts):
    """Width of the gate on attention's output that LoRA adapts. [elements]

    0 if peft takes it for the gate of the experts.
    """
    return (1 - adapts_experts) * gate_width


def adapter_beside_in(
    hidden,
    per_layer_width,
    low_rank,
    residual_streams,
    expert_latent,
    position_projections,
    adapted_gate_width,
):
    """Input widths of the other matrices of a block; `all-linear` only. [elements]

    Per-layer inputs and paths (Gemma 3n, Gemma 4), a latent of experts, projections of positions
    (DeBERTa) or of global tokens (LED), and a gate.
    """
    streams = 2 * residual_streams + hidden if residual_streams else 0
    paths = (
        (hidden + low_rank if low_rank else 0)
        + position_projections * hidden
        + (hidden if adapted_gate_width else 0)
    )
    return (
        streams + paths + sum(hidden + width for width in (per_layer_width, expert_latent) if width)
    )


def adapter_beside_out(
    hidden,
    per_layer_width,
    low_rank,
    residual_streams,
    expert_latent,
    position_projections,
    query_width,
    adapted_gate_width,
):
    """Output widths of the other matrices of a block; `all-linear` only. [elements]"""
    streams = residual_streams**2 + 2 * residual_streams
    paths = (
        (hidden + low_rank if low_rank else 0)
        + position_projections * query_width
        + adapted_gate_width
    )
    return (
        streams + paths + sum(hidden + width for width in (per_layer_width, expert_latent) if width)
    )


def adapter_experts_in(adapts_experts, experts, expert_hidden, expert_ffn_width):
    """Input widths of all routed experts; `all-linear` only. [elements]

    Gate and up are adapted at twice the rank.
    """
    return adapts_experts * experts * (2 * expert_hidden + expert_ffn_width)


def adapter_experts_out(adapts_experts, experts, expert_hidden, expert_ffn_width):
    """Output widths of all routed experts; `all-linear` only. [elements]

    Gate and up are adapted at twice the rank.
    """
    return adapts_experts * experts * (4 * expert_ffn_width + expert_hidden)
