"""What sharding and reduction hold beside the shards: gathered weights, buckets, unreduced gradients. Bytes on one GPU.

Terms of FSDP, DDP and DeepSpeed: validation/README.md, section "Sharding".
"""

import numpy as np


def last_block_bytes(stack_block_parameters_here, gathered_bytes_each, fsdp_active):
    """The widest gathered block, which FSDP holds beside the shards. [B]

    Zhao et al. 2023, arXiv 2304.11277; torch/distributed/fsdp/_fully_shard. Where each block is a group of its own.
    """
    return fsdp_active * gathered_bytes_each * np.max(stack_block_parameters_here, axis=0)


def kept_for_reuse(shards_weights, implementation_fsdp, shard_gpus, trains):
    """1 under a ZeRO 3 that is not FSDP: DeepSpeed's and Megatron's. [0 or 1]"""
    return shards_weights * (1 - implementation_fsdp) * (shard_gpus > 1) * trains


def stack_fetched_ahead(implementation_live_elements, stack_block_largest_matrix, tensor_parallel, stack_block_parameters_here):
    """Elements gathered before they are needed: one matrix under DeepSpeed, a block under Megatron. Shape (stacks, rows). [elements]

    deepspeed/runtime/zero/partitioned_param_coordinator.py, fetch_sub_module: whole parameters until the prefetch bucket
    (50 million elements; Trainer's "auto" 0.9 hidden^2) is full; megatron/core/distributed/fsdp.
    """
    return np.where(implementation_live_elements > 0, stack_block_largest_matrix / tensor_parallel, stack_block_parameters_here)


def live_weights_bytes(
    kept_for_reuse,
    implementation_live_elements,
    gathered_bytes_each,
    head_elements_here,
    holds_head,
    stack_fetched_ahead,
    blocks_parameters_here,
    outside_parameters_here,
):
    """DeepSpeed's ZeRO 3 at the head: what is used again within max_reuse_distance, which is half of it, or the head alone. [B]

    deepspeed/runtime/zero/partitioned_param_coordinator.py, __params_to_release.
    """
    live = np.maximum(implementation_live_elements, head_elements_here * holds_head) + np.max(stack_fetched_ahead, axis=0)
    return kept_for_reuse * gathered_bytes_each * np.minimum(live, blocks_parameters_here + outside_parameters_here)


def root_and_block_bytes(gathered_bytes_each, outside_parameters_here, reshards_weights, last_block_bytes):
    """Whole weights of FSDP's root group, and of one block where they are sharded again. [B]

    Zhao et al. 2023, arXiv 2304.11277; torch/distributed/fsdp/_fully_shard.
    """
    return gathered_bytes_each * outside_parameters_here + reshards_weights * last_block_bytes


def gathered_forward_bytes(
    live_weights_bytes,
    root_and_block_bytes,
    fsdp_active,
    reshards_weights,
    implementation_head_apart,
    gathered_bytes_each,
    head_elements_here,
    blocks_parameters_here,
):
    """Whole weights at the head in the forward pass. [B]

    FSDP: the root group and one block (torchtitan: the head twice); ZeRO 2, which does not reshard after the forward
    pass, keeps all (Zhao et al. 2023, arXiv 2304.11277; torch/distributed/fsdp/_fully_shard).
    """
    apart = 2 * gathered_bytes_each * head_elements_here
    kept = (1 - reshards_weights) * gathered_bytes_each * (blocks_parameters_here + implementation_head_apart * head_elements_here)
    return fsdp_active * (np.where(implementation_head_apart > 0, apart, root_and_block_bytes) + kept) + live_weights_bytes


def gathered_backward_bytes(
    live_weights_bytes,
    root_and_block_bytes,
    fsdp_active,
    reshards_weights,
    implementation_head_apart,
    gathered_bytes_each,
    head_elements_here,
    blocks_parameters_here,
):
    """Whole weights when the backward pass begins: the root group and the block fetched ahead. [B]

    Zhao et al. 2023, arXiv 2304.11277 (backward prefetching); torch/distributed/fsdp/_fully_shard.
    """
    apart = gathered_bytes_each * head_elements_here
    kept = (1 - reshards_weights) * gathered_bytes_each * blocks_parameters_here
    return fsdp_active * (np.where(implementation_head_apart > 0, apart, root_and_block_bytes) + kept) + live_weights_bytes


def bucket_bytes(
    full_gradients_bytes, trained_parameters_here, data_parallel, shards_gradients, bucket_elements, implementation_fsdp, trains
):
    """Gradient buckets: DDP's as large as all gradients; DeepSpeed's flat one and the copy that is flattened of it. [B]

    Li et al. 2020, arXiv 2006.15704; torch/csrc/distributed/c10d/reducer.cpp (where gradients are not views of the
    buckets, gradient_as_bucket_view=False); deepspeed/runtime/zero/stage_1_and_2.py, setup_buckets: reduce_bucket_size
    elements of 16 bits, however few are trained.
    """
    ddp = (data_parallel > 1) * (shards_gradients == 0) * (implementation_fsdp > 0) * full_gradients_bytes
    flat = 2 * (bucket_elements + np.minimum(bucket_elements, trained_parameters_here))
    return trains * np.where(bucket_elements > 0, (data_parallel > 1) * flat, ddp)


def standing_bucket_bytes(bucket_bytes, bucket_elements, shards_weights, data_parallel, trains):
    """Of the buckets what stands from the start: DDP's, and the flat one of DeepSpeed's ZeRO 3. [B]

    deepspeed/runtime/zero/stage3.py, _setup_for_real_optimizer; its ZeRO 1 and 2 make theirs at each backward pass.
    """
    zero3 = 2 * bucket_elements * shards_weights * (data_parallel > 1) * trains
    return np.where(bucket_elements > 0, zero3, bucket_bytes)


def held_gradients_bytes(
    full_gradients_bytes,
    spread_gradients_bytes,
    gradient_shards,
    accumulation_steps,
    pipeline_parallel,
    fsdp_active,
    trained_parameters_here,
    reduce_bytes_each,
    implementation_accumulates_unsharded,
    implementation_accumulates,
):
    """Gradients of earlier micro-batches, alive in the forward pass. [B]

    Where micro-batches accumulate, in recipes that always do (litgpt), and in a buffer that stands from the start (Megatron). FSDP
    without synchronisation keeps them whole (set_requires_gradient_sync, torch/distributed/fsdp/_fully_shard), as its
    pipelines do until the last micro-batch (torch/distributed/pipelining/stage.py).
    """
    whole = fsdp_active * np.maximum(implementation_accumulates_unsharded, pipeline_parallel > 1)
    divided = (full_gradients_bytes + spread_gradients_bytes) / gradient_shards
    kept = np.where(whole > 0, trained_parameters_here * reduce_bytes_each, divided)
    return kept * ((accumulation_steps > 1) | (pipeline_parallel > 1) | (implementation_accumulates > 0))


def adds_gradients(held_gradients_bytes, fsdp_active, implementation_adds_in_place):
    """1 where each new weight gradient is added to that of earlier micro-batches and freed, one matrix at a time. [0 or 1]

    torch/csrc/autograd/functions/accumulate_grad.h. FSDP's blocks make theirs anew and add them when they are done.
    """
    return (held_gradients_bytes > 0) * (1 - fsdp_active) * (1 - implementation_adds_in_place)


def replicated_bytes_each(fsdp_active, shard_replicas, reduce_bytes_each, gradient_width_bytes_each):
    """Width of the reduced shards that hybrid sharding keeps, beside the gradients, until the backward pass ends. [B]

    Each group's all-reduce works on its buffer in reduce_dtype, held as its state to the end; where the gradients have that
    width, they are the buffer (torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py, AllReduceState; simulated).
    """
    return fsdp_active * (shard_replicas > 1) * np.where(reduce_bytes_each == gradient_width_bytes_each, 0, reduce_bytes_each)


BUFFERS = (
    last_block_bytes,
    kept_for_reuse,
    stack_fetched_ahead,
    live_weights_bytes,
    root_and_block_bytes,
    gathered_forward_bytes,
    gathered_backward_bytes,
    bucket_bytes,
    standing_bucket_bytes,
    held_gradients_bytes,
    adds_gradients,
    replicated_bytes_each,
)
