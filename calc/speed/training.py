"""Seconds of one optimizer step, from arithmetic and what card, links and software reach.

By definition each time is a count over a rate. The rates are calibrated on published runs:
catalogs/calibrated, validation/speed.py.
"""

import numpy as np

from calc.speed.hiding import exposed_seconds


def tower_training_flops(tower_flops, adapts, extra_forward_ratio):
    """Vision tower in a micro-batch, recompute included; frozen, its forward alone. [FLOP]"""
    return tower_flops * np.where(adapts > 0, 1, 3 + extra_forward_ratio)


def training_flops(
    matmul_flops,
    head_flops,
    attention_flops,
    attention_passes,
    weight_gradient_ratio,
    repeated_products_ratio,
    tower_training_flops,
):
    """All arithmetic of one training micro-batch on the replica, recompute counted. [FLOP]

    Per token 6 N + 2 N · recompute in full training, 4 N in LoRA, whose frozen weights need no
    gradient, and attention. Source: Kaplan et al. 2020, arXiv 2001.08361, section 2.1; Chen et al.
    2016, arXiv 1604.06174; Hu et al. 2021, arXiv
    2106.09685.
    """
    blocks = matmul_flops * (2 + repeated_products_ratio + weight_gradient_ratio)
    return (
        blocks
        + head_flops * (2 + weight_gradient_ratio)
        + attention_flops * attention_passes
        + tower_training_flops
    )


def training_streamed_bytes_per_second(gpu_bandwidth_bytes_per_second, streaming_ratio):
    """Memory bandwidth that training reaches. [B/s]"""
    return gpu_bandwidth_bytes_per_second * streaming_ratio


def training_passes(extra_forward_ratio):
    """Passes that stream weights through memory: forward, backward, recompute. [passes]"""
    return 2 + extra_forward_ratio


def expert_moved_bytes_each(
    training_passes,
    compute_bytes_each,
    weight_gradient_ratio,
    gradient_bytes_each,
    merging_bytes_each,
):
    """Bytes moved for one expert weight, read and merged in every pass, and its gradient. [B]

    Source: Megatron-Core, tensor_parallel/layers.py, weight gradients accumulated inside the
    product.
    """
    return (
        training_passes * (np.maximum(compute_bytes_each, 1) + merging_bytes_each)
        + 2 * weight_gradient_ratio * gradient_bytes_each
    )


def expert_traffic_bytes(
    expert_moved_bytes_each, expert_parameters, context_parallel, expert_parallel
):
    """Weights and gradients of experts that a micro-batch moves, however few its tokens. [B]

    Of dense matrices many tokens share that. Counted for one replica: the ranks of expert parallel
    bring their tokens to the same experts.
    """
    return expert_moved_bytes_each * expert_parameters * context_parallel / expert_parallel


def streamed_weights_seconds(
    linear_parameters,
    expert_parameters,
    compute_bytes_each,
    training_passes,
    context_parallel,
    training_streamed_bytes_per_second,
):
    """Reading the blocks' dense weights in every pass of a micro-batch, on one GPU alone. [s]"""
    weights_bytes = np.maximum(compute_bytes_each, 1) * (linear_parameters - expert_parameters)
    return weights_bytes * training_passes * context_parallel / training_streamed_bytes_per_second


def stack_expert_pass_flops(
    batch_sequences,
    stack_pass_tokens,
    stack_block_expert_parameters,
    stack_experts,
    stack_experts_per_token,
    expert_parallel,
    model_split,
    pipeline_parallel,
    context_parallel,
):
    """One pass of one expert on its GPU, with the tokens that all ranks send it. [FLOP]

    2 · tokens · k / E · ranks · weights of an expert, routed evenly. Shape (stacks, rows). Source:
    Lepikhin et al. 2020, arXiv 2006.16668.
    """
    experts = np.maximum(stack_experts, 1)
    tokens = (
        batch_sequences * stack_pass_tokens * stack_experts_per_token / experts * expert_parallel
    )
    divided = model_split / pipeline_parallel * context_parallel
    return 2 * tokens * stack_block_expert_parameters / experts / divided


def short_experts_seconds(
    stack_layers,
    stack_experts,
    stack_expert_pass_flops,
    expert_parallel,
    replica_gpus,
    pipeline_parallel,
    products_flops_per_second,
    expert_matmul_ratio,
    product_bytes_each,
    engine_expert_pass_seconds,
):
    """Time by which one pass of all experts exceeds its arithmetic, on one GPU alone. [s]

    Software that multiplies expert by expert casts each one's tokens to 8 bits and launches its
    products apart, which takes a time of its own however few the tokens are. Source: Transformer
    Engine, pytorch/module/grouped_linear.py; catalogs/calibrated/engines.yaml,
    expert_pass_seconds.
    """
    floor_seconds = np.where(product_bytes_each < 2, engine_expert_pass_seconds, 0)
    counted_seconds = stack_expert_pass_flops / (products_flops_per_second * expert_matmul_ratio)
    short_seconds = np.maximum(floor_seconds - counted_seconds, 0)
    rank_experts = np.maximum(stack_experts / expert_parallel, np.minimum(stack_experts, 1))
    on_gpu = np.sum(stack_layers * rank_experts * short_seconds, axis=0) / pipeline_parallel
    return on_gpu * replica_gpus


def training_products_seconds(
    dense_equivalent_flops,
    repeated_products_ratio,
    weight_gradient_ratio,
    products_flops_per_second,
    streamed_weights_seconds,
    short_experts_seconds,
):
    """Products of the blocks in a micro-batch, or reading their weights if longer. [s]

    The two bounds of the roofline, on one GPU that would do everything, and what short passes
    through experts take beside them. Source: Williams et al. 2009, CACM 52(4), 65-76.
    """
    passes = 2 + repeated_products_ratio + weight_gradient_ratio
    products = dense_equivalent_flops * passes / products_flops_per_second
    return np.maximum(products, streamed_weights_seconds) + short_experts_seconds * passes


def head_stage_ratio(pipeline_parallel, stage_chunks, engine_interleaves_stages, stack_layers):
    """Time of the head on the last stage over its time divided by all stages. [ratio]

    A pipeline is as slow as its slowest stage, which has the head and the loss beside its share of
    the blocks. Megatron refuses blocks that the stages do not divide evenly, unless the head counts
    as one of them: so it counts as one only there. Other software counts it so where it interleaves
    stages. Source: Megatron-Core, transformer_config.py, account_for_loss_in_pipeline_split, False
    by default; torchtitan, distributed/pipeline_parallel.py, generate_llm_fqn_per_model_part.
    """
    divides_evenly = np.sum(stack_layers, axis=0) % pipeline_parallel == 0
    counts_loss = np.where(engine_interleaves_stages > 0, ~divides_evenly, stage_chunks > 1)
    return np.where(counts_loss, 1, pipeline_parallel)


def training_head_seconds(
    head_flops,
    weight_gradient_ratio,
    head_flops_per_second,
    logit_bytes,
    logit_passes,
    training_streamed_bytes_per_second,
    tensor_parallel,
    vocabulary_split,
    head_stage_ratio,
):
    """The head's product and the loss over its logits in one micro-batch, on one GPU alone. [s]

    Software that gathers the logits takes the loss on every GPU of a tensor-parallel group.
    """
    product = head_flops * (2 + weight_gradient_ratio) / head_flops_per_second
    moved_bytes = logit_bytes * logit_passes * tensor_parallel / vocabulary_split
    return (product + moved_bytes / training_streamed_bytes_per_second) * head_stage_ratio


def training_tower_seconds(tower_training_flops, head_flops_per_second):
    """A vision tower in one micro-batch, at the rate of the head, on one GPU alone. [s]"""
    return tower_training_flops / head_flops_per_second


def training_attention_seconds(attention_flops, attention_passes, attention_flops_per_second):
    """Attention in one micro-batch, on one GPU alone. [s]"""
    return attention_flops * attention_passes / attention_flops_per_second


def training_traffic_bytes(
    element_traffic_bytes, training_passes, dequantize_bytes, cast_bytes, expert_traffic_bytes
):
    """Memory traffic of the blocks beside products: elements, casts, experts. [B]"""
    return (
        element_traffic_bytes * (1 + training_passes)
        + dequantize_bytes * training_passes
        + cast_bytes
        + expert_traffic_bytes
    )


def repeated_element_bytes(whole_element_bytes, training_passes, tensor_parallel, sequence_split):
    """Traffic of hidden states that tensor parallelism repeats on its other GPUs. [B]

    Sequence parallelism divides it. Source: Korthikanti et al. 2022, arXiv 2205.05198, section
    4.2.2.
    """
    return whole_element_bytes * (1 + training_passes) * (tensor_parallel / sequence_split - 1)


def training_traffic_seconds(
    training_traffic_bytes, repeated_element_bytes, training_streamed_bytes_per_second
):
    """Time of the memory traffic beside products, on one GPU alone. [s]"""
    moved_bytes = training_traffic_bytes + repeated_element_bytes
    return moved_bytes / training_streamed_bytes_per_second


def training_device_seconds(
    training_products_seconds,
    training_head_seconds,
    training_tower_seconds,
    training_attention_seconds,
    training_traffic_seconds,
    replica_gpus,
):
    """One micro-batch on one GPU: products, head, attention and memory traffic in turn. [s]"""
    outside = training_head_seconds + training_tower_seconds
    return (
        training_products_seconds + outside + training_attention_seconds + training_traffic_seconds
    ) / replica_gpus


def training_compute_seconds(
    training_device_seconds,
    host_seconds,
    training_flops,
    peak_flops_per_second,
    replica_gpus,
    utilization,
):
    """One micro-batch without communication, at the set utilization or the catalog's. [s]"""
    stated = training_flops / (replica_gpus * peak_flops_per_second * utilization)
    return np.where(
        np.isnan(utilization), np.maximum(training_device_seconds, host_seconds), stated
    )


def activation_offload_seconds(
    offloads_activations,
    element_bytes,
    keeps_input,
    kept_input_ratio,
    replica_gpus,
    pcie_bytes_per_second,
):
    """Moving saved activations to the CPU and back. [s]

    All outputs of a forward pass, or the blocks' inputs under recompute.
    """
    return (
        offloads_activations
        * 2
        * element_bytes
        * np.where(keeps_input > 0, kept_input_ratio, 1)
        / replica_gpus
        / pcie_bytes_per_second
    )


def hideable_seconds(
    gather_seconds,
    reduce_seconds,
    activation_offload_seconds,
    shards_weights,
    shards_gradients,
    context_parallel_seconds,
):
    """Communication of a micro-batch that prefetching can partly hide. [s]

    Sharded weights are gathered in forward and backward, gradients scattered, keys and values
    passed around, activations offloaded.
    """
    sharding = shards_weights * 2 * gather_seconds + shards_gradients * reduce_seconds
    return sharding + context_parallel_seconds + activation_offload_seconds


def micro_batch_seconds(
    training_compute_seconds,
    hideable_seconds,
    tensor_parallel_seconds,
    expert_parallel_seconds,
    routed_host_seconds,
    overlap_ratio,
):
    """One micro-batch through forward and backward, waiting for collectives inside a block. [s]

    At least what the CPU takes to launch its experts, during which the GPU's work is hidden.
    """
    exposed = exposed_seconds(hideable_seconds, training_compute_seconds, overlap_ratio)
    on_gpu = training_compute_seconds + exposed + tensor_parallel_seconds + expert_parallel_seconds
    return np.maximum(on_gpu, routed_host_seconds)


def pipeline_bubble_ratio(pipeline_parallel, accumulation_steps, stage_chunks):
    """Idle share of filling and draining the pipeline: (p − 1) / (v · m). [share]

    p stages, m micro-batches, v chunks per GPU.
    Source: Narayanan et al. 2021, arXiv 2104.04473, section 2.2.
    Valid: equal stages.
    """
    return (pipeline_parallel - 1) / (accumulation_steps * stage_chunks)


def optimizer_traffic_bytes_each(optimizer_step_bytes_each, step_bytes_each):
    """Bytes read and written per trained parameter in one step. [B]"""
    return np.where(optimizer_step_bytes_each > 0, optimizer_step_bytes_each, step_bytes_each)


def stepped_parameters(trained_parameters, model_split, shard_gpus, shards_optimizer):
    """Trained weights that one GPU, or its CPU, updates. [parameters]"""
    return trained_parameters / model_split / np.where(shards_optimizer > 0, shard_gpus, 1)


def offloaded_step_seconds_each(
    optimizer_traffic_bytes_each, host_bandwidth_bytes_per_second, pcie_bytes_per_second
):
    """The step of one offloaded parameter: gradient out, weight back, 16 bits each. [s]

    Source: ZeRO-Offload, Ren et al. 2021, arXiv 2101.06840.
    """
    return (
        optimizer_traffic_bytes_each / host_bandwidth_bytes_per_second + 4 / pcie_bytes_per_second
    )


def optimizer_seconds(
    stepped_parameters,
    offloads_optimizer,
    optimizer_traffic_bytes_each,
    training_streamed_bytes_per_second,
    offloaded_step_seconds_each,
):
    """The optimizer's step: weights, gradients and moments read and written once. [s]"""
    on_gpu = stepped_parameters * optimizer_traffic_bytes_each / training_streamed_bytes_per_second
    return np.where(
        offloads_optimizer > 0, stepped_parameters * offloaded_step_seconds_each, on_gpu
    )
