"""What is counted of a model and its layout before any memory: GPUs of a replica, blocks, heads, experts, adapters."""

import numpy as np


def replica_gpus(tensor_parallel, pipeline_parallel, context_parallel):
    """GPUs that share the arithmetic of one micro-batch: those of one model replica. [GPUs]"""
    return tensor_parallel * pipeline_parallel * context_parallel


def all_layers(stack_layers):
    """Blocks of the whole model. [blocks]"""
    return np.sum(stack_layers, axis=0)


def most_heads(stack_heads):
    """Heads of the widest attention. [heads]"""
    return np.max(stack_heads, axis=0)


def most_experts(stack_experts):
    """Experts of a block that has them. [experts]"""
    return np.max(stack_experts, axis=0)


def blocks_unknown(stack_block_unknown, stack_layers, implementation_reserves_share):
    """1 where what a block keeps and needs is asked for and was not read off; an engine's working set is its own. [0 or 1]"""
    return np.any(stack_block_unknown & (stack_layers > 0), axis=0) * (implementation_reserves_share == 0) * 1.0


def stack_adapter_parameters(
    lora_rank,
    adapts_q,
    adapts_k,
    adapts_v,
    adapts_o,
    adapts_gate,
    adapts_up,
    adapts_down,
    adapts_router,
    adapts_experts,
    stack_adapter_q_in,
    stack_adapter_q_out,
    stack_adapter_k_in,
    stack_adapter_k_out,
    stack_adapter_v_in,
    stack_adapter_v_out,
    stack_adapter_o_in,
    stack_adapter_o_out,
    stack_adapter_gate_in,
    stack_adapter_gate_out,
    stack_adapter_up_in,
    stack_adapter_up_out,
    stack_adapter_down_in,
    stack_adapter_down_out,
    stack_adapter_router_in,
    stack_adapter_router_out,
    adapts_mixer,
    stack_adapter_mixer_in,
    stack_adapter_mixer_out,
    adapts_beside,
    stack_adapter_beside_in,
    stack_adapter_beside_out,
    stack_adapter_experts_in,
    stack_adapter_experts_out,
    stack_own_layers_ratio,
):
    """LoRA parameters of one block: rank · (in + out) of each adapted matrix. Shape (stacks, rows). [parameters]

    Hu et al. 2021, arXiv 2106.09685, section 4.1. Which matrices peft adapts: models/lora_widths.py; those that layers share, once.
    """
    attention = (
        adapts_q * (stack_adapter_q_in + stack_adapter_q_out)
        + adapts_k * (stack_adapter_k_in + stack_adapter_k_out)
        + adapts_v * (stack_adapter_v_in + stack_adapter_v_out)
        + adapts_o * (stack_adapter_o_in + stack_adapter_o_out)
    )
    network = (
        adapts_gate * (stack_adapter_gate_in + stack_adapter_gate_out)
        + adapts_up * (stack_adapter_up_in + stack_adapter_up_out)
        + adapts_down * (stack_adapter_down_in + stack_adapter_down_out)
    )
    experts = adapts_router * (stack_adapter_router_in + stack_adapter_router_out) + adapts_experts * (
        stack_adapter_experts_in + stack_adapter_experts_out
    )
    mixer = adapts_mixer * (stack_adapter_mixer_in + stack_adapter_mixer_out)
    beside = adapts_beside * (stack_adapter_beside_in + stack_adapter_beside_out)
    return lora_rank * stack_own_layers_ratio * (attention + network + experts + mixer + beside)


def trained_parameters(
    trains, adapts, parameters, stack_layers, stack_adapter_parameters, lora_rank, outside_adapter_width, adapts_experts
):
    """Trained parameters of the whole model; all-linear also adapts linear layers outside the blocks. [parameters]

    Hu et al. 2021, arXiv 2106.09685; the frozen weights under QLoRA are as many (Dettmers et al. 2023, arXiv 2305.14314).
    """
    outside = adapts_experts * lora_rank * outside_adapter_width
    return trains * np.where(adapts > 0, np.sum(stack_layers * stack_adapter_parameters, axis=0) + outside, parameters)
