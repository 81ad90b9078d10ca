"""Training: seconds of one optimizer step, from the arithmetic and what the card, its links and the software reach."""

import numpy as np

LOGIT_PASSES = 6  # upcast, log-softmax, its gradient and the downcast, each reading or writing the logits


def tower_training_flops(tower_flops, adapts, extra_forward_ratio):
    """Arithmetic of a vision tower in a micro-batch: forward, backward and what is computed again, of a frozen one its forward. [FLOP]"""
    return tower_flops * np.where(adapts > 0, 1, 3 + extra_forward_ratio)


def training_flops(
    matmul_flops, head_flops, attention_flops, attention_passes, weight_gradient_ratio, repeated_products_ratio, tower_training_flops
):
    """All arithmetic of one micro-batch of training, recompute counted, on the whole replica. [FLOP]

    Per token 6 N (Kaplan et al. 2020, arXiv 2001.08361, section 2.1) + 2 N · recompute (Chen et al. 2016, arXiv 1604.06174)
    in full training, 4 N in LoRA, whose frozen weights need no gradient (Hu et al. 2021, arXiv 2106.09685), and attention.
    """
    blocks = matmul_flops * (2 + repeated_products_ratio + weight_gradient_ratio)
    return blocks + head_flops * (2 + weight_gradient_ratio) + attention_flops * attention_passes + tower_training_flops


def expert_traffic_bytes(
    expert_parameters,
    compute_bytes_each,
    gradient_bytes_each,
    weight_gradient_ratio,
    extra_forward_ratio,
    expert_parallel,
    context_parallel,
):
    """What a micro-batch moves of the experts' weights and gradients, however few tokens come to each. [B]

    Read in every pass, and their gradient added to: read and written (Megatron-Core, tensor_parallel/layers.py, weight gradients
    accumulated inside the product). Of dense matrices many tokens share it. Of one replica: the ranks of expert parallel bring
    their tokens to the same experts.
    """
    each = (2 + extra_forward_ratio) * np.maximum(compute_bytes_each, 1) + 2 * weight_gradient_ratio * gradient_bytes_each
    return each * expert_parameters * context_parallel / expert_parallel


def training_device_seconds(
    dense_equivalent_flops,
    head_flops,
    attention_flops,
    attention_passes,
    tower_training_flops,
    logit_bytes,
    dequantize_bytes,
    products_weights_bytes,
    weight_gradient_ratio,
    extra_forward_ratio,
    repeated_products_ratio,
    peak_flops_per_second,
    matmul_reach_ratio,
    head_flops_per_second,
    attention_flops_per_second,
    element_traffic_bytes,
    cast_bytes,
    expert_traffic_bytes,
    gpu_bandwidth_bytes_per_second,
    streaming_ratio,
    context_parallel,
    replica_gpus,
):
    """One micro-batch on one GPU: products, or reading their weights, attention, all other memory traffic. [s]

    Each part at the share of the card's rate that it reaches (catalogs/utilization.yaml and engines.yaml): the two bounds of
    the roofline (Williams et al. 2009, CACM 52(4), 65-76), added part by part as kernels run one after another.
    """
    bandwidth = gpu_bandwidth_bytes_per_second * streaming_ratio
    forwards = 2 + extra_forward_ratio
    products = dense_equivalent_flops * (2 + repeated_products_ratio + weight_gradient_ratio) / (peak_flops_per_second * matmul_reach_ratio)
    products = np.maximum(products, products_weights_bytes * forwards * context_parallel / bandwidth)
    head = (head_flops * (2 + weight_gradient_ratio) + tower_training_flops) / head_flops_per_second
    attention = attention_flops * attention_passes / attention_flops_per_second
    traffic = element_traffic_bytes * (1 + forwards) + logit_bytes * LOGIT_PASSES + dequantize_bytes * forwards
    return (products + head + attention + (traffic + cast_bytes + expert_traffic_bytes) / bandwidth) / replica_gpus


def training_compute_seconds(training_device_seconds, host_seconds, training_flops, peak_flops_per_second, replica_gpus, utilization):
    """One micro-batch's computation on one GPU, communication left out; a set utilization overrules the catalog. [s]"""
    stated = training_flops / (replica_gpus * peak_flops_per_second * utilization)
    return np.where(np.isnan(utilization), np.maximum(training_device_seconds, host_seconds), stated)


def overlapped(seconds, compute_seconds, overlap_ratio):
    """What is left of a communication after hiding it behind computation, whose share that can hide is assumed. [s]"""
    return np.maximum(seconds - overlap_ratio * compute_seconds, (1 - overlap_ratio) * seconds)


def activation_offload_seconds(offloads_activations, element_bytes, keeps_input, replica_gpus, pcie_bytes_per_second):
    """Saved activations to the CPU and back: about a forward's outputs, an eighth where only inputs are kept. [s]"""
    return offloads_activations * 2 * element_bytes * np.where(keeps_input > 0, 1 / 8, 1) / replica_gpus / pcie_bytes_per_second


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


def pipeline_bubble_ratio(pipeline_parallel, accumulation_steps, stage_chunks):
    """Idle share of filling and draining the pipeline: (p − 1) / (v · m). [share of the ideal time]

    Narayanan et al. 2021, arXiv 2104.04473, section 2.2: p stages, m micro-batches, v chunks per GPU. Stages alike.
    """
    return (pipeline_parallel - 1) / (accumulation_steps * stage_chunks)


def synchronization_seconds(
    gather_seconds, reduce_seconds, shards_weights, shards_gradients, shards_optimizer, training_compute_seconds, overlap_ratio
):
    """Communication once per optimizer step: gradients all-reduced or scattered, divided weights gathered again. [s]

    An all-reduce is a reduce-scatter and an all-gather (Rajbhandari et al. 2019, arXiv 1910.02054, section 7.1), hidden in
    part behind the last backward pass (Li et al. 2020, arXiv 2006.15704).
    """
    gradients = (1 - shards_gradients) * reduce_seconds * (2 - shards_optimizer)
    weights = (1 - shards_weights) * shards_optimizer * gather_seconds
    backward_seconds = training_compute_seconds * 2 / 3
    return overlapped(gradients + weights, backward_seconds, overlap_ratio)


def optimizer_traffic_bytes_each(optimizer_step_bytes_each, step_bytes_each):
    """Read and written per trained parameter in one step: as set, else the optimizer's own. [B]"""
    return np.where(optimizer_step_bytes_each > 0, optimizer_step_bytes_each, step_bytes_each)


def optimizer_seconds(
    trained_parameters,
    tensor_parallel,
    pipeline_parallel,
    shard_gpus,
    shards_optimizer,
    offloads_optimizer,
    optimizer_traffic_bytes_each,
    gpu_bandwidth_bytes_per_second,
    streaming_ratio,
    host_bandwidth_bytes_per_second,
    pcie_bytes_per_second,
):
    """The optimizer's own step: weights, gradients and moments read and written once, by GPU or CPU. [s]

    Offloaded, the gradients go to the CPU and the weights come back, 16 bits each way (ZeRO-Offload, Ren et al. 2021, arXiv
    2101.06840). Per trained parameter: step_bytes_each of catalogs/optimizers.yaml.
    """
    own = trained_parameters / (tensor_parallel * pipeline_parallel) / np.where(shards_optimizer > 0, shard_gpus, 1)
    on_gpu = own * optimizer_traffic_bytes_each / (gpu_bandwidth_bytes_per_second * streaming_ratio)
    on_cpu = own * (optimizer_traffic_bytes_each / host_bandwidth_bytes_per_second + 4 / pcie_bytes_per_second)
    return np.where(offloads_optimizer > 0, on_cpu, on_gpu)


def step_seconds(trains, micro_batch_seconds, accumulation_steps, pipeline_bubble_ratio, synchronization_seconds, optimizer_seconds):
    """One optimizer step. [s]"""
    run = accumulation_steps * micro_batch_seconds * (1 + pipeline_bubble_ratio)
    return np.where(trains > 0, run + synchronization_seconds + optimizer_seconds, np.nan)


def step_tokens(batch, stack_side, stack_layers, stack_pass_tokens, accumulation_steps, data_parallel):
    """Tokens of one step over all GPUs; of an encoder-decoder those of both sides, of an image its patches. [tokens]"""
    sides = [np.where((stack_side == side) & (stack_layers > 0), stack_pass_tokens, 0) for side in (0, 1)]
    text = np.max(sides[0], axis=0) + np.max(sides[1], axis=0)
    fixed = np.max(np.where(stack_layers > 0, stack_pass_tokens, 0), axis=0)
    return batch * np.where(text > 0, text, fixed) * accumulation_steps * data_parallel


STEP = (step_tokens,)
TRAINING = (
    tower_training_flops,
    training_flops,
    expert_traffic_bytes,
    training_device_seconds,
    training_compute_seconds,
    activation_offload_seconds,
    micro_batch_seconds,
    pipeline_bubble_ratio,
    synchronization_seconds,
    optimizer_traffic_bytes_each,
    optimizer_seconds,
    step_seconds,
)
