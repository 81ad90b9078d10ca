"""Training: seconds of one optimizer step, from the arithmetic and what the card, its links and the software reach."""

import numpy as np

BACKWARD_PASSES = 2  # gradients of inputs and of weights, each as large as the forward pass
FLASH_BACKWARD_PASSES = 2.5  # a flash kernel also computes the scores again (Dao 2023, arXiv 2307.08691, section 4)
LOGIT_PASSES = 6  # upcast, log-softmax, its gradient and the downcast, each reading or writing the logits
SCORE_PASSES = 3  # an eager kernel's scores, softmax and dropout
PCIE_3_BYTES_PER_SECOND = 16e9  # one direction of 16 lanes of generation 3; each later generation doubles it


def weight_gradient_ratio(trained_parameters, parameters):
    """Share of the weights whose gradients are computed: 1 in full training, the adapters' in LoRA."""
    return np.minimum(trained_parameters / parameters, 1)


def passes_ratio(trains, extra_forward_ratio):
    """Forward passes' worth of communication in a micro-batch: forward, backward, and what is computed again."""
    return 1 + trains * (1 + extra_forward_ratio)


def wide_flops_per_second(
    compute_bytes_each, computes_bf16, gpu_supports_bf16, gpu_fp32_flops_per_second, gpu_bf16_flops_per_second
):
    """The card's dense rate for head and attention: in 16 bits, in 32 where all is or bf16 is emulated. [FLOP/s]"""
    emulated = (computes_bf16 > 0) & (gpu_supports_bf16 < 1)
    return np.where(emulated | (compute_bytes_each > 2), gpu_fp32_flops_per_second, gpu_bf16_flops_per_second)


def peak_flops_per_second(
    compute_bytes_each, wide_flops_per_second, gpu_fp8_flops_per_second, gpu_fp4_flops_per_second
):
    """The card's dense rate in the width of the blocks' products; one that it lacks runs in the next wider. [FLOP/s]"""
    eight = np.where(np.isnan(gpu_fp8_flops_per_second), wide_flops_per_second, gpu_fp8_flops_per_second)
    four = np.where(np.isnan(gpu_fp4_flops_per_second), eight, gpu_fp4_flops_per_second)
    narrow = np.where(compute_bytes_each < 1, four, eight)
    return np.where(compute_bytes_each < 2, narrow, wide_flops_per_second)


def matmul_reach_ratio(compute_bytes_each, card_matmul_ratio, card_narrow_matmul_ratio, engine_matmul_ratio):
    """Share of the dense rate that the blocks' matrix products reach."""
    return engine_matmul_ratio * np.where(compute_bytes_each < 2, card_narrow_matmul_ratio, card_matmul_ratio)


def element_passes(adapts, compiles, engine_element_passes, engine_adapter_element_passes, compile_element_ratio):
    """How often each output of a forward pass moves through memory: adapters add theirs, compiling saves some."""
    eager = np.where(adapts > 0, engine_adapter_element_passes, engine_element_passes)
    return eager * np.where(compiles > 0, compile_element_ratio, 1)


def attention_passes(keeps_input, drops_attention):
    """Forward passes' worth of attention in a micro-batch of training, what is computed again included."""
    return 1 + FLASH_BACKWARD_PASSES + np.maximum(keeps_input, drops_attention)


def training_flops(
    matmul_flops, head_flops, attention_flops, attention_passes, weight_gradient_ratio, extra_forward_ratio
):
    """All arithmetic of one micro-batch of training, recompute counted, on the whole replica. [FLOP]

    Per token 6 N + 2 N · recompute in full training, 4 N in LoRA, whose frozen weights need no gradient, and attention.
    """
    blocks = matmul_flops * (2 + extra_forward_ratio + weight_gradient_ratio)
    return blocks + head_flops * (2 + weight_gradient_ratio) + attention_flops * attention_passes


def compute_parts(tensor_parallel, pipeline_parallel, context_parallel):
    """GPUs that share the arithmetic of one micro-batch. [GPUs]"""
    return tensor_parallel * pipeline_parallel * context_parallel


def training_device_seconds(
    matmul_flops,
    head_flops,
    attention_flops,
    attention_passes,
    element_bytes,
    score_bytes,
    logit_bytes,
    dequantize_bytes,
    products_weights_bytes,
    weight_gradient_ratio,
    extra_forward_ratio,
    peak_flops_per_second,
    wide_flops_per_second,
    matmul_reach_ratio,
    card_matmul_ratio,
    card_attention_ratio,
    engine_matmul_ratio,
    engine_attention_ratio,
    element_passes,
    gpu_bandwidth_bytes_per_second,
    streaming_ratio,
    context_parallel,
    compute_parts,
):
    """One micro-batch on one GPU: products, or reading their weights, attention, all other memory traffic. [s]"""
    bandwidth = gpu_bandwidth_bytes_per_second * streaming_ratio
    forwards = 2 + extra_forward_ratio
    products = matmul_flops * (forwards + weight_gradient_ratio) / (peak_flops_per_second * matmul_reach_ratio)
    products = np.maximum(products, products_weights_bytes * forwards * context_parallel / bandwidth)
    head_rate = wide_flops_per_second * card_matmul_ratio * engine_matmul_ratio
    head = head_flops * (2 + weight_gradient_ratio) / head_rate
    attention_rate = wide_flops_per_second * card_attention_ratio * engine_attention_ratio
    attention = attention_flops * attention_passes / attention_rate
    elements = (element_bytes + SCORE_PASSES * score_bytes) * element_passes * (1 + forwards)
    traffic = elements + logit_bytes * LOGIT_PASSES + dequantize_bytes * forwards
    return (products + head + attention + traffic / bandwidth) / compute_parts


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


def training_compute_seconds(
    training_device_seconds, host_seconds, training_flops, peak_flops_per_second, compute_parts, utilization
):
    """One micro-batch's computation on one GPU, communication left out; a set utilization overrules the catalog. [s]"""
    stated = training_flops / (compute_parts * peak_flops_per_second * utilization)
    return np.where(np.isnan(utilization), np.maximum(training_device_seconds, host_seconds), stated)


def overlapped(seconds, compute_seconds, overlap_ratio):
    """What is left of a communication after hiding it behind computation. [s]"""
    return np.maximum(seconds - overlap_ratio * compute_seconds, (1 - overlap_ratio) * seconds)


def pcie_bytes_per_second(gpu_pcie_generation, pcie_reach_ratio):
    """One direction between a GPU and its CPU, or another GPU through it. [B/s]"""
    generation = np.where(np.isnan(gpu_pcie_generation), 3, gpu_pcie_generation)
    return PCIE_3_BYTES_PER_SECOND * 2.0 ** (generation - 3) * pcie_reach_ratio


def activation_offload_seconds(offloads_activations, element_bytes, keeps_input, compute_parts, pcie_bytes_per_second):
    """Saved activations to the CPU and back: about a forward's outputs, an eighth where only inputs are kept. [s]"""
    return (
        offloads_activations
        * 2
        * element_bytes
        * np.where(keeps_input > 0, 1 / 8, 1)
        / compute_parts
        / pcie_bytes_per_second
    )


def micro_batch_seconds(
    training_compute_seconds,
    gather_seconds,
    reduce_seconds,
    activation_offload_seconds,
    shards_weights,
    shards_gradients,
    tensor_parallel_seconds,
    expert_parallel_seconds,
    context_parallel_seconds,
    overlap_ratio,
):
    """One micro-batch through forward and backward; sharded weights are gathered in each, gradients scattered. [s]

    What prefetching can hide is hidden in part; the all-reduces and all-to-alls inside a block are waited for.
    """
    hideable = shards_weights * 2 * gather_seconds + shards_gradients * reduce_seconds + context_parallel_seconds
    left = overlapped(hideable + activation_offload_seconds, training_compute_seconds, overlap_ratio)
    return training_compute_seconds + left + tensor_parallel_seconds + expert_parallel_seconds


def pipeline_bubble_ratio(pipeline_parallel, accumulation_steps, pipeline_chunks):
    """Idle share of filling and draining the pipeline: (p − 1) / (v · m) (Narayanan et al. 2021, 2104.04473, 2.2)."""
    return (pipeline_parallel - 1) / (accumulation_steps * pipeline_chunks)


def synchronization_seconds(
    gather_seconds,
    reduce_seconds,
    shards_weights,
    shards_gradients,
    shards_optimizer,
    training_compute_seconds,
    overlap_ratio,
):
    """Communication once per optimizer step: gradients all-reduced or scattered, divided weights gathered again. [s]"""
    gradients = (1 - shards_gradients) * reduce_seconds * (2 - shards_optimizer)
    weights = (1 - shards_weights) * shards_optimizer * gather_seconds
    backward_seconds = training_compute_seconds * 2 / 3
    return overlapped(gradients + weights, backward_seconds, overlap_ratio)


def optimizer_seconds(
    trained_parameters,
    tensor_parallel,
    pipeline_parallel,
    data_parallel,
    shards_optimizer,
    offloads_optimizer,
    optimizer_step_bytes_each,
    gpu_bandwidth_bytes_per_second,
    streaming_ratio,
    host_bandwidth_bytes_per_second,
    pcie_bytes_per_second,
):
    """The optimizer's own step: weights, gradients and moments read and written once, by GPU or CPU. [s]

    Offloaded, the gradients go to the CPU and the weights come back, 16 bits each way.
    """
    own = trained_parameters / (tensor_parallel * pipeline_parallel) / np.where(shards_optimizer > 0, data_parallel, 1)
    on_gpu = own * optimizer_step_bytes_each / (gpu_bandwidth_bytes_per_second * streaming_ratio)
    on_cpu = own * (optimizer_step_bytes_each / host_bandwidth_bytes_per_second + 4 / pcie_bytes_per_second)
    return np.where(offloads_optimizer > 0, on_cpu, on_gpu)


def step_seconds(
    trains,
    micro_batch_seconds,
    accumulation_steps,
    pipeline_bubble_ratio,
    synchronization_seconds,
    optimizer_seconds,
):
    """One optimizer step. [s]"""
    run = accumulation_steps * micro_batch_seconds * (1 + pipeline_bubble_ratio)
    return np.where(trains > 0, run + synchronization_seconds + optimizer_seconds, np.nan)


def step_tokens(batch, stack_side, stack_layers, stack_pass_tokens, accumulation_steps, data_parallel):
    """Tokens of one step over all GPUs; of an encoder-decoder those of both sides, of an image its patches. [tokens]"""
    sides = [np.where((stack_side == side) & (stack_layers > 0), stack_pass_tokens, 0) for side in (0, 1)]
    text = np.max(sides[0], axis=0) + np.max(sides[1], axis=0)
    fixed = np.max(np.where(stack_layers > 0, stack_pass_tokens, 0), axis=0)
    return batch * np.where(text > 0, text, fixed) * accumulation_steps * data_parallel


TRAINING = (
    training_flops,
    training_device_seconds,
    host_seconds,
    training_compute_seconds,
    activation_offload_seconds,
    micro_batch_seconds,
    pipeline_bubble_ratio,
    synchronization_seconds,
    optimizer_seconds,
    step_seconds,
    step_tokens,
)
RATES = (
    weight_gradient_ratio,
    passes_ratio,
    wide_flops_per_second,
    peak_flops_per_second,
    matmul_reach_ratio,
    element_passes,
    attention_passes,
    compute_parts,
    pcie_bytes_per_second,
)
