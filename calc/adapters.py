"""The widths of the Linear modules in one block that LoRA can adapt, by the projection names of `lora_targets`.

A projection that a family splits in two (MLA's queries go down to a latent and up again; a decoder attends to itself and to the
encoder) counts the widths of both: an adapter has rank x (in + out) parameters, so widths add. A matrix that makes several projections
counts under the first of them. Read off with peft 0.21: `all-linear` adapts every torch.nn.Linear and GPT-2's Conv1D except the output head;
experts that transformers 5.23 keeps as one 3-D parameter are not modules and stay as they are.
"""


def adapter_q_in(hidden, query_latent_width, cross_attention):
    """Input widths of the query projection. [elements per token]"""
    return (1 + cross_attention) * (hidden + query_latent_width)


def adapter_q_out(query_width, query_latent_width, key_width, value_width, fused_qkv, cross_attention):
    """Output widths of the query projection. [elements per token]"""
    return (1 + cross_attention) * (query_width + query_latent_width + fused_qkv * (key_width + value_width))


def adapter_k_in(hidden, fused_qkv, cross_attention):
    """Input widths of the key projection, or of MLA's projection down to the latent. [elements per token]"""
    return (1 - fused_qkv) * (1 + cross_attention) * hidden


def adapter_k_out(key_width, kv_latent_rank, latent_width, fused_qkv, cross_attention):
    """Output widths of the key projection, or of MLA's projection down to the latent. [elements per token]"""
    return (1 - fused_qkv) * (1 + cross_attention) * (latent_width if kv_latent_rank else key_width)


def adapter_v_in(hidden, kv_latent_rank, fused_qkv, cross_attention):
    """Input widths of the value projection, or of MLA's projection from the latent to keys and values. [elements per token]"""
    return (1 - fused_qkv) * (1 + cross_attention) * (kv_latent_rank if kv_latent_rank else hidden)


def adapter_v_out(value_width, kv_latent_rank, expanded_width, fused_qkv, cross_attention):
    """Output widths of the value projection, or of MLA's projection from the latent to keys and values. [elements per token]"""
    return (1 - fused_qkv) * (1 + cross_attention) * (expanded_width if kv_latent_rank else value_width)


def adapter_o_in(output_width, cross_attention):
    """Input widths of the output projection. [elements per token]"""
    return (1 + cross_attention) * output_width


def adapter_o_out(hidden, cross_attention):
    """Output widths of the output projection. [elements per token]"""
    return (1 + cross_attention) * hidden


def adapter_gate_in(gated, hidden, ffn_width, shared_ffn_width):
    """Input width of the gate projection: dense, or of the shared expert. [elements per token]"""
    return gated * hidden if ffn_width + shared_ffn_width else 0


def adapter_gate_out(gated, ffn_width, shared_ffn_width, fused_gate_up):
    """Output width of the gate projection: dense, or of the shared expert. [elements per token]"""
    return gated * (1 + fused_gate_up) * (ffn_width + shared_ffn_width)


def adapter_up_in(hidden, ffn_width, shared_ffn_width, fused_gate_up):
    """Input width of the up projection: dense, or of the shared expert. [elements per token]"""
    return (1 - fused_gate_up) * hidden if ffn_width + shared_ffn_width else 0


def adapter_up_out(ffn_width, shared_ffn_width, fused_gate_up):
    """Output width of the up projection: dense, or of the shared expert. [elements per token]"""
    return (1 - fused_gate_up) * (ffn_width + shared_ffn_width)


def adapter_down_in(ffn_width, shared_ffn_width):
    """Input width of the down projection: dense, or of the shared expert. [elements per token]"""
    return ffn_width + shared_ffn_width


def adapter_down_out(hidden, ffn_width, shared_ffn_width):
    """Output width of the down projection: dense, or of the shared expert. [elements per token]"""
    return hidden if ffn_width + shared_ffn_width else 0


FORMULAS = (
    adapter_q_in, adapter_q_out, adapter_k_in, adapter_k_out, adapter_v_in, adapter_v_out, adapter_o_in, adapter_o_out, adapter_gate_in,
    adapter_gate_out, adapter_up_in, adapter_up_out, adapter_down_in, adapter_down_out,
)
