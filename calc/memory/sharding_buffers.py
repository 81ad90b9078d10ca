"""What sharding and reduction hold beside the shards: gathered weights, buckets, unreduced gradients. Bytes on one GPU.

Terms of FSDP, DDP and DeepSpeed: validation/README.md, section "Sharding".
"""

import numpy as np


def last_block_bytes(stack_block_parameters_here, gathered_bytes_each, fsdp_active):
    """The widest gathered block. FSDP holds it beside the shards. [B]"""
    return fsdp_active * gathered_bytes_each * np.max(stack_block_parameters_here, axis=0)


def live_weights_bytes(
    shards_weights, implementation_fsdp, shard_gpus, trains, implementation_live_elements, gathered_bytes_each,
    blocks_parameters_here, outside_parameters_here, stack_block_parameters_here,
):
    """DeepSpeed's ZeRO 3: gathered weights that stay because they are needed again soon, and a block with the next
    one. [B]"""
    active = shards_weights * (1 - implementation_fsdp) * (shard_gpus > 1) * trains
    live = implementation_live_elements + 2 * np.max(stack_block_parameters_here, axis=0)
    return active * gathered_bytes_each * np.minimum(live, blocks_parameters_here + outside_parameters_here)


def gathered_forward_bytes(
    live_weights_bytes, fsdp_active, shards_weights, implementation_head_apart, gathered_bytes_each,
    outside_parameters_here, head_elements_here, blocks_parameters_here, last_block_bytes,
):
    """Whole weights at the head in the forward pass: the root group and one block (torchtitan: the head twice); ZeRO
    2 keeps all. [B]"""
    together = gathered_bytes_each * outside_parameters_here + shards_weights * last_block_bytes
    apart = 2 * gathered_bytes_each * head_elements_here
    kept = (1 - shards_weights) * gathered_bytes_each * (blocks_parameters_here + implementation_head_apart * head_elements_here)
    return fsdp_active * (np.where(implementation_head_apart > 0, apart, together) + kept) + live_weights_bytes


def gathered_backward_bytes(
    live_weights_bytes, fsdp_active, shards_weights, implementation_head_apart, gathered_bytes_each,
    outside_parameters_here, head_elements_here, blocks_parameters_here, last_block_bytes,
):
    """Whole weights when the backward pass begins: the root group and the block fetched ahead. [B]"""
    together = gathered_bytes_each * outside_parameters_here + shards_weights * last_block_bytes
    apart = gathered_bytes_each * head_elements_here
    kept = (1 - shards_weights) * gathered_bytes_each * blocks_parameters_here
    return fsdp_active * (np.where(implementation_head_apart > 0, apart, together) + kept) + live_weights_bytes


def bucket_bytes(
    full_gradients_bytes, data_parallel, shards_gradients, implementation_bucket_elements, implementation_fsdp, trains,
):
    """Gradient buckets: DDP holds a copy of all gradients from the start; DeepSpeed twice its bucket while it
    reduces. [B]"""
    ddp = (data_parallel > 1) * (shards_gradients == 0) * (implementation_fsdp > 0) * full_gradients_bytes
    bucket = 2 * np.minimum(implementation_bucket_elements * 2, full_gradients_bytes)
    return trains * np.where(implementation_bucket_elements > 0, (data_parallel > 1) * bucket, ddp)


def held_gradients_bytes(
    full_gradients_bytes, gradient_shards, accumulation_steps, pipeline_parallel, fsdp_active,
    trained_parameters_here, reduce_bytes_each, implementation_accumulates_unsharded,
):
    """Gradients of earlier micro-batches, alive in the forward pass. FSDP without synchronisation keeps them whole.
    [B]"""
    whole = fsdp_active * implementation_accumulates_unsharded
    kept = np.where(whole > 0, trained_parameters_here * reduce_bytes_each, full_gradients_bytes / gradient_shards)
    return kept * ((accumulation_steps > 1) | (pipeline_parallel > 1))


def ddp_bucket_bytes(bucket_bytes, implementation_bucket_elements):
    """Of the buckets those that stand from the start: DDP's. [B]"""
    return np.where(implementation_bucket_elements > 0, 0, bucket_bytes)


BUFFERS = (
    last_block_bytes, live_weights_bytes, gathered_forward_bytes, gathered_backward_bytes, bucket_bytes, ddp_bucket_bytes,
    held_gradients_bytes,
)
