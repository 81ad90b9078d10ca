"""What sharding and reduction hold beside the shards: gathered weights, buckets, unreduced gradients. Bytes on one GPU.

Terms of FSDP, DDP and DeepSpeed: validation/README.md, section "Sharding".
"""

import numpy as np


def last_block_bytes(stack_group_here, gathered_bytes_each, fsdp_active):
    """The widest gathered block, which FSDP holds beside the shards. [B]

    Zhao et al. 2023, arXiv 2304.11277; torch/distributed/fsdp/_fully_shard. Where each block is a group of its own.
    """
    return fsdp_active * gathered_bytes_each * np.max(stack_group_here, axis=0)


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
    holds_head,
    blocks_parameters_here,
    embedding_parameters_here,
    reduces_at_end,
    forward_logits_bytes,
    logits_elements,
):
    """Whole weights at the head in the forward pass. [B]

    FSDP: the root group and one block; ZeRO 2, which does not reshard after the forward pass, and a pipeline keep all (Zhao
    et al. 2023, arXiv 2304.11277; torch/distributed/fsdp/_fully_shard). torchtitan: the head, as gathered and as copied out,
    the former until the model returns its 16-bit logits: its loss is outside the model (torchtitan/trainer.py).
    """
    head = gathered_bytes_each * head_elements_here * holds_head * implementation_head_apart
    embedding = gathered_bytes_each * embedding_parameters_here * implementation_head_apart * reduces_at_end
    kept = (1 - reshards_weights) * (gathered_bytes_each * blocks_parameters_here + np.where(reduces_at_end > 0, embedding, head))
    of_loss = np.maximum(forward_logits_bytes - 2 * logits_elements, 0)  # a fused loss makes no logits
    apart = head + (1 - reduces_at_end) * np.maximum(head - of_loss, 0)
    return fsdp_active * (np.where(implementation_head_apart > 0, apart, root_and_block_bytes) + kept) + live_weights_bytes


def gathered_backward_bytes(
    live_weights_bytes,
    root_and_block_bytes,
    fsdp_active,
    reshards_weights,
    implementation_head_apart,
    gathered_bytes_each,
    head_elements_here,
    holds_head,
    blocks_parameters_here,
    embedding_parameters_here,
    reduces_at_end,
):
    """Whole weights when the backward pass begins: the root group and the block fetched ahead. [B]

    Zhao et al. 2023, arXiv 2304.11277 (backward prefetching); torch/distributed/fsdp/_fully_shard.
    """
    apart = gathered_bytes_each * head_elements_here * holds_head
    embedding = embedding_parameters_here * implementation_head_apart * reduces_at_end
    kept = (1 - reshards_weights) * gathered_bytes_each * (blocks_parameters_here + embedding)
    return fsdp_active * (np.where(implementation_head_apart > 0, apart, root_and_block_bytes) + kept) + live_weights_bytes


def last_group_parameters_here(implementation_head_apart, embedding_parameters_here, holds_embedding, adapts, outside_parameters_here):
    """Trained parameters of the group that FSDP reduces last. [parameters]

    The embedding alone (torchtitan), or all that is outside the blocks.
    """
    embedding = embedding_parameters_here * holds_embedding * (1 - adapts)
    return np.where(implementation_head_apart > 0, embedding, outside_parameters_here * (1 - adapts))


def last_reduction_bytes(
    embedding_parameters_here,
    embedding_parameters,
    vocabulary_split,
    holds_embedding,
    adapts,
    tied,
    implementation_head_apart,
    last_group_parameters_here,
    gathered_bytes_each,
    reduce_bytes_each,
    matrix_bytes_each,
    gradient_shards,
    last_block_bytes,
    outside_parameters_here,
    hidden,
    stack_tokens,
):
    """FSDP's last reduction at its largest. [B]

    The first block's beside the embedding's gradient (a divided embedding's is whole on every GPU, and its own part once
    more, simulated: validation/data/parallel/fsdp_tp.csv), the group in both widths, or its reduced shard
    (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce).
    """
    embedding = embedding_parameters_here * holds_embedding * (1 - adapts)
    group, p, g = last_group_parameters_here, gathered_bytes_each, reduce_bytes_each
    kept = np.where(implementation_head_apart + (1 - tied) > 0, embedding, 0)
    cast = np.where(g == matrix_bytes_each, 0, matrix_bytes_each * group / gradient_shards)
    reducing = g / np.maximum(p, 1) * last_block_bytes  # the first block's gradients in the reduction's width
    root = (1 - implementation_head_apart) * p * outside_parameters_here
    whole = embedding_parameters * holds_embedding * (1 - adapts)
    beside = np.where(vocabulary_split > 1, whole, hidden * stack_tokens[0])
    first = root + 2 * p * embedding + reducing + p * beside
    return np.maximum(np.maximum(first, (p + g) * group), g * group + g * group / gradient_shards + cast + p * kept)


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


def adds_gradients(held_gradients_bytes, fsdp_active, reduce_bytes_each, gathered_bytes_each, implementation_adds_in_place):
    """1 where each new weight gradient is added to that of earlier micro-batches and freed, one matrix at a time. [0 or 1]

    torch/csrc/autograd/functions/accumulate_grad.h. Where FSDP reduces in another width, its blocks make theirs anew and add
    them when they are done (torch/distributed/fsdp/_fully_shard/_fsdp_param.py, to_accumulated_grad_if_needed).
    """
    anew = fsdp_active * (reduce_bytes_each != gathered_bytes_each)
    return (held_gradients_bytes > 0) * (1 - anew) * (1 - implementation_adds_in_place)


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
    last_group_parameters_here,
    last_reduction_bytes,
    bucket_bytes,
    standing_bucket_bytes,
    adds_gradients,
    replicated_bytes_each,
)
