"""How fast GPUs exchange data, by where the members of a group sit, and how much each kind of parallelism sends.

Groups are placed as Megatron places them: tensor parallel on neighbouring GPUs, then context or expert, data, pipeline.
"""

import numpy as np


def island_gpus(instance_gpus, instance_nvlink_domain_gpus, card_node_gpus):
    """GPUs that reach one another without the network: those of an instance, or of a wider NVLink domain. [GPUs]"""
    own = np.where(np.isnan(instance_gpus), card_node_gpus, instance_gpus)
    return np.fmax(own, instance_nvlink_domain_gpus)


def link_bytes_per_second(gpu_nvlink_bytes_per_second, instance_nvlink_domain_gpus, nvlink_reach_ratio, pcie_bytes_per_second):
    """One direction between two GPUs of an island: half of NVLink's rate, which counts both, or PCIe. [B/s]"""
    has_nvlink = (np.nan_to_num(gpu_nvlink_bytes_per_second) > 0) & ~(instance_nvlink_domain_gpus <= 1)
    return np.where(has_nvlink, gpu_nvlink_bytes_per_second / 2 * nvlink_reach_ratio, pcie_bytes_per_second)


def network_share_bytes_per_second(
    instance_network_bytes_per_second, instance_gpus, card_node_network_bytes_per_second, card_node_gpus, network_reach_ratio
):
    """What one GPU has of its instance's network, or of a usual node's where no instance is named. [B/s]"""
    own = instance_network_bytes_per_second / instance_gpus
    return network_reach_ratio * np.where(np.isnan(own), card_node_network_bytes_per_second / card_node_gpus, own)


def group_bytes_per_second(size, stride, island_gpus, link_bytes_per_second, network_share_bytes_per_second):
    """Rate at which a ring over `size` GPUs, `stride` apart, passes data on. [B/s]

    A ring that leaves the island crosses the network once per island, over the shares of all its members there.
    """
    members = np.clip(island_gpus / stride, 1, size)
    network = np.minimum(network_share_bytes_per_second * members, link_bytes_per_second)
    return np.where(size * stride <= island_gpus, link_bytes_per_second, np.where(members > 1, network, network_share_bytes_per_second))


def expert_parameters(stack_layers, stack_block_expert_parameters):
    """Routed experts of the whole model: layers · parameters of a block's experts, summed over stacks. [parameters]"""
    return np.sum(stack_layers * stack_block_expert_parameters, axis=0)


def reduced_bytes_each(shards_gradients, reduce_bytes_each, gradient_bytes_each):
    """Width in which a gradient travels: reduce_precision where gradients are sharded, else their own. [B]"""
    return np.where(shards_gradients > 0, reduce_bytes_each, gradient_bytes_each)


def gather_seconds(
    parameters,
    expert_parameters,
    gathered_bytes_each,
    shard_gpus,
    tensor_parallel,
    pipeline_parallel,
    expert_parallel,
    island_gpus,
    link_bytes_per_second,
    network_share_bytes_per_second,
):
    """One all-gather of all weights that a GPU computes with; a reduce-scatter of as many bytes takes as long. [s]

    (g − 1) / g · bytes / rate of the ring (Rajbhandari et al. 2019, arXiv 1910.02054, section 7). Bandwidth alone: no
    start-up time of a collective, which small blocks over many GPUs would feel.
    """
    links = (island_gpus, link_bytes_per_second, network_share_bytes_per_second)
    dense = (parameters - expert_parameters) / (tensor_parallel * pipeline_parallel)
    dense_seconds = dense * (1 - 1 / shard_gpus) / group_bytes_per_second(shard_gpus, tensor_parallel, *links)
    expert_size = np.maximum(shard_gpus / expert_parallel, 1)
    expert = expert_parameters / (tensor_parallel * pipeline_parallel * expert_parallel)
    expert_seconds = expert * (1 - 1 / expert_size) / group_bytes_per_second(expert_size, tensor_parallel * expert_parallel, *links)
    return gathered_bytes_each * (dense_seconds + expert_seconds)


def replicate_seconds(
    parameters,
    gathered_bytes_each,
    shard_gpus,
    shard_replicas,
    tensor_parallel,
    pipeline_parallel,
    island_gpus,
    link_bytes_per_second,
    network_share_bytes_per_second,
):
    """One all-reduce of a GPU's shard between the replicas of hybrid sharding, in the width of a gathered weight. [s]

    2 (r − 1) / r · bytes / rate of the ring (Zhao et al. 2023, arXiv 2304.11277, section 3.2.2). The replicas stand as far
    apart as a group is wide.
    """
    shard_bytes = gathered_bytes_each * parameters / (tensor_parallel * pipeline_parallel * shard_gpus)
    links = (island_gpus, link_bytes_per_second, network_share_bytes_per_second)
    rate = group_bytes_per_second(shard_replicas, tensor_parallel * shard_gpus, *links)
    return 2 * (1 - 1 / shard_replicas) * shard_bytes / rate


def reduce_seconds(gather_seconds, replicate_seconds, gathered_bytes_each, reduced_bytes_each, weight_gradient_ratio):
    """One reduce-scatter of the gradients of the trained weights, and the all-reduce of the shards between replicas. [s]

    Rajbhandari et al. 2019, arXiv 1910.02054, section 7.
    """
    return (gather_seconds + replicate_seconds) * reduced_bytes_each / gathered_bytes_each * weight_gradient_ratio


def tensor_parallel_seconds(
    batch,
    stack_layers,
    stack_pass_tokens,
    stack_hidden,
    passes_ratio,
    tensor_parallel,
    pipeline_parallel,
    context_parallel,
    island_gpus,
    link_bytes_per_second,
    network_share_bytes_per_second,
):
    """All-reduces of tensor parallelism in one micro-batch: two of a block's output per pass, in 16 bits. [s]

    Shoeybi et al. 2019 (arXiv 1909.08053), section 3; sequence parallelism sends as much in two halves.
    """
    output_bytes = 2 * batch * np.sum(stack_layers * stack_pass_tokens * stack_hidden, axis=0) / (pipeline_parallel * context_parallel)
    rate = group_bytes_per_second(tensor_parallel, 1, island_gpus, link_bytes_per_second, network_share_bytes_per_second)
    return passes_ratio * 2 * output_bytes * 2 * (1 - 1 / tensor_parallel) / rate


def expert_parallel_seconds(
    batch,
    stack_layers,
    stack_pass_tokens,
    stack_hidden,
    stack_experts_per_token,
    passes_ratio,
    expert_parallel,
    pipeline_parallel,
    context_parallel,
    tensor_parallel,
    island_gpus,
    link_bytes_per_second,
    network_share_bytes_per_second,
    engine_sends_once_per_island,
):
    """All-to-alls of expert parallelism in one micro-batch: a token's copies go to experts and back, in 16 bits. [s]

    Lepikhin et al. 2020 (arXiv 2006.16668). A copy that leaves the island crosses its own GPU's share of the network; software
    may send a token to each other island once, however many of its k experts are there, and pass it on inside (DeepEP's
    normal kernels, github.com/deepseek-ai/DeepEP): of n islands (n − 1) (1 − (1 − 1/n)^k) instead of k (1 − 1/n).
    """
    islands = np.maximum(expert_parallel * tensor_parallel / island_gpus, 1)
    inside_ratio = 1 / islands - 1 / expert_parallel
    copies = stack_experts_per_token * (1 - 1 / islands)
    once = (islands - 1) * (1 - (1 - 1 / islands) ** stack_experts_per_token)
    left = np.where(engine_sends_once_per_island > 0, np.minimum(once, copies), copies)
    each = stack_experts_per_token * inside_ratio / link_bytes_per_second + left / network_share_bytes_per_second
    sent_seconds = np.sum(stack_layers * stack_pass_tokens * stack_hidden * each, axis=0)
    split = pipeline_parallel * context_parallel * tensor_parallel
    return np.where(expert_parallel > 1, passes_ratio * 2 * 2 * batch * sent_seconds / split, 0)


def context_parallel_seconds(
    batch,
    stack_layers,
    stack_pass_tokens,
    stack_key_width,
    passes_ratio,
    context_parallel,
    tensor_parallel,
    pipeline_parallel,
    island_gpus,
    link_bytes_per_second,
    network_share_bytes_per_second,
):
    """Keys and values that go round the ring of context parallelism in one micro-batch, in 16 bits. [s]

    Liu et al. 2023 (arXiv 2310.01889): each GPU passes on the others' keys and values once per pass.
    """
    cached_bytes = (
        2 * 2 * batch * np.sum(stack_layers * stack_pass_tokens * stack_key_width, axis=0) / (pipeline_parallel * tensor_parallel)
    )
    rate = group_bytes_per_second(context_parallel, tensor_parallel, island_gpus, link_bytes_per_second, network_share_bytes_per_second)
    return passes_ratio * cached_bytes * (1 - 1 / context_parallel) / rate


LINKS = (
    island_gpus,
    link_bytes_per_second,
    network_share_bytes_per_second,
    expert_parameters,
    reduced_bytes_each,
    gather_seconds,
    replicate_seconds,
    reduce_seconds,
    tensor_parallel_seconds,
    expert_parallel_seconds,
    context_parallel_seconds,
)
