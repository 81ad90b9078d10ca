"""What LoRA adds to the saved tensors of a block (peft 0.21). Bytes per token; stack quantities are (stacks, rows).

An fp32 adapter keeps an fp32 copy of its input, one per adapted matrix, and under autocast a 16-bit one; a 16-bit adapter
shares the input with its neighbours, and the output projection's with attention. Each keeps its `rank` wide product.
"""

import numpy as np


def copies_input_bytes_each(adapter_bytes_each, autocast_bytes_each, compute_bytes_each, matrix_bytes_each):
    """Width of the copy that each adapted matrix keeps of its input; 0 where neighbours share one. [B]

    Under autocast in 16 bits; beside a quantised matrix, whose own product takes a copy, twice (validation/data/parallel/qlora.csv).
    """
    wide = (autocast_bytes_each == 0) & (compute_bytes_each < 4)
    autocast = np.where(matrix_bytes_each < 2, 4.0, 2.0)
    return (adapter_bytes_each == 4) * np.where(autocast_bytes_each > 0, autocast, np.where(wide, 4.0, 0.0))


def shared_input_bytes_each(adapter_bytes_each, copies_input_bytes_each):
    """Width of the one input that neighbouring adapters share; 0 where each keeps its own. [B]"""
    return np.where(copies_input_bytes_each > 0, 0.0, adapter_bytes_each)


def rank_product_bytes_each(adapter_bytes_each, autocast_bytes_each):
    """Width of the product between an adapter's two matrices. [B]"""
    return np.where((adapter_bytes_each == 4) & (autocast_bytes_each > 0), 2.0, adapter_bytes_each)


def stack_adapted_inputs(
    adapts_q,
    adapts_k,
    adapts_v,
    adapts_o,
    adapts_gate,
    adapts_up,
    adapts_down,
    adapts_mixer,
    adapts_beside,
    stack_adapter_q_in,
    stack_adapter_k_in,
    stack_adapter_v_in,
    stack_adapter_o_in,
    stack_adapter_gate_in,
    stack_adapter_up_in,
    stack_adapter_down_in,
    stack_adapter_mixer_in,
    stack_adapter_beside_in,
):
    """Which projections are adapted, with the width of their input: (adapted, width) each, in the order of the block."""
    pairs = (
        (adapts_q, stack_adapter_q_in),
        (adapts_k, stack_adapter_k_in),
        (adapts_v, stack_adapter_v_in),
        (adapts_o, stack_adapter_o_in),
        (adapts_gate, stack_adapter_gate_in),
        (adapts_up, stack_adapter_up_in),
        (adapts_down, stack_adapter_down_in),
        (adapts_mixer, stack_adapter_mixer_in),
        (adapts_beside, stack_adapter_beside_in),
    )
    return tuple((adapted * (width > 0), width) for adapted, width in pairs)


def stack_fused_adapter_bytes_per_token(
    stack_adapted_inputs, adapter_bytes_each, lora_rank, adapts_q, adapts_k, adapts_v, stack_query_width, stack_key_width, stack_value_width
):
    """One adapter for queries, keys and values, each with dropout on its input: the dropped copy and its mask. [B]

    litgpt/lora.py, LoRAQKVLinear: where not all three are adapted, their update is padded into the whole width, and saved.
    """
    (q, q_in), (k, k_in), (v, v_in), *others = stack_adapted_inputs
    inputs = np.maximum(np.maximum(q * q_in, k * k_in), v * v_in) + sum(adapted * width for adapted, width in others)
    products = (q + k + v + sum(adapted for adapted, _ in others)) * lora_rank
    widths = adapts_q * stack_query_width + adapts_k * stack_key_width + adapts_v * stack_value_width
    padded = widths * (1 - adapts_q * adapts_k * adapts_v)
    return (adapter_bytes_each + 1) * inputs + adapter_bytes_each * (products + padded)


def stack_adapter_saved_bytes_per_token(
    stack_adapted_inputs,
    copies_input_bytes_each,
    shared_input_bytes_each,
    rank_product_bytes_each,
    lora_rank,
    implementation_fuses_adapters,
    stack_fused_adapter_bytes_per_token,
    stack_mixer_inputs,
):
    """What the adapters of a block save: their inputs' copies and their products of rank width. [B]"""
    (q, q_in), (k, k_in), (v, v_in), (o, _), (gate, gate_in), (up, up_in), (down, down_in), *others = stack_adapted_inputs
    (mixer, mixer_in), (beside, beside_in) = others
    copies = sum(adapted * width for adapted, width in stack_adapted_inputs)
    own = q * q_in + k * (1 - q) * k_in + v * (1 - np.maximum(q, k)) * v_in
    own = own + gate * gate_in + up * (1 - gate) * up_in + down * down_in + mixer * mixer_in + beside * beside_in
    products = (q + k + v + o + gate + up + down + mixer * (stack_mixer_inputs + 1) + 2 * beside) * lora_rank
    apart = copies_input_bytes_each * copies + shared_input_bytes_each * own + rank_product_bytes_each * products
    return np.where(implementation_fuses_adapters > 0, stack_fused_adapter_bytes_per_token, apart)
