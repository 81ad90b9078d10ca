"""Rates that card, links and software reach, and the number of passes.

Shares of the data sheet: catalogs/calibrated/utilization.yaml by card, engines.yaml by software.
"""

import numpy as np

from calc.scenarios.counts import EXPERTS


def weight_gradient_ratio(trained_parameters, parameters):
    """Share of weights whose gradients are computed: 1, or the adapters' in LoRA. [share]"""
    return np.minimum(trained_parameters / parameters, 1)


def last_product_ratio(
    stack_pass_tokens, stack_layers, stack_active_parameters, stack_hidden, stack_met_ffn_width
):
    """Share of the blocks' products that their last one, the projection down, takes. [share]

    Hidden · (width of the feed-forward network, of shared experts and of the k that a token meets),
    of all active weights.
    """
    last = np.sum(stack_pass_tokens * stack_layers * (stack_hidden * stack_met_ffn_width), axis=0)
    return np.minimum(
        last / np.maximum(np.sum(stack_pass_tokens * stack_active_parameters, axis=0), 1), 1
    )


def repeated_products_ratio(
    extra_forward_ratio, keeps_input, engine_recompute_stops_early, adapts, last_product_ratio
):
    """Matrix products that recomputation repeats, in forward passes. [passes]

    PyTorch's checkpointing without reentrant autograd stops a block's second forward pass once its
    last saved tensor is back. Nobody saves the output of the projection down, so that product is
    not taken again; adapters save what follows it. Source: torch/utils/checkpoint.py,
    _StopRecomputationError, early_stop.
    """
    return (
        extra_forward_ratio
        - keeps_input * engine_recompute_stops_early * (1 - adapts) * last_product_ratio
    )


def passes_ratio(trains, extra_forward_ratio):
    """Communication of a micro-batch, in forward passes, recompute included. [passes]"""
    return 1 + trains * (1 + extra_forward_ratio)


def multiplies_in_fp32(compute_bytes_each, computes_bf16, gpu_supports_bf16):
    """1 where head and attention are computed in 32 bits, as where bf16 is emulated. [0 or 1]"""
    emulated = (computes_bf16 > 0) & (gpu_supports_bf16 < 1)
    return (emulated | (compute_bytes_each > 2)).astype(float)


def wide_flops_per_second(multiplies_in_fp32, gpu_fp32_flops_per_second, gpu_bf16_flops_per_second):
    """The dense rate for head and attention, in 16 or 32 bits. [FLOP/s]"""
    return np.where(multiplies_in_fp32 > 0, gpu_fp32_flops_per_second, gpu_bf16_flops_per_second)


def product_bytes_each(compute_bytes_each, gpu_fp8_flops_per_second, gpu_fp4_flops_per_second):
    """Width of the products: the precision's, or 16 bits on a card without a rate for it. [B]

    Such a card reads narrow weights and widens them (vLLM, Marlin kernels).
    """
    native = np.where(compute_bytes_each < 1, gpu_fp4_flops_per_second, gpu_fp8_flops_per_second)
    return np.where((compute_bytes_each < 2) & np.isnan(native), 2.0, compute_bytes_each)


def peak_flops_per_second(
    product_bytes_each, wide_flops_per_second, gpu_fp8_flops_per_second, gpu_fp4_flops_per_second
):
    """The dense rate in the width of the products. [FLOP/s]"""
    narrow = np.where(product_bytes_each < 1, gpu_fp4_flops_per_second, gpu_fp8_flops_per_second)
    return np.where(product_bytes_each < 2, narrow, wide_flops_per_second)


def block_scaled_limit_flops_per_second(
    scale_elements, product_bytes_each, release_block_scaled_flops_per_second
):
    """Most that 8-bit products with a scale per block reach in an earlier release. [FLOP/s]

    No limit otherwise. Source: catalogs/calibrated/earlier_releases.yaml.
    """
    scaled = (scale_elements > 0) & (product_bytes_each == 1)
    limited = scaled & ~np.isnan(release_block_scaled_flops_per_second)
    return np.where(limited, release_block_scaled_flops_per_second, np.inf)


def wide_matmul_ratio(
    multiplies_in_fp32,
    card_matmul_ratio,
    card_fp32_matmul_ratio,
    engine_matmul_ratio,
    engine_hopper_matmul_ratio,
    card_is_hopper,
):
    """Share of the dense rate that products in 16 or 32 bits reach. [share]

    Source: catalogs/calibrated/utilization.yaml and engines.yaml.
    """
    of_engine = engine_matmul_ratio * np.where(card_is_hopper > 0, engine_hopper_matmul_ratio, 1)
    of_card = np.where(multiplies_in_fp32 > 0, card_fp32_matmul_ratio, card_matmul_ratio)
    return of_card * of_engine


def products_flops_per_second(
    peak_flops_per_second,
    product_bytes_each,
    wide_matmul_ratio,
    card_narrow_matmul_ratio,
    engine_matmul_ratio,
    engine_narrow_matmul_ratio,
    block_scaled_limit_flops_per_second,
):
    """Rate that the blocks' products reach. [FLOP/s]"""
    narrow = card_narrow_matmul_ratio * engine_matmul_ratio * engine_narrow_matmul_ratio
    reached = peak_flops_per_second * np.where(product_bytes_each < 2, narrow, wide_matmul_ratio)
    return np.minimum(reached, block_scaled_limit_flops_per_second)


def head_flops_per_second(wide_flops_per_second, wide_matmul_ratio):
    """Rate that the head's product reaches. [FLOP/s]"""
    return wide_flops_per_second * wide_matmul_ratio


def fuses_adapter_kernels(asks_fused_adapters, engine_fused_adapters):
    """1 where adapters run inside the kernels of their matrices. [0 or 1]"""
    return np.where(np.isnan(asks_fused_adapters), engine_fused_adapters, asks_fused_adapters)


def adapted_width_ratio(
    adapts,
    adapts_matrices,
    stack_layers,
    stack_adapter_in_width,
    stack_adapter_out_width,
    stack_experts,
    stack_experts_per_token,
):
    """Widths of the matrices that LoRA adapts over those of all that it may adapt. [share]

    An adapter reads its matrix's input and adds to its output. Of routed experts a token meets k.
    Source: Hu et al. 2021, arXiv 2106.09685, section 4.1.
    """
    widths = stack_layers * (stack_adapter_in_width + stack_adapter_out_width)
    met = np.ones_like(widths)
    met[EXPERTS] = stack_experts_per_token / np.maximum(stack_experts, 1)
    possible = np.sum(widths * met, axis=(0, 1))
    adapted = np.sum(adapts_matrices * widths * met, axis=(0, 1))
    return np.where((adapts > 0) & (possible > 0), adapted / np.maximum(possible, 1), 0)


def adapter_element_passes(
    fuses_adapter_kernels,
    adapted_width_ratio,
    engine_element_passes,
    engine_adapter_element_passes,
    fused_adapter_passes,
):
    """Moves of each output beside adapters: their own outputs too, fewer if fused. [passes]

    What adapters of all matrices add was read off runs; those of some add as much less as the
    matrices are narrower. A fused kernel adds an adapter's product where its matrix writes the
    output. Source: NeMo Automodel, components/_peft/lora_kernel.py; Unsloth, kernels/fast_lora.py.
    """
    apart = engine_adapter_element_passes - engine_element_passes
    added = np.where(fuses_adapter_kernels > 0, np.minimum(fused_adapter_passes, apart), apart)
    return engine_element_passes + adapted_width_ratio * added


def merging_bytes_each(
    adapts_matrices,
    stack_adapter_in_width,
    engine_merges_experts,
    release_lists_experts,
    adapter_bytes_each,
):
    """Bytes moved to merge one expert weight with its adapter in one pass. [B]

    Forward, the adapter's product is written, scaled and added to the weight; backward, the
    gradient of the sum goes the same way: about six moves as wide as the adapter. Source: peft
    0.21, tuners/lora/layer.py, ParamWrapper.get_delta_weight and _LoraParameterProxy.
    """
    adapts_experts = np.any(adapts_matrices * stack_adapter_in_width, axis=1)[EXPERTS]
    merges = adapts_experts * engine_merges_experts * (1 - np.nan_to_num(release_lists_experts))
    return merges * 6 * adapter_bytes_each


def element_passes(
    adapts,
    compiles,
    fuses_blocks,
    trains,
    generates,
    engine_element_passes,
    adapter_element_passes,
    compile_element_ratio,
    compile_adapter_ratio,
    encoder_element_ratio,
):
    """Moves of each forward output through memory: adapters add, compiling saves. [passes]

    Of adapters it saves less, since their products read and write what no kernel fuses. Encoders
    that are served have norms and activations of one kernel each, of which compiling saves little
    more. Liger's kernels of norms, gate and rotation leave as much: counted in transformers'
    LlamaDecoderLayer 190 of 590 kB a token and block of Llama 3.1 8B, forward.
    """
    added = np.where(adapts > 0, adapter_element_passes - engine_element_passes, 0)
    fused = np.where((trains == 0) & (generates == 0), encoder_element_ratio, 1)
    fewer = (compiles > 0) | (fuses_blocks > 0)
    left = np.minimum(fused, np.where(fewer, compile_element_ratio, 1))
    return engine_element_passes * left + added * np.where(compiles > 0, compile_adapter_ratio, 1)


def score_passes(trains, generates, element_passes, eager_score_passes, encoder_score_passes):
    """Moves of an eager kernel's scores through memory in one forward pass. [passes]

    Of a served encoder they were counted in its source.
    """
    encodes = (trains == 0) & (generates == 0)
    return np.where(encodes, encoder_score_passes, eager_score_passes * element_passes)


def element_traffic_bytes(element_bytes, score_bytes, element_passes, score_passes):
    """Memory traffic of norms, activations and eager scores in one forward pass. [B]"""
    return element_bytes * element_passes + score_bytes * score_passes


def whole_element_bytes(
    batch,
    stack_layers,
    stack_pass_tokens,
    stack_experts_per_token,
    stack_hidden,
    stack_expert_hidden,
    compute_bytes_each,
    element_passes,
):
    """Traffic of what is as wide as the hidden states: residual, norms, copies for experts. [B]"""
    width = 4 * (stack_hidden + stack_experts_per_token * stack_expert_hidden)
    elements = batch * np.sum(stack_layers * stack_pass_tokens * width, axis=0)
    return np.maximum(compute_bytes_each, 2) * elements * element_passes


def attention_passes(keeps_input, drops_attention, attention_backward_passes):
    """Attention of a training micro-batch, in forward passes, recompute included. [passes]

    1 + backward + recompute, with eager attention as well.
    """
    return 1 + attention_backward_passes + np.maximum(keeps_input, drops_attention)


def pcie_bytes_per_second(gpu_pcie_generation, pcie_reach_ratio, pcie_3_bytes_per_second):
    """One direction of PCIe: each generation after the third doubles the rate. [B/s]"""
    generation = np.where(np.isnan(gpu_pcie_generation), 3, gpu_pcie_generation)
    return pcie_3_bytes_per_second * 2.0 ** (generation - 3) * pcie_reach_ratio


def host_passes(trains, extra_forward_ratio, backward_passes):
    """Passes whose kernels the CPU launches in a micro-batch, recompute included. [passes]"""
    return 1 + trains * (backward_passes + extra_forward_ratio)


def launched_block_seconds(
    engine_host_seconds_per_block,
    kernel_host_ratio,
    compiles,
    trains,
    generates,
    compile_launch_ratio,
    encoder_launch_ratio,
):
    """Time in which the CPU launches a block's kernels, experts apart; fewer compiled. [s]

    A served encoder rotates nothing, keeps no cache and has norms of one kernel.
    """
    launched = np.where(compiles > 0, compile_launch_ratio, 1)
    encodes = (trains == 0) & (generates == 0)
    of_block = engine_host_seconds_per_block * np.where(encodes, encoder_launch_ratio, 1)
    return of_block * kernel_host_ratio * launched


def stack_launched_experts_seconds(
    stack_experts, engine_host_seconds_per_expert, release_host_seconds_per_expert
):
    """Time in which the CPU launches the kernels of all experts of a block. [s]"""
    of_release = np.isnan(release_host_seconds_per_expert)
    return stack_experts * np.where(
        of_release, engine_host_seconds_per_expert, release_host_seconds_per_expert
    )


def stack_prompt_launch_seconds(
    stack_experts,
    is_engine,
    runs_shipped_kernels,
    experts_only,
    card_shipped_launch_seconds,
    expert_launch_seconds,
    block_launch_seconds,
    generates,
):
    """Additional time to launch a prompt's pass through a block, by engine and as it ships. [s]

    A pass with a prompt in it is not replayed. Kernels that experts have for one number format
    alone (MXFP4, 4-bit integers) are as fast without flags. Source: TensorRT-LLM,
    _torch/pyexecutor/scheduler.py, can_run_cuda_graph: num_context_requests == 0.
    """
    shipped = runs_shipped_kernels * (1 - experts_only) * np.nan_to_num(card_shipped_launch_seconds)
    experts = np.where(stack_experts > 0, shipped + expert_launch_seconds, 0)
    return is_engine * (experts + generates * block_launch_seconds)


def host_seconds(
    adapts,
    stack_layers,
    host_passes,
    launched_block_seconds,
    stack_launched_experts_seconds,
    stack_prompt_launch_seconds,
    adapter_launch_ratio,
    pipeline_parallel,
):
    """Time in which the CPU launches one micro-batch's kernels on one stage. [s]"""
    block = launched_block_seconds * (1 + adapter_launch_ratio * adapts)
    experts = stack_launched_experts_seconds + stack_prompt_launch_seconds
    return np.sum(stack_layers * (block + experts), axis=0) * host_passes / pipeline_parallel
