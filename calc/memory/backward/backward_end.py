"""The end of the backward pass: the embedding's gradient, and FSDP's last reductions.

In a pipeline, FSDP reduces all groups after the last micro-batch. Three moments are compared, on
the first axis of shape (3, rows): the reduction of the last chunk, that of the first chunk, and the
gradient of the embedding, which is made before both. Source: torch/distributed/pipelining/stage.py,
perform_reduce_grad; simulated (validation/data/parallel/pipeline.csv).
"""

import numpy as np


def last_group_parameters_here(
    implementation_groups_ends, trained_embedding_here, adapts, outside_parameters_here
):
    """Trained parameters of the group that FSDP reduces last. [parameters]"""
    return np.where(
        implementation_groups_ends > 0,
        trained_embedding_here,
        outside_parameters_here * (1 - adapts),
    )


def beside_embedding_elements(
    vocabulary_split, embedding_parameters, holds_embedding, adapts, hidden, stack_tokens
):
    """The whole gradient of a divided embedding, or else the gradient of its output. [elements]

    Source: simulated (fsdp_tp.csv).
    """
    return np.where(
        vocabulary_split > 1,
        embedding_parameters * holds_embedding * (1 - adapts),
        hidden * stack_tokens[0],
    )


def first_block_reduction_bytes(
    gathered_bytes_each,
    root_group_here,
    trained_embedding_here,
    beside_embedding_elements,
    reduce_bytes_each,
    last_block_bytes,
):
    """The first block's gradients are reduced beside the embedding's gradient. [B]"""
    block = reduce_bytes_each / np.maximum(gathered_bytes_each, 1) * last_block_bytes
    return (
        gathered_bytes_each
        * (root_group_here + 2 * trained_embedding_here + beside_embedding_elements)
        + block
    )


def last_embedding_here(implementation_groups_ends, tied, trained_embedding_here):
    """The embedding's gradient beside the last reduction, unless it is part of it. [elements]"""
    return np.where(implementation_groups_ends + (1 - tied) > 0, trained_embedding_here, 0)


def scattered_group_reduction_bytes(
    reduce_bytes_each,
    last_group_parameters_here,
    gradient_shards,
    matrix_bytes_each,
    gathered_bytes_each,
    last_embedding_here,
):
    """The last group's gradients, their reduced shard, and the shard as wide as weights. [B]

    Source: torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce.
    """
    shard = last_group_parameters_here / gradient_shards
    cast = np.where(reduce_bytes_each == matrix_bytes_each, 0, matrix_bytes_each * shard)
    return (
        reduce_bytes_each * (last_group_parameters_here + shard)
        + cast
        + gathered_bytes_each * last_embedding_here
    )


def last_reduction_bytes(
    first_block_reduction_bytes,
    gathered_bytes_each,
    reduce_bytes_each,
    last_group_parameters_here,
    scattered_group_reduction_bytes,
):
    """FSDP's last reduction at its largest; the last group's gradients are copied first. [B]"""
    copy_bytes = (gathered_bytes_each + reduce_bytes_each) * last_group_parameters_here
    return np.maximum(
        first_block_reduction_bytes, np.maximum(copy_bytes, scattered_group_reduction_bytes)
    )


def stage_reduced_here(reduces_at_end, stack_trained_here, embedding_reduction_here, stage_chunks):
    """Elements of the group that is reduced at each of the three moments. [elements]

    An embedding that is a group of its own comes before the blocks of its chunk.
    """
    if not np.any(reduces_at_end):
        return np.zeros(1)
    block = np.max(stack_trained_here, axis=0)
    first = np.where(embedding_reduction_here > 0, embedding_reduction_here, block)
    return np.stack(np.broadcast_arrays(np.where(stage_chunks > 1, block, first), first, 0.0))


def stage_unreduced_here(
    reduces_at_end,
    blocks_parameters_here,
    embedding_reduction_here,
    stage_head_here,
    stage_chunks,
    chunks_in_turn,
):
    """Elements that are not reduced yet, with the group that is being reduced. [elements]"""
    if not np.any(reduces_at_end):
        return np.zeros(1)
    all_chunks = blocks_parameters_here + embedding_reduction_here + stage_head_here
    first_chunk = (
        blocks_parameters_here / stage_chunks
        + embedding_reduction_here
        + stage_head_here * (stage_chunks == 1)
    )
    at_embedding = np.where(chunks_in_turn > 0, first_chunk, all_chunks) + embedding_reduction_here
    return np.stack(np.broadcast_arrays(all_chunks, first_chunk, at_embedding))


def stage_reduction_bytes(
    gathered_bytes_each,
    stage_unreduced_here,
    reduce_bytes_each,
    stage_reduced_here,
    gradient_shards,
    stage_logits_bytes,
):
    """Working memory at the three moments: whole gradients, and a reduced copy of a group's. [B]"""
    reduction_bytes = reduce_bytes_each * (stage_reduced_here * (1 + 1 / gradient_shards))
    return (
        gathered_bytes_each * (stage_unreduced_here - stage_reduced_here)
        + reduction_bytes
        - stage_logits_bytes
    )


def stage_reduction_gradients_bytes(
    reduces_at_end,
    accumulated_gradients_bytes,
    last_chunk_ratio,
    chunks_in_turn,
    first_chunk_ratio,
    full_gradients_bytes,
    gradient_shards,
):
    """Gradients at the three moments; other chunks' stay whole until their reduction. [B]"""
    if not np.any(reduces_at_end):
        return np.zeros(1)
    last = accumulated_gradients_bytes * np.where(chunks_in_turn > 0, last_chunk_ratio, 1)
    first = (
        accumulated_gradients_bytes * first_chunk_ratio
        + full_gradients_bytes / gradient_shards * (1 - first_chunk_ratio)
    )
    gradients_bytes = np.where(chunks_in_turn > 0, first, accumulated_gradients_bytes)
    return np.stack(np.broadcast_arrays(last, first, gradients_bytes))


def stage_waiting_bytes(
    pipeline_parallel,
    reduces_at_end,
    stack_kept_microbatch_bytes,
    stage_chunks,
    round_microbatches,
    waiting_microbatches,
):
    """Activations of waiting micro-batches at the three moments. [B]

    They are those of the earlier chunks, none, and all but this micro-batch's. Shape: (3, rows), or
    (rows,) with the third alone if FSDP reduces nothing at the end.
    """
    microbatch_bytes = np.sum(stack_kept_microbatch_bytes, axis=0) * (pipeline_parallel > 1)
    others = microbatch_bytes * np.maximum(
        waiting_microbatches[2] - 1 / stage_chunks, 0
    )  # a step of one micro-batch has no third turn
    if not np.any(reduces_at_end):
        return others
    before = microbatch_bytes * (stage_chunks - 1) / stage_chunks * round_microbatches
    return np.where(reduces_at_end > 0, np.stack(np.broadcast_arrays(before, 0.0, others)), others)


def dense_embedding_bytes(
    embedding_parameters,
    holds_embedding,
    adapts,
    trained_embedding_here,
    tied,
    gradient_width_bytes_each,
    adds_gradients,
):
    """The embedding's gradient, built dense: whole on each tensor-parallel GPU. [B]

    It is alive beside the head's gradient if they share a matrix, and beside that of earlier
    micro-batches. With three users (T5: both sides and the head), the gradient of the third is
    added to the sum of the other two. Source: torch.nn.Embedding with sparse=False.
    """
    others = tied + adds_gradients - 1  # users whose gradients stand beside it, less its own
    dense = embedding_parameters * holds_embedding * (1 - adapts)
    return gradient_width_bytes_each * (dense + trained_embedding_here * others)


def embedding_gradient_bytes(
    implementation_adds_in_place, matrix_bytes_each, trained_embedding_here, dense_embedding_bytes
):
    """The embedding's gradient: dense, or its shard's before it is added to the buffer. [B]

    Source: Megatron-Core, core/tensor_parallel/layers.py, VocabParallelEmbedding; core/distributed,
    _make_backward_post_hook.
    """
    return np.where(
        implementation_adds_in_place > 0,
        matrix_bytes_each * trained_embedding_here,
        dense_embedding_bytes,
    )


def embedding_activations_bytes(
    fsdp_active,
    adapts,
    holds_embedding,
    activation_bytes_each,
    hidden,
    outside_tokens,
    stage_waiting_bytes,
):
    """The gradient of the embedding's output, and waiting activations; FSDP counts its own. [B]"""
    of_output = (
        (1 - fsdp_active)
        * (1 - adapts)
        * holds_embedding
        * activation_bytes_each
        * hidden
        * outside_tokens
    )
    return of_output + stage_waiting_bytes


def reduced_gradients_bytes(
    full_gradients_bytes,
    fsdp_active,
    last_group_parameters_here,
    gradient_width_bytes_each,
    spread_gradients_bytes,
    gradient_shards,
):
    """All gradients but those of the group that FSDP still has to reduce, divided. [B]"""
    waiting = fsdp_active * last_group_parameters_here * gradient_width_bytes_each
    return (
        np.maximum(full_gradients_bytes - waiting, 0) + spread_gradients_bytes
    ) / gradient_shards


def end_gradients_bytes(reduces_at_end, stage_reduction_gradients_bytes, reduced_gradients_bytes):
    """All gradients at the end of the backward pass; in a pipeline those of all chunks. [B]"""
    return np.where(reduces_at_end > 0, stage_reduction_gradients_bytes, reduced_gradients_bytes)


def kept_reduced_bytes(
    replicated_bytes_each, trained_parameters_here, last_group_parameters_here, gradient_shards
):
    """Reduced shards that hybrid sharding holds of all reductions but the last. [B]"""
    return (
        replicated_bytes_each
        * (trained_parameters_here - last_group_parameters_here)
        / gradient_shards
    )


def fsdp_end_bytes(
    reduces_at_end, stage_reduction_bytes, last_reduction_bytes, adapts, kept_reduced_bytes
):
    """FSDP's last reduction, and what hybrid sharding keeps of the others. [B]"""
    return np.where(
        reduces_at_end > 0,
        stage_reduction_bytes,
        last_reduction_bytes * (1 - adapts) + kept_reduced_bytes,
    )


def end_working_bytes(
    fsdp_active,
    fsdp_end_bytes,
    embedding_gradient_bytes,
    bucket_bytes,
    placeholder_gradients_bytes,
    stage_buffers_bytes,
):
    """Working memory at the end of the backward pass. [B]"""
    gradient_bytes = np.where(fsdp_active > 0, fsdp_end_bytes, embedding_gradient_bytes)
    return gradient_bytes + bucket_bytes + placeholder_gradients_bytes + stage_buffers_bytes
