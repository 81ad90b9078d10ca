"""Weights as they stand on one GPU: whole or divided, in the precision's format, widened for a product. Bytes."""

import numpy as np


def weight_shards(shard_gpus, shards_weights, fsdp_active, trains):
    """GPUs that the stored weights are divided over. FSDP stores shards in ZeRO 2 as well. [GPUs]

    ZeRO 3: Rajbhandari et al. 2019, arXiv 1910.02054, section 5.3; Zhao et al. 2023, arXiv 2304.11277.
    """
    return np.where(np.maximum(shards_weights * trains, fsdp_active) > 0, shard_gpus, 1)


def stack_expert_padding_ratio(stack_expert_ffn_width, stack_hidden, tensor_parallel, expert_parallel, serving_expert_tile):
    """Experts' matrices in whole tiles of an engine's MXFP4 kernel, over their plain size. Shape (stacks, rows). [ratio]

    The inner width per GPU and the hidden width are rounded up (vLLM, quantization/mxfp4.py, create_weights).
    """
    inner = np.maximum(stack_expert_ffn_width / np.maximum(tensor_parallel / expert_parallel, 1), 1)
    tile = np.maximum(serving_expert_tile, 1)
    padded = np.ceil(inner / tile) * tile * np.ceil(stack_hidden / tile) * tile / np.maximum(inner * stack_hidden, 1)
    return np.where((serving_expert_tile > 0) & (stack_expert_ffn_width > 0), padded, 1.0)


def formatted_parameters_here(stack_layers_here, stack_block_linear_here, stack_block_experts_here, experts_only):
    """Elements of block matrices that are in the precision's own format. [parameters]

    All, or the routed experts' alone where the format is made for them (MXFP4 of gpt-oss).
    """
    has_experts = np.sum(stack_block_experts_here, axis=0) > 0
    return np.sum(stack_layers_here * np.where(experts_only * has_experts > 0, stack_block_experts_here, stack_block_linear_here), axis=0)


def padding_elements_here(stack_layers_here, stack_block_experts_here, stack_expert_padding_ratio, experts_only):
    """Elements that tiles add to experts in a format made for them. [elements]"""
    return experts_only * np.sum(stack_layers_here * stack_block_experts_here * (stack_expert_padding_ratio - 1), axis=0)


def weights_bytes(
    formatted_parameters_here,
    padding_elements_here,
    blocks_parameters_here,
    outside_parameters_here,
    tower_parameters_here,
    adapter_parameters_here,
    matrix_bytes_each,
    outer_bytes_each,
    adapter_bytes_each,
    weight_shards,
    spread_experts_here,
    adapts,
    offloads_weights,
    implementation_wide_quantized_head,
    dequantized_bytes_each,
    head_elements_here,
    holds_head,
):
    """Stored weights: matrices in their format, all else in its own. [B]

    Parameters · width / GPUs that divide them (Rajbhandari et al. 2019, arXiv 1910.02054, section 5.3); LoRA's adapters
    beside the frozen ones (Hu et al. 2021, arXiv 2106.09685), which 4-bit formats shrink (Dettmers et al. 2023, arXiv
    2305.14314). Widths: catalogs/precisions.yaml. litgpt leaves the head beside 4-bit matrices in fp32 (implementations.yaml).
    """
    rest = blocks_parameters_here - formatted_parameters_here + outside_parameters_here + tower_parameters_here
    wide_head = implementation_wide_quantized_head * (dequantized_bytes_each > 0) * (4 - outer_bytes_each) * head_elements_here * holds_head
    formatted = formatted_parameters_here + spread_experts_here * (weight_shards > 1)
    base = (formatted + padding_elements_here) * matrix_bytes_each + rest * outer_bytes_each + wide_head
    return (base + adapts * adapter_parameters_here * adapter_bytes_each) / weight_shards * (1 - offloads_weights)


def trained_bytes_each(adapts, adapter_bytes_each, matrix_bytes_each):
    """Stored width of a trained parameter. [B]"""
    return np.where(adapts > 0, adapter_bytes_each, matrix_bytes_each)


def dequantized_bytes(dequantized_bytes_each, kernel_buffer_bytes_each, is_engine, stack_largest_linear, tensor_parallel):
    """One matrix at a time is widened for its product (QLoRA, Dettmers et al. 2023, arXiv 2305.14314). [B]

    Beside it what the kernel keeps for the widest (catalogs/kernels.yaml), serving engines apart, which have kernels of their own.
    """
    each = dequantized_bytes_each + kernel_buffer_bytes_each * (1 - is_engine)
    return each * np.max(stack_largest_linear, axis=0) / tensor_parallel


def segment_waste_bytes(tensor_bytes):
    """What a tensor counts beyond its size, as torch.cuda.memory_allocated has it. [B]

    From 10 MiB on a segment of its own is a multiple of 2 MiB, and what is left is split off only where it is more than
    1 MiB (c10/cuda/CUDACachingAllocator.cpp: kMinLargeAlloc, kRoundLarge, should_split).
    """
    left = np.ceil(tensor_bytes / 2**21) * 2**21 - tensor_bytes
    return np.where((tensor_bytes >= 10 * 2**20) & (left <= 2**20), left, 0.0)


def matrix_waste_bytes(
    stack_layers_here,
    stack_hidden,
    stack_query_width,
    stack_ffn_width,
    stack_gated_ffn_width,
    matrix_bytes_each,
    dequantized_bytes_each,
    tensor_parallel,
    trains,
):
    """The allocator's waste at the blocks' dense matrices in serving, where they stand in a plain format. [B]

    No tensor is in it, so it stands with the overhead, though a log counts it as allocated. Published: Qwen2.5's speed
    benchmark, 0.15 of 28 GiB; LitGPT's resource tables, 0.12 of 24 GiB.
    """
    each = stack_hidden * matrix_bytes_each / tensor_parallel
    of_heads, of_ffn = segment_waste_bytes(each * stack_query_width), segment_waste_bytes(each * stack_ffn_width)
    wasted = 2 * of_heads + of_ffn * np.where(stack_gated_ffn_width > 0, 3, 2)
    return (trains == 0) * (dequantized_bytes_each == 0) * np.sum(stack_layers_here * wasted, axis=0)


def load_working_bytes(
    tied,
    stores_head,
    head_elements_here,
    implementation_fuses_at_load,
    stack_layers_here,
    stack_hidden,
    stack_query_width,
    stack_key_width,
    stack_value_width,
    matrix_bytes_each,
    tensor_parallel,
):
    """What loading holds beside the weights: a tied head that the checkpoint has apart, parts of matrices being fused. [B]

    AutoAWQ fuses queries, keys and values of all blocks before their parts are freed (awq/utils/fused_utils.py, fuse_qkv).
    """
    head = tied * stores_head * 2 * head_elements_here
    widths = stack_query_width + stack_key_width + stack_value_width
    parts = np.sum(stack_layers_here * stack_hidden * widths, axis=0) * matrix_bytes_each / tensor_parallel
    return head + implementation_fuses_at_load * parts


SHARDS = (weight_shards,)
WEIGHTS = (
    stack_expert_padding_ratio,
    formatted_parameters_here,
    padding_elements_here,
    weights_bytes,
    trained_bytes_each,
    dequantized_bytes,
    matrix_waste_bytes,
    load_working_bytes,
)
