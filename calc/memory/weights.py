"""Weights as stored on one GPU, and what loading and products need in addition. Bytes."""

import numpy as np


def stack_expert_padding_ratio(
    stack_expert_ffn_width, stack_hidden, tensor_parallel, expert_parallel, expert_tile
):
    """Experts in whole tiles of the card's MXFP4 kernel, over their plain size. [ratio]

    The inner width per GPU is rounded up to the tile; the hidden width to 256 by kernels whose tile
    is wider than Triton's 64. Source: vLLM, quantization/mxfp4.py: Triton on Hopper, Marlin (128),
    FlashInfer on Blackwell (256).
    """
    inner = np.maximum(stack_expert_ffn_width / np.maximum(tensor_parallel / expert_parallel, 1), 1)
    tile = np.maximum(expert_tile, 1)
    hidden_tile = np.where(expert_tile > 64, 256, 1)
    padded_elements = (
        np.ceil(inner / tile) * tile * np.ceil(stack_hidden / hidden_tile) * hidden_tile
    )
    return np.where(
        (expert_tile > 0) & (stack_expert_ffn_width > 0),
        padded_elements / np.maximum(inner * stack_hidden, 1),
        1.0,
    )


def formatted_parameters_here(
    stack_layers_here,
    stack_block_linear_here,
    stack_block_experts_here,
    experts_only,
    leaves_experts_wide,
):
    """Elements of block matrices in the precision's own format. [parameters]

    All of them, only the routed experts' if the format is made for these (MXFP4 of gpt-oss), or all
    but these. Source: catalogs/edited/precisions.yaml, experts_only, leaves_stacked_experts.
    """
    has_experts = np.sum(stack_block_experts_here, axis=0) > 0
    beside = stack_block_linear_here - stack_block_experts_here * leaves_experts_wide
    return np.sum(
        stack_layers_here
        * np.where(experts_only * has_experts > 0, stack_block_experts_here, beside),
        axis=0,
    )


def padding_elements_here(
    stack_layers_here, stack_block_experts_here, stack_expert_padding_ratio, tiles_experts
):
    """Elements that tiles add to experts in a format made for them. [elements]

    Source: as stack_expert_padding_ratio.
    """
    return tiles_experts * np.sum(
        stack_layers_here * stack_block_experts_here * (stack_expert_padding_ratio - 1), axis=0
    )


def formatted_weights_bytes(
    formatted_parameters_here,
    padding_elements_here,
    spread_experts_here,
    leaves_experts_wide,
    weight_shards,
    matrix_bytes_each,
):
    """Matrices in the precision's own format, before sharding. [B]

    Source: catalogs/edited/precisions.yaml; 4-bit formats: Dettmers et al. 2023, arXiv 2305.14314.
    """
    spread = spread_experts_here * (weight_shards > 1) * (1 - leaves_experts_wide)
    return (formatted_parameters_here + spread + padding_elements_here) * matrix_bytes_each


def other_weights_bytes(
    blocks_parameters_here,
    formatted_parameters_here,
    outside_parameters_here,
    tower_parameters_here,
    spread_experts_here,
    leaves_experts_wide,
    weight_shards,
    outer_bytes_each,
):
    """All other weights before sharding: norms, biases, embedding, head, vision tower. [B]

    Source: catalogs/edited/precisions.yaml, outer_bytes_each.
    """
    return (
        blocks_parameters_here
        - formatted_parameters_here
        + outside_parameters_here
        + tower_parameters_here
        + spread_experts_here * (weight_shards > 1) * leaves_experts_wide
    ) * outer_bytes_each


def wide_head_bytes(
    implementation_wide_quantized_head,
    dequantized_bytes_each,
    outer_bytes_each,
    head_elements_here,
    holds_head,
):
    """Additional bytes of an fp32 head beside quantized matrices. [B]

    Source: litgpt, by catalogs/edited/implementations.yaml.
    """
    is_quantized = implementation_wide_quantized_head * (dequantized_bytes_each > 0)
    return is_quantized * (4 - outer_bytes_each) * head_elements_here * holds_head


def adapters_bytes(
    adapts,
    served_adapters,
    adapter_parameters_here,
    adapter_bytes_each,
    outer_bytes_each,
    saved_embedding_here,
    saved_head_here,
):
    """LoRA adapters, before sharding; served adapters in 16 bits, one slot for each. [B]

    What LoRA trains whole is stored twice: the frozen original, and a copy in the format of the
    adapters.

    Source: Hu et al. 2021, arXiv 2106.09685; vLLM, vllm/lora/layers, create_lora_weights,
    max_loras.
    """
    each = adapts * adapter_bytes_each + served_adapters * outer_bytes_each
    copies = saved_embedding_here + saved_head_here
    return each * adapter_parameters_here + adapter_bytes_each * copies


def draft_weights_bytes(draft_blocks_ratio, blocks_parameters_here, outer_bytes_each):
    """Weights of the draft model or heads in 16 bits, as a share of the model's blocks. [B]

    Source: catalogs/edited/speculations.yaml.
    """
    return draft_blocks_ratio * blocks_parameters_here * outer_bytes_each


def latent_copies_bytes(
    stack_layers_here,
    stack_hidden,
    stack_latent_width,
    stack_query_latent_width,
    tensor_parallel,
    matrix_bytes_each,
    outer_bytes_each,
    experts_only,
    trains,
):
    """Projections into the latent that every GPU of a tensor group holds whole in serving. [B]

    What dividing them would have saved. Source: vLLM, models/deepseek_v2.py, q_a_proj and
    kv_a_proj_with_mqa: ReplicatedLinear.
    """
    widths = (stack_latent_width + stack_query_latent_width) * (stack_latent_width > 0)
    whole = np.sum(stack_layers_here * stack_hidden * widths, axis=0)
    width = np.where(experts_only > 0, outer_bytes_each, matrix_bytes_each)
    return (trains == 0) * whole * (1 - 1 / tensor_parallel) * width


def model_weights_bytes(
    formatted_weights_bytes, other_weights_bytes, wide_head_bytes, latent_copies_bytes
):
    """All weights of the model itself, before sharding. [B]

    By definition.
    """
    return formatted_weights_bytes + other_weights_bytes + wide_head_bytes + latent_copies_bytes


def stored_weights_bytes(
    model_weights_bytes, adapters_bytes, draft_weights_bytes, weight_shards, offloads_weights
):
    """Stored weights, adapters and drafts, divided over the GPUs that shard them. [B]

    Source: Rajbhandari et al. 2019, arXiv 1910.02054, section 5.3.
    """
    return (
        (model_weights_bytes + adapters_bytes + draft_weights_bytes)
        / weight_shards
        * (1 - offloads_weights)
    )


def dequantized_bytes(
    dequantized_bytes_each,
    kernel_buffer_bytes_each,
    is_engine,
    stack_largest_linear,
    tensor_parallel,
):
    """The one matrix that is widened for its product, and what the kernel keeps beside it. [B]

    Source: QLoRA, Dettmers et al. 2023, arXiv 2305.14314; catalogs/calibrated/kernels.yaml.
    Valid: the kernel's buffer outside serving engines, which have kernels of their own.
    """
    bytes_each = dequantized_bytes_each + kernel_buffer_bytes_each * (1 - is_engine)
    return bytes_each * np.max(stack_largest_linear, axis=0) / tensor_parallel


def _segment_waste_bytes(tensor_bytes):
    """Waste that torch.cuda.memory_allocated counts beyond a tensor's size. [B]

    From 10 MiB on, a segment is a multiple of 2 MiB; its rest is split off only if it is more than
    1 MiB. Source: c10/cuda/CUDACachingAllocator.cpp, kMinLargeAlloc, kRoundLarge, should_split.
    """
    rest = np.ceil(tensor_bytes / 2**21) * 2**21 - tensor_bytes
    return np.where((tensor_bytes >= 10 * 2**20) & (rest <= 2**20), rest, 0.0)


def stack_row_bytes(stack_hidden, matrix_bytes_each, tensor_parallel):
    """One GPU's share of a row of a block's matrix, as wide as the hidden states. [B]

    By definition.
    """
    return stack_hidden * matrix_bytes_each / tensor_parallel


def matrix_waste_bytes(
    trains,
    dequantized_bytes_each,
    stack_layers_here,
    stack_row_bytes,
    stack_query_width,
    stack_ffn_width,
    stack_gated_ffn_width,
):
    """The allocator's waste at the blocks' dense matrices in serving, in plain formats. [B]

    No tensor is in it, so it is part of the overhead, though a log counts it as allocated.
    Source: Qwen2.5's speed benchmark, 0.15 of 28 GiB; LitGPT's resource tables, 0.12 of 24 GiB.
    """
    attention = _segment_waste_bytes(stack_row_bytes * stack_query_width)
    network = _segment_waste_bytes(stack_row_bytes * stack_ffn_width)
    wasted = 2 * attention + network * np.where(stack_gated_ffn_width > 0, 3, 2)
    return (
        (trains == 0) * (dequantized_bytes_each == 0) * np.sum(stack_layers_here * wasted, axis=0)
    )


def fused_parts_bytes(
    implementation_fuses_at_load,
    stack_layers_here,
    stack_row_bytes,
    stack_query_width,
    stack_key_width,
    stack_value_width,
):
    """Queries, keys and values of all blocks while they are fused into one matrix. [B]

    Source: AutoAWQ, awq/utils/fused_utils.py, fuse_qkv.
    """
    widths = stack_query_width + stack_key_width + stack_value_width
    return implementation_fuses_at_load * np.sum(
        stack_layers_here * stack_row_bytes * widths, axis=0
    )


def load_working_bytes(tied, stores_head, head_elements_here, fused_parts_bytes):
    """Memory that loading adds: a copy of a tied head, and matrices while they are fused. [B]

    Source: as fused_parts_bytes; an untied copy of the head: catalogs/edited/implementations.yaml.
    """
    return tied * stores_head * 2 * head_elements_here + fused_parts_bytes
