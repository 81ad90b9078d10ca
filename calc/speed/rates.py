"""What the card, its links and the software reach, and how often each thing is done: ratios, FLOP/s, bytes per second."""

import numpy as np

BACKWARD_PASSES = 2  # gradients of inputs and of weights, each as large as the forward pass
SCORE_PASSES = 3  # an eager kernel's scores, softmax and dropout
FLASH_BACKWARD_PASSES = 2.5  # a flash kernel also computes the scores again (Dao 2023, arXiv 2307.08691, section 4)
PCIE_3_BYTES_PER_SECOND = 16e9  # one direction of 16 lanes of generation 3; each later generation doubles it


def weight_gradient_ratio(trained_parameters, parameters):
    """Share of the weights whose gradients are computed: 1 in full training, the adapters' in LoRA. [share]"""
    return np.minimum(trained_parameters / parameters, 1)


def last_product_ratio(
    stack_pass_tokens,
    stack_layers,
    stack_active_parameters,
    stack_hidden,
    stack_ffn_width,
    stack_experts_per_token,
    stack_expert_ffn_width,
    stack_shared_ffn_width,
):
    """Share of the blocks' products that their last one, the projection down, takes. [share]

    Hidden · (width of the feed-forward network, of shared experts and of the k that a token meets), of all active weights.
    """
    last = stack_hidden * (stack_ffn_width + stack_shared_ffn_width + stack_experts_per_token * stack_expert_ffn_width)
    whole = np.sum(stack_pass_tokens * stack_active_parameters, axis=0)
    return np.minimum(np.sum(stack_pass_tokens * stack_layers * last, axis=0) / np.maximum(whole, 1), 1)


def repeated_products_ratio(extra_forward_ratio, keeps_input, engine_recompute_stops_early, adapts, last_product_ratio):
    """Products that recompute takes again, of one forward pass. [passes]

    PyTorch's checkpointing without reentrant autograd stops a block's second forward pass once its last saved tensor is back
    (torch/utils/checkpoint.py, _StopRecomputationError, early_stop): nobody saves the output of the projection down, so that
    product is not taken again. Adapters save what follows it.
    """
    return extra_forward_ratio - keeps_input * engine_recompute_stops_early * (1 - adapts) * last_product_ratio


def passes_ratio(trains, extra_forward_ratio):
    """Forward passes' worth of communication in a micro-batch: forward, backward, and what is computed again. [passes]"""
    return 1 + trains * (1 + extra_forward_ratio)


def wide_flops_per_second(compute_bytes_each, computes_bf16, gpu_supports_bf16, gpu_fp32_flops_per_second, gpu_bf16_flops_per_second):
    """The card's dense rate for head and attention: in 16 bits, in 32 where all is or bf16 is emulated. [FLOP/s]"""
    emulated = (computes_bf16 > 0) & (gpu_supports_bf16 < 1)
    return np.where(emulated | (compute_bytes_each > 2), gpu_fp32_flops_per_second, gpu_bf16_flops_per_second)


def peak_flops_per_second(compute_bytes_each, wide_flops_per_second, gpu_fp8_flops_per_second, gpu_fp4_flops_per_second):
    """The card's dense rate in the width of the blocks' products; one that it lacks runs in the next wider. [FLOP/s]"""
    eight = np.where(np.isnan(gpu_fp8_flops_per_second), wide_flops_per_second, gpu_fp8_flops_per_second)
    four = np.where(np.isnan(gpu_fp4_flops_per_second), eight, gpu_fp4_flops_per_second)
    narrow = np.where(compute_bytes_each < 1, four, eight)
    return np.where(compute_bytes_each < 2, narrow, wide_flops_per_second)


def matmul_reach_ratio(compute_bytes_each, card_matmul_ratio, card_narrow_matmul_ratio, engine_matmul_ratio, engine_narrow_matmul_ratio):
    """Share of the dense rate that the blocks' matrix products reach: catalogs/utilization.yaml and engines.yaml. [share]"""
    narrow = card_narrow_matmul_ratio * engine_narrow_matmul_ratio
    return engine_matmul_ratio * np.where(compute_bytes_each < 2, narrow, card_matmul_ratio)


def head_flops_per_second(wide_flops_per_second, card_matmul_ratio, engine_matmul_ratio):
    """What the head's product reaches: catalogs/utilization.yaml and engines.yaml. [FLOP/s]"""
    return wide_flops_per_second * card_matmul_ratio * engine_matmul_ratio


def attention_flops_per_second(
    trains,
    wide_flops_per_second,
    card_attention_ratio,
    card_prefill_attention_ratio,
    engine_attention_ratio,
    engine_replays_steps,
    context_parallel,
    engine_context_attention_ratio,
):
    """What attention reaches: catalogs/utilization.yaml and engines.yaml. [FLOP/s]

    Serving engines run the card's own forward kernel, which reaches more than forward and backward together. Under context
    parallelism each rank works on short pieces and waits for the slowest of the ring (Liu et al. 2023, arXiv 2310.01889): a
    calibrated share of it.
    """
    forward_alone = (trains == 0) & (engine_replays_steps > 0)
    pieces = np.where(context_parallel > 1, engine_context_attention_ratio, 1)
    return (
        wide_flops_per_second
        * np.where(forward_alone, card_prefill_attention_ratio, card_attention_ratio)
        * engine_attention_ratio
        * pieces
    )


def element_passes(adapts, compiles, engine_element_passes, engine_adapter_element_passes, compile_element_ratio):
    """How often each output of a forward pass moves through memory: adapters add theirs, compiling saves some. [passes]"""
    eager = np.where(adapts > 0, engine_adapter_element_passes, engine_element_passes)
    return eager * np.where(compiles > 0, compile_element_ratio, 1)


def element_traffic_bytes(element_bytes, score_bytes, element_passes):
    """What norms, activations and an eager attention's scores move through memory in one forward pass. [B]"""
    return (element_bytes + SCORE_PASSES * score_bytes) * element_passes


def attention_passes(keeps_input, drops_attention):
    """Forward passes' worth of attention in a micro-batch of training, what is computed again included. [passes]

    1 + 2.5 + recompute (Dao 2023, arXiv 2307.08691, section 4), with eager attention as well.
    """
    return 1 + FLASH_BACKWARD_PASSES + np.maximum(keeps_input, drops_attention)


def pcie_bytes_per_second(gpu_pcie_generation, pcie_reach_ratio):
    """One direction between a GPU and its CPU, or another GPU through it. [B/s]"""
    generation = np.where(np.isnan(gpu_pcie_generation), 3, gpu_pcie_generation)
    return PCIE_3_BYTES_PER_SECOND * 2.0 ** (generation - 3) * pcie_reach_ratio


def host_seconds(
    trains,
    adapts,
    stack_layers,
    stack_experts,
    extra_forward_ratio,
    engine_host_seconds_per_block,
    engine_host_seconds_per_expert,
    kernel_host_ratio,
    pipeline_parallel,
):
    """Time in which the CPU launches one micro-batch's kernels on one stage; adapters add about half. [s]"""
    passes = 1 + trains * (BACKWARD_PASSES + extra_forward_ratio)
    block = engine_host_seconds_per_block * kernel_host_ratio * (1 + 0.5 * adapts)
    launched = np.sum(stack_layers * (block + stack_experts * engine_host_seconds_per_expert), axis=0)
    return launched * passes / pipeline_parallel


RATES = (
    weight_gradient_ratio,
    last_product_ratio,
    repeated_products_ratio,
    passes_ratio,
    wide_flops_per_second,
    peak_flops_per_second,
    matmul_reach_ratio,
    head_flops_per_second,
    attention_flops_per_second,
    element_passes,
    element_traffic_bytes,
    attention_passes,
    pcie_bytes_per_second,
    host_seconds,
)
