"""The widths of what LoRA adapts in one block, by the projection names of `lora_targets`, as peft 0.21 does it.

An adapter of rank r has r x (in + out) parameters (Hu et al. 2021, arXiv 2106.09685, section 4.1), so widths add: MLA's
queries go down to a latent and up again (DeepSeek-V2, arXiv 2405.04434), and a decoder attends to itself and to the
encoder; each counts both. One matrix for several projections counts under the first. `all-linear` adapts every Linear
module but the output head, and in families whose experts peft maps to their stacked parameters (`adapts_experts`) the
router and each expert, gate and up together at twice the rank, but then neither dense nor shared networks. gpt-oss,
Llama 4 and Qwen2-MoE keep their experts as they are.
"""


def adapter_q_in(hidden, query_latent_width, cross_attention):
    """Input widths of the query projection. [elements per token]"""
    return (1 + cross_attention) * (hidden + query_latent_width)


def adapter_q_out(query_width, query_latent_width, key_width, value_width, fused_qkv, cross_attention):
    """Output widths of the query projection. [elements per token]"""
    return (1 + cross_attention) * (query_width + query_latent_width + fused_qkv * (key_width + value_width))


def adapter_k_in(hidden, fused_qkv, cross_attention):
    """Input widths of the key projection, or of MLA's down to the latent. [elements per token]"""
    return (1 - fused_qkv) * (1 + cross_attention) * hidden


def adapter_k_out(key_width, kv_latent_rank, latent_width, fused_qkv, cross_attention):
    """Output widths of the key projection, or of MLA's down to the latent. [elements per token]"""
    return (1 - fused_qkv) * (1 + cross_attention) * (latent_width if kv_latent_rank else key_width)


def adapter_v_in(hidden, kv_latent_rank, fused_qkv, cross_attention):
    """Input widths of the value projection, or of MLA's from the latent to keys and values. [elements per token]"""
    return (1 - fused_qkv) * (1 + cross_attention) * (kv_latent_rank if kv_latent_rank else hidden)


def adapter_v_out(value_width, kv_latent_rank, expanded_width, fused_qkv, cross_attention):
    """Output widths of the value projection, or of MLA's from the latent to keys and values. [elements per token]"""
    return (1 - fused_qkv) * (1 + cross_attention) * (expanded_width if kv_latent_rank else value_width)


def adapter_o_in(output_width, cross_attention):
    """Input widths of the output projection. [elements per token]"""
    return (1 + cross_attention) * output_width


def adapter_o_out(hidden, cross_attention):
    """Output widths of the output projection. [elements per token]"""
    return (1 + cross_attention) * hidden


def adapted_ffn_width(ffn_width, shared_ffn_width, adapts_experts):
    """Inner width of the Linear modules of the dense network or of the shared expert that LoRA adapts. [elements]"""
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
    """Input widths of the router, of the shared expert's gate and of the indexer; `all-linear` only. [elements per token]"""
    of_experts = (adapts_router + shared_gate) * hidden if experts else 0
    return of_experts + index_ratio * (query_latent_width + 2 * hidden)


def adapter_router_out(experts, adapts_router, shared_gate, index_ratio, index_heads, index_head_dim):
    """Output widths of the router, of the shared expert's gate and of the indexer; `all-linear` only. [elements per token]"""
    of_experts = adapts_router * experts + shared_gate if experts else 0
    return of_experts + index_ratio * (index_heads * index_head_dim + index_head_dim + index_heads)


def adapter_experts_in(adapts_experts, experts, hidden, expert_ffn_width):
    """Input widths of all routed experts, gate and up at twice the rank; `all-linear` only. [elements]"""
    return adapts_experts * experts * (2 * hidden + expert_ffn_width)


def adapter_experts_out(adapts_experts, experts, hidden, expert_ffn_width):
    """Output widths of all routed experts, gate and up at twice the rank; `all-linear` only. [elements]"""
    return adapts_experts * experts * (4 * expert_ffn_width + hidden)


FORMULAS = (
    *(adapter_q_in, adapter_q_out, adapter_k_in, adapter_k_out, adapter_v_in, adapter_v_out, adapter_o_in),
    *(adapter_o_out, adapted_ffn_width, adapter_gate_in, adapter_gate_out, adapter_up_in, adapter_up_out),
    *(adapter_down_in, adapter_down_out, adapter_router_in, adapter_router_out, adapter_experts_in),
    adapter_experts_out,
)
COLUMNS = tuple(formula.__name__ for formula in FORMULAS if formula is not adapted_ffn_width)
