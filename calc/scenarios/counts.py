"""Counts of a model and its layout: GPUs of a replica, blocks, heads, experts, adapters.

By definition, unless a formula names a source.
"""

import numpy as np

from calc.scenarios.stack_numbers import ADAPTED

EXPERTS = ADAPTED.index("experts")


def engine_weights_bytes(rolls_out, parameters, rollout_tensor_parallel):
    """Weights of the rollout engine on one card, in 16 bits. [B]

    Source: vLLM as TRL, verl and NeMo-RL start it (catalogs/edited/trainers.yaml).
    """
    return np.where(rolls_out > 0, 2 * parameters / rollout_tensor_parallel, 0.0)


def replica_gpus(tensor_parallel, pipeline_parallel, context_parallel):
    """GPUs of one model replica, which share the arithmetic of a micro-batch. [GPUs]"""
    return tensor_parallel * pipeline_parallel * context_parallel


def context_limit_tokens(
    longest_sequence_tokens,
    max_position,
    is_decoder,
    trains,
    implementation_reserves_share,
    is_extended,
):
    """The longest sequence that the software takes. [tokens]

    A serving engine takes no more than the config of a decoder allows, unless it is told to stretch
    its positions; else learned positions alone are a bound. Source: vLLM, config/model.py,
    max_model_len; SGLang, configs/model_config.py, context_length.
    """
    bound = (
        (trains == 0)
        & (implementation_reserves_share > 0)
        & (is_decoder > 0)
        & (max_position > 0)
        & (is_extended == 0)
    )
    return np.where(
        bound, np.minimum(longest_sequence_tokens, max_position), longest_sequence_tokens
    )


def all_layers(stack_layers):
    """Blocks of the whole model. [blocks]"""
    return np.sum(stack_layers, axis=0)


def most_heads(stack_heads):
    """Heads of the widest attention. [heads]"""
    return np.max(stack_heads, axis=0)


def most_experts(stack_experts):
    """Experts of a block that has experts. [experts]"""
    return np.max(stack_experts, axis=0)


def stack_expert_hidden(stack_expert_latent, stack_hidden):
    """Width of the hidden states that routed experts read and write. [elements]"""
    return np.where(stack_expert_latent > 0, stack_expert_latent, stack_hidden)


def blocks_unknown(stack_block_unknown, stack_layers, implementation_reserves_share):
    """1 if the memory of a block is needed and unknown; engines have a working set. [0 or 1]"""
    return (
        np.any(stack_block_unknown & (stack_layers > 0), axis=0)
        * (implementation_reserves_share == 0)
        * 1.0
    )


def adapts_experts(adapts_matrices):
    """1 if LoRA adapts the routed experts of a model. [0 or 1]"""
    return adapts_matrices[EXPERTS, 0]


def stack_adapter_parameters(
    lora_rank,
    stack_own_layers_ratio,
    adapts_matrices,
    stack_adapter_in_width,
    stack_adapter_out_width,
):
    """LoRA parameters of one block: rank · (in + out) of each adapted matrix. [parameters]

    Source: Hu et al. 2021, arXiv 2106.09685, section 4.1; which matrices peft adapts:
    models/lora_widths.py.
    """
    widths = np.sum(adapts_matrices * (stack_adapter_in_width + stack_adapter_out_width), axis=0)
    return lora_rank * stack_own_layers_ratio * widths


def saved_parameters(
    adapts, saves_embedding, saves_head, embedding_parameters, head_parameters, tied
):
    """Parameters outside the blocks that LoRA trains whole; a tied head is a copy. [parameters]"""
    head = np.where(tied > 0, embedding_parameters, head_parameters)
    return adapts * (saves_embedding * embedding_parameters + saves_head * head)


def trained_parameters(
    trains,
    adapts,
    parameters,
    stack_layers,
    stack_adapter_parameters,
    lora_rank,
    outside_adapter_width,
    adapts_experts,
    saved_parameters,
):
    """Trained parameters; all-linear adapts linear layers outside the blocks too. [parameters]

    Hu et al. 2021, arXiv 2106.09685; the frozen weights under QLoRA are as many (Dettmers et al.
    2023, arXiv 2305.14314).
    """
    outside = adapts_experts * lora_rank * outside_adapter_width + saved_parameters
    return trains * np.where(
        adapts > 0, np.sum(stack_layers * stack_adapter_parameters, axis=0) + outside, parameters
    )


def stack_shards(
    stack_ffn_width,
    stack_shared_ffn_width,
    stack_expert_ffn_width,
    padded_ffn_width,
    experts_only,
    tensor_parallel,
    expert_parallel,
):
    """Inner widths on one GPU: of the network, of a shared expert, of an expert. [elements]

    Shape: (3, stacks, rows). Expert parallelism divides only the experts. If only the experts are
    in fewer bits, only their share counts.
    """
    dense = np.where(
        (padded_ffn_width > 0) & (stack_ffn_width > 0), padded_ffn_width, stack_ffn_width
    )
    experts = stack_expert_ffn_width / np.maximum(tensor_parallel / expert_parallel, 1)
    dense_and_shared = (
        width * (1 - experts_only) / tensor_parallel for width in (dense, stack_shared_ffn_width)
    )
    return np.stack(np.broadcast_arrays(*dense_and_shared, experts))


def broken_shard_elements(stack_shards, scale_elements, tensor_parallel):
    """A GPU's share of an inner width if it is no whole number of blocks, else 0. [elements]

    Source: vllm-project/vllm issues 17569 (block-scaled fp8) and 17604 (groups of int4), pull
    request 52915 (a shared expert).
    """
    is_cut = (
        (scale_elements > 0)
        & (tensor_parallel > 1)
        & (stack_shards % np.maximum(scale_elements, 1) > 0)
    )
    return np.max(np.where(is_cut, stack_shards, 0), axis=(0, 1))


def refused_shard_elements(broken_shard_elements, release_takes_cut_blocks):
    """Share of an inner width that the engine's release refuses to cut so, else 0. [elements]"""
    return np.where(release_takes_cut_blocks > 0, 0, broken_shard_elements)


def expert_shard_elements(stack_shards):
    """One GPU's share of the inner width of routed experts, the last of the shards. [elements]"""
    return np.max(stack_shards[-1], axis=0)
