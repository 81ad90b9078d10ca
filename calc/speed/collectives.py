"""Rates of exchange between GPUs, and the time that each kind of parallelism waits.

Groups are placed as Megatron places them: tensor parallel on neighboring GPUs, then context or
expert, data, pipeline. Only bandwidth is counted. The start-up time of a collective, which small
blocks on many GPUs would feel, is left out. Source: Narayanan et al. 2021, arXiv 2104.04473,
section 3, for the placement; a ring is as fast as its slowest link.
"""

import numpy as np


def island_gpus(instance_gpus, instance_nvlink_domain_gpus, card_node_gpus):
    """GPUs that exchange data without the network: an instance or an NVLink domain. [GPUs]

    Source: catalogs/edited/instances.yaml.
    """
    return np.fmax(
        np.where(np.isnan(instance_gpus), card_node_gpus, instance_gpus),
        instance_nvlink_domain_gpus,
    )


def link_bytes_per_second(
    gpu_nvlink_bytes_per_second,
    instance_nvlink_domain_gpus,
    nvlink_reach_ratio,
    pcie_bytes_per_second,
):
    """One direction between two GPUs of an island: half of NVLink's rate, or PCIe. [B/s]

    Source: catalogs/edited/gpus.yaml; nvlink_reach_ratio and pcie_reach_ratio of
    catalogs/edited/assumptions.yaml.
    """
    has_nvlink = (np.nan_to_num(gpu_nvlink_bytes_per_second) > 0) & ~(
        instance_nvlink_domain_gpus <= 1
    )
    return np.where(
        has_nvlink, gpu_nvlink_bytes_per_second / 2 * nvlink_reach_ratio, pcie_bytes_per_second
    )


def network_share_bytes_per_second(
    instance_network_bytes_per_second,
    instance_gpus,
    card_node_network_bytes_per_second,
    card_node_gpus,
    network_reach_ratio,
):
    """One GPU's share of its instance's network, or of a usual node's. [B/s]

    Source: catalogs/edited/instances.yaml; usual nodes: catalogs/calibrated/utilization.yaml.
    """
    share = instance_network_bytes_per_second / instance_gpus
    return network_reach_ratio * np.where(
        np.isnan(share), card_node_network_bytes_per_second / card_node_gpus, share
    )


def _ring_bytes_per_second(
    size, stride, island_gpus, link_bytes_per_second, network_share_bytes_per_second
):
    """Rate at which a ring over `size` GPUs, `stride` apart, passes data on. [B/s]

    A ring that leaves the island crosses the network once per island, over the shares of all its
    members there.
    """
    members = np.clip(island_gpus / stride, 1, size)
    network = np.minimum(network_share_bytes_per_second * members, link_bytes_per_second)
    return np.where(
        size * stride <= island_gpus,
        link_bytes_per_second,
        np.where(members > 1, network, network_share_bytes_per_second),
    )


def tensor_ring_bytes_per_second(
    tensor_parallel, island_gpus, link_bytes_per_second, network_share_bytes_per_second
):
    """Rate of the ring of a tensor-parallel group. [B/s]"""
    return _ring_bytes_per_second(
        tensor_parallel, 1, island_gpus, link_bytes_per_second, network_share_bytes_per_second
    )


def context_ring_bytes_per_second(
    context_parallel,
    tensor_parallel,
    island_gpus,
    link_bytes_per_second,
    network_share_bytes_per_second,
):
    """Rate of the ring of a context-parallel group. [B/s]"""
    return _ring_bytes_per_second(
        context_parallel,
        tensor_parallel,
        island_gpus,
        link_bytes_per_second,
        network_share_bytes_per_second,
    )


def shard_ring_bytes_per_second(
    shard_gpus, tensor_parallel, island_gpus, link_bytes_per_second, network_share_bytes_per_second
):
    """Rate of the ring over the GPUs that divide the weights beside their experts. [B/s]"""
    return _ring_bytes_per_second(
        shard_gpus,
        tensor_parallel,
        island_gpus,
        link_bytes_per_second,
        network_share_bytes_per_second,
    )


def expert_shard_gpus(shard_gpus, expert_parallel):
    """GPUs that divide one rank's experts. [GPUs]"""
    return np.maximum(shard_gpus / expert_parallel, 1)


def expert_shard_ring_bytes_per_second(
    expert_shard_gpus,
    tensor_parallel,
    expert_parallel,
    island_gpus,
    link_bytes_per_second,
    network_share_bytes_per_second,
):
    """Rate of the ring over the GPUs that divide one rank's experts. [B/s]"""
    stride = tensor_parallel * expert_parallel
    return _ring_bytes_per_second(
        expert_shard_gpus,
        stride,
        island_gpus,
        link_bytes_per_second,
        network_share_bytes_per_second,
    )


def replica_ring_bytes_per_second(
    shard_replicas,
    tensor_parallel,
    shard_gpus,
    island_gpus,
    link_bytes_per_second,
    network_share_bytes_per_second,
):
    """Rate of the ring over the replicas of hybrid sharding, one group's width apart. [B/s]"""
    stride = tensor_parallel * shard_gpus
    return _ring_bytes_per_second(
        shard_replicas, stride, island_gpus, link_bytes_per_second, network_share_bytes_per_second
    )


def expert_gpus(tensor_parallel, expert_parallel):
    """GPUs over which one copy of the experts is spread in serving. [GPUs]

    Inside the tensor-parallel group, or, where expert parallel is wider, over the replicas of
    attention beside it. Source: vLLM, vllm/model_executor/layers/fused_moe/config.py: expert
    parallel = tensor x data parallel.
    """
    return np.maximum(tensor_parallel, expert_parallel)


def expert_ring_bytes_per_second(
    expert_gpus, island_gpus, link_bytes_per_second, network_share_bytes_per_second
):
    """Rate of the ring over the GPUs that share one copy of the experts in serving. [B/s]"""
    return _ring_bytes_per_second(
        expert_gpus, 1, island_gpus, link_bytes_per_second, network_share_bytes_per_second
    )


def reduced_bytes_each(shards_gradients, reduce_bytes_each, gradient_bytes_each):
    """Width of a gradient in a reduction: reduce_precision if gradients are sharded. [B]

    Source: torch/distributed/fsdp/_fully_shard, MixedPrecisionPolicy.reduce_dtype.
    """
    return np.where(shards_gradients > 0, reduce_bytes_each, gradient_bytes_each)


def dense_gather_seconds(
    parameters,
    expert_parameters,
    gathered_bytes_each,
    shard_gpus,
    model_split,
    shard_ring_bytes_per_second,
):
    """One all-gather of a GPU's weights beside experts: (g − 1) / g · bytes / rate. [s]

    Source: Rajbhandari et al. 2019, arXiv 1910.02054, section 7.
    """
    dense = (parameters - expert_parameters) / model_split
    return gathered_bytes_each * (dense * (1 - 1 / shard_gpus) / shard_ring_bytes_per_second)


def expert_gather_seconds(
    expert_parameters,
    gathered_bytes_each,
    expert_shard_gpus,
    model_split,
    expert_parallel,
    expert_shard_ring_bytes_per_second,
):
    """One all-gather of the experts that a GPU computes with: (g − 1) / g · bytes / rate. [s]

    Source: Rajbhandari et al. 2019, arXiv 1910.02054, section 7.
    """
    experts = expert_parameters / (model_split * expert_parallel)
    return gathered_bytes_each * (
        experts * (1 - 1 / expert_shard_gpus) / expert_shard_ring_bytes_per_second
    )


def gather_seconds(dense_gather_seconds, expert_gather_seconds):
    """All-gather of one GPU's weights; their reduce-scatter takes as long. [s]

    Source: Rajbhandari et al. 2019, arXiv 1910.02054, section 7.
    """
    return dense_gather_seconds + expert_gather_seconds


def replicate_seconds(
    parameters,
    gathered_bytes_each,
    shard_gpus,
    shard_replicas,
    model_split,
    replica_ring_bytes_per_second,
):
    """One all-reduce of a shard between hybrid replicas: 2 (r − 1) / r · bytes / rate. [s]

    In the width of a gathered weight.
    Source: Zhao et al. 2023, arXiv 2304.11277, section 3.2.2.
    """
    shard_bytes = gathered_bytes_each * parameters / (model_split * shard_gpus)
    return 2 * (1 - 1 / shard_replicas) * shard_bytes / replica_ring_bytes_per_second


def reduce_seconds(
    gather_seconds,
    replicate_seconds,
    gathered_bytes_each,
    reduced_bytes_each,
    weight_gradient_ratio,
):
    """One reduce-scatter of the gradients, and the all-reduce of shards between replicas. [s]

    Source: Rajbhandari et al. 2019, arXiv 1910.02054, section 7.
    """
    return (
        (gather_seconds + replicate_seconds)
        * reduced_bytes_each
        / gathered_bytes_each
        * weight_gradient_ratio
    )


def passing_sequences(batch_sequences, passes_ratio, pipeline_parallel, context_parallel):
    """Sequences that pass one GPU in a micro-batch, each pass counted. [sequences]"""
    return passes_ratio * batch_sequences / (pipeline_parallel * context_parallel)


def tensor_parallel_seconds(
    passing_sequences,
    stack_layers,
    stack_pass_tokens,
    stack_hidden,
    tensor_parallel,
    tensor_ring_bytes_per_second,
):
    """All-reduces of tensor parallelism in a micro-batch: two a block and pass, in 16 bits. [s]

    Source: Shoeybi et al. 2019, arXiv 1909.08053, section 3; sequence parallelism sends as much in
    two halves, and gathers the inputs again in the backward pass beside the gradient's product:
    Megatron-Core, tensor_parallel/layers.py,
    LinearWithGradAccumulationAndAsyncCommunication.backward.
    """
    output_bytes = (
        2 * passing_sequences * np.sum(stack_layers * stack_pass_tokens * stack_hidden, axis=0)
    )
    return 2 * output_bytes * 2 * (1 - 1 / tensor_parallel) / tensor_ring_bytes_per_second


def expert_islands(expert_parallel, island_gpus):
    """Islands over which one copy of the experts is spread. [islands]

    Experts lie whole on neighboring GPUs, the ranks of tensor parallel among them. Source: Liu et
    al. 2025, MoE Parallel Folding, arXiv 2504.14960; Megatron-Core, parallel_state.py,
    expert_tensor_parallel_size 1.
    """
    return np.maximum(expert_parallel / island_gpus, 1)


def crosses_efa(instance_efa_interfaces):
    """1 if what leaves an island crosses EFA, AWS's own network. [0 or 1]

    Source: catalogs/edited/instances.yaml, efa_interfaces.
    """
    return np.nan_to_num(instance_efa_interfaces) > 0


def stack_leaving_copies(
    stack_experts_per_token, expert_islands, engine_sends_once_per_island, crosses_efa
):
    """Copies of a token that leave its island for their experts. Shape (stacks, rows). [copies]

    Of n islands k (1 − 1/n); software that sends a token to each other island once, however many of
    its k experts are there, and passes it on inside: (n − 1) (1 − (1 − 1/n)^k). Its kernels do not
    run over EFA, where NCCL sends every copy. Source: DeepEP's normal kernels,
    github.com/deepseek-ai/DeepEP; awslabs/awsome-distributed-ai, megatron-bridge/dsv3/benchmarks.
    """
    copies = stack_experts_per_token * (1 - 1 / expert_islands)
    once = (expert_islands - 1) * (1 - (1 - 1 / expert_islands) ** stack_experts_per_token)
    sends_once = (engine_sends_once_per_island > 0) & ~crosses_efa
    return np.where(sends_once, np.minimum(once, copies), copies)


def stack_routing_seconds_per_byte(
    stack_experts_per_token,
    stack_leaving_copies,
    expert_islands,
    expert_parallel,
    link_bytes_per_second,
    network_share_bytes_per_second,
    crosses_efa,
    efa_all_to_all_ratio,
):
    """Time to send a byte of a token to all its experts. Shape (stacks, rows). [s/B]

    A copy that leaves the island crosses its own GPU's share of the network. Source: Lepikhin et
    al. 2020, arXiv 2006.16668.
    """
    inside = stack_experts_per_token * (1 / expert_islands - 1 / expert_parallel)
    share = network_share_bytes_per_second * np.where(crosses_efa, efa_all_to_all_ratio, 1)
    return inside / link_bytes_per_second + stack_leaving_copies / share


def expert_parallel_seconds(
    passing_sequences,
    stack_layers,
    stack_pass_tokens,
    stack_expert_hidden,
    stack_routing_seconds_per_byte,
    expert_parallel,
    tensor_parallel,
):
    """All-to-alls of experts in a micro-batch: a token's copies there and back, in 16 bits. [s]

    A token travels in the width of the experts' inputs, which some models make narrower (Nemotron
    3's moe_latent_size). Source: Lepikhin et al. 2020, arXiv 2006.16668.
    """
    sent_seconds = np.sum(
        stack_layers * stack_pass_tokens * stack_expert_hidden * stack_routing_seconds_per_byte,
        axis=0,
    )
    return np.where(
        expert_parallel > 1, 2 * 2 * passing_sequences * sent_seconds / tensor_parallel, 0
    )


def context_parallel_seconds(
    batch_sequences,
    stack_layers,
    stack_pass_tokens,
    stack_key_width,
    passes_ratio,
    context_parallel,
    model_split,
    context_ring_bytes_per_second,
):
    """Keys and values around the ring of context parallel in one micro-batch, in 16 bits. [s]

    Each GPU passes on the others' keys and values once per pass.
    Source: Liu et al. 2023, arXiv 2310.01889.
    """
    cached = np.sum(stack_layers * stack_pass_tokens * stack_key_width, axis=0)
    cached_bytes = 2 * 2 * batch_sequences * cached / model_split
    return passes_ratio * cached_bytes * (1 - 1 / context_parallel) / context_ring_bytes_per_second


def routed_host_seconds(
    expert_blocks,
    host_passes,
    engine_host_seconds_per_routed_block,
    is_tuned,
    pipeline_parallel,
):
    """CPU time that launches the blocks with experts of one micro-batch on a stage. [s]

    Each waits for the counts of tokens that its exchange sends, so that the CPU cannot run ahead.
    Tuned recipes replay routing as CUDA graphs. Source: Megatron-Core, transformer/moe/
    token_dispatcher.py, MoEAlltoAllTokenDispatcher; catalogs/calibrated/engines.yaml.
    """
    passes = host_passes / pipeline_parallel
    return (1 - is_tuned) * expert_blocks * passes * engine_host_seconds_per_routed_block
