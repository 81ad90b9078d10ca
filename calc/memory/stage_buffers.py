"""What passes between the stages of a pipeline, and what of it stands on one GPU. Bytes.

torch.distributed.pipelining keeps a receive buffer for each micro-batch and each stage's output until its backward pass
(torch/distributed/pipelining/stage.py, _RecvInfo and fwd_cache; simulated: validation/data/parallel/pipeline.csv).
Megatron-Core receives into new tensors and frees what it has sent (deallocate_pipeline_outputs).
"""

import numpy as np


def stage_tensor_bytes(implementation_torch_pipeline, pipeline_parallel, activation_bytes_each, hidden, outside_tokens, sequence_split):
    """The hidden states of one micro-batch between two stages, where the software keeps them. [B]"""
    kept = implementation_torch_pipeline * (pipeline_parallel > 1)
    return kept * activation_bytes_each * hidden * outside_tokens / sequence_split


def receive_buffers_bytes(stage_tensor_bytes, stage_chunks, accumulation_steps):
    """For every micro-batch one for what comes from the stage before and one for the gradient from the next. [B]

    The first of all stages receives no hidden states, the last no gradients.
    """
    return stage_tensor_bytes * (2 * stage_chunks - 1) * accumulation_steps


def stage_logits_bytes(
    at_last_stage,
    pipeline_parallel,
    loss_backward_bytes_each,
    fuses_loss,
    implementation_torch_pipeline,
    compute_bytes_each,
    logits_elements,
):
    """The last stage's output, its logits, which wait with their micro-batch. [B]"""
    stores = implementation_torch_pipeline * (pipeline_parallel > 1) * (loss_backward_bytes_each == 0) * (1 - fuses_loss)
    return at_last_stage * stores * np.maximum(compute_bytes_each, 2) * logits_elements


def stage_buffers_bytes(
    stage_tensor_bytes, receive_buffers_bytes, microbatches_in_flight, stage_chunks, round_microbatches, at_last_stage, stage_logits_bytes
):
    """Receive buffers, the stages' outputs and the last one's logits, less the buffers that the first blocks have saved. [B]

    An output waits with its micro-batch; the last chunk's is its logits, and a last stage of one chunk sends one gradient.
    """
    waiting = microbatches_in_flight * stage_chunks
    saved = np.where(at_last_stage > 0, waiting, np.minimum((stage_chunks - 1) * round_microbatches, waiting))
    outputs = waiting - at_last_stage * (stage_chunks > 1)
    return receive_buffers_bytes + stage_tensor_bytes * (outputs - saved) + stage_logits_bytes


def stage_reduction_gradients_bytes(
    reduces_at_end, accumulated_gradients_bytes, last_chunk_ratio, chunks_in_turn, first_chunk_ratio, full_gradients_bytes, gradient_shards
):
    """Gradients where FSDP begins to reduce a stage's last chunk, its first, and where the embedding's is made. Shape (3, rows). [B]

    Those that other chunks have are whole before they are reduced, and divided after.
    """
    if not np.any(reduces_at_end):
        return np.zeros(1)
    last = accumulated_gradients_bytes * np.where(chunks_in_turn > 0, last_chunk_ratio, 1)
    first = accumulated_gradients_bytes * first_chunk_ratio + full_gradients_bytes / gradient_shards * (1 - first_chunk_ratio)
    made = np.where(chunks_in_turn > 0, first, accumulated_gradients_bytes)
    return np.stack(np.broadcast_arrays(last, first, made))


def stage_waiting_bytes(pipeline_parallel, reduces_at_end, stack_kept_each_bytes, stage_chunks, round_microbatches, waiting_microbatches):
    """Activations at those three: of the last round in the chunks before, none, and of all micro-batches but this one. [B]

    Where FSDP does not reduce at the end the last alone, of shape (rows,); else of shape (3, rows).
    """
    kept = np.sum(stack_kept_each_bytes, axis=0) * (pipeline_parallel > 1)
    others = kept * (waiting_microbatches[2] - 1 / stage_chunks)
    if not np.any(reduces_at_end):
        return others
    before = kept * (stage_chunks - 1) / stage_chunks * round_microbatches
    at_end = np.stack(np.broadcast_arrays(before, 0.0, others))
    return np.where(reduces_at_end > 0, at_end, others)


def stage_reduction_bytes(
    reduces_at_end,
    gathered_bytes_each,
    blocks_parameters_here,
    reduce_bytes_each,
    stack_trained_here,
    stage_chunks,
    chunks_in_turn,
    embedding_parameters_here,
    holds_embedding,
    implementation_head_apart,
    adapts,
    gradient_shards,
    head_elements_here,
    holds_head,
    stage_logits_bytes,
):
    """Working memory at those three: what is still whole, one group's gradients once more, no logits. Shape (3, rows). [B]

    The groups are reduced in the order of the modules, the first chunk's embedding before its blocks
    (torch/distributed/pipelining/stage.py, perform_reduce_grad; simulated).
    """
    if not np.any(reduces_at_end):
        return np.zeros(1)
    block = np.max(stack_trained_here, axis=0)
    embedding = embedding_parameters_here * holds_embedding * implementation_head_apart * (1 - adapts)
    first = np.where(embedding > 0, embedding, block)
    last = np.where(stage_chunks > 1, block, first)
    head = head_elements_here * holds_head
    all_chunks = blocks_parameters_here + embedding + head
    first_chunk = blocks_parameters_here / stage_chunks + embedding + head * (stage_chunks == 1)
    at_embedding = np.where(chunks_in_turn > 0, first_chunk, all_chunks) + embedding
    whole = np.stack(np.broadcast_arrays(all_chunks - last, first_chunk - first, at_embedding))
    reduced = np.stack(np.broadcast_arrays(last, first, 0.0)) * (1 + 1 / gradient_shards)
    return gathered_bytes_each * whole + reduce_bytes_each * reduced - stage_logits_bytes


STAGE_BUFFERS = (
    stage_tensor_bytes,
    receive_buffers_bytes,
    stage_logits_bytes,
    stage_buffers_bytes,
    stage_reduction_gradients_bytes,
    stage_waiting_bytes,
    stage_reduction_bytes,
)
