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


def stage_buffers_bytes(
    stage_tensor_bytes,
    receive_buffers_bytes,
    microbatches_in_flight,
    stage_chunks,
    pipeline_parallel,
    at_last_stage,
    logits_elements,
    compute_bytes_each,
    loss_backward_bytes_each,
    fuses_loss,
    implementation_torch_pipeline,
):
    """Receive buffers, the stages' outputs and the last one's logits, less the buffers that the first blocks have saved. [B]

    An output waits with its micro-batch; the last stage's is its logits, and it sends one gradient at a time.
    """
    waiting = microbatches_in_flight * stage_chunks
    saved = np.where(at_last_stage > 0, waiting, np.minimum((stage_chunks - 1) * pipeline_parallel, waiting))
    stores = implementation_torch_pipeline * (pipeline_parallel > 1) * (loss_backward_bytes_each == 0) * (1 - fuses_loss)
    logits = at_last_stage * stores * np.maximum(compute_bytes_each, 2) * logits_elements
    return receive_buffers_bytes + stage_tensor_bytes * (waiting - saved) + logits


def stage_reduction_bytes(
    gathered_bytes_each,
    blocks_parameters_here,
    reduce_bytes_each,
    stack_trained_here,
    embedding_parameters_here,
    holds_embedding,
    implementation_head_apart,
    adapts,
    gradient_shards,
):
    """FSDP's first reduction after all micro-batches of a stage: the blocks still whole, one group's gradients once more. [B]

    The groups are reduced in the order of the modules, the embedding first (torch/distributed/pipelining/stage.py,
    perform_reduce_grad; simulated).
    """
    embedding = embedding_parameters_here * holds_embedding * implementation_head_apart * (1 - adapts)
    group = np.where(embedding > 0, embedding, np.max(stack_trained_here, axis=0))
    return gathered_bytes_each * blocks_parameters_here + reduce_bytes_each * group * (1 + 1 / gradient_shards)


STAGE_BUFFERS = (stage_tensor_bytes, receive_buffers_bytes, stage_buffers_bytes, stage_reduction_bytes)
