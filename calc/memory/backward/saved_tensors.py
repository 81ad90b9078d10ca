"""Tensors that the forward pass leaves: activations, autocast's copies, buffers.

Source of the buffers: torch/distributed/pipelining/stage.py, _RecvInfo and fwd_cache: a receive
buffer for each micro-batch, and each stage's output until its backward pass; simulated
(validation/data/parallel/pipeline.csv). Megatron-Core receives into new tensors and frees what it
has sent (deallocate_pipeline_outputs).
"""

import numpy as np

from calc.memory.log_probabilities import TILE_OUTPUTS


def stack_kept_bytes(stack_kept_microbatch_bytes, microbatches_waiting):
    """Activations that a stack stores for all waiting micro-batches. [B]"""
    return stack_kept_microbatch_bytes * microbatches_waiting


def moved_activations_bytes(stack_layers_here, stack_kept_bytes_per_token, stack_tokens):
    """Activations of all blocks but two, which offloading moves to CPU memory. [B]"""
    return np.sum(
        np.maximum(stack_layers_here - 2, 0) * stack_kept_bytes_per_token * stack_tokens, axis=0
    )


def saved_activations_bytes(
    stack_kept_microbatch_bytes,
    microbatches_waiting_at_head,
    outside_saved_bytes,
    outside_backward_bytes,
    holds_head,
):
    """Everything that waits for the backward pass but the logits. [B]

    The final norm is part of it on the stage with the head. Source: Korthikanti et al. 2022, arXiv
    2205.05198.
    """
    outside = outside_backward_bytes + (outside_saved_bytes - outside_backward_bytes) * holds_head
    return np.sum(stack_kept_microbatch_bytes, axis=0) * microbatches_waiting_at_head + outside


def stack_residual_bytes(activation_bytes_each, stack_hidden, stack_tokens):
    """One tensor of the residual stream: tokens · hidden · width. [B]"""
    return activation_bytes_each * stack_hidden * stack_tokens


def stack_merged_experts_here(stack_adapts_experts, stack_block_experts_here):
    """Elements of a block's experts that are merged with their adapters. [elements]"""
    return stack_adapts_experts * stack_block_experts_here


def stack_autocast_bytes(
    stack_layers_here,
    stack_block_linear_here,
    autocast_bytes_each,
    autocast_active,
    stack_merged_experts_here,
    matrix_bytes_each,
):
    """Autocast's 16-bit copies of all but quantized matrices, and merged experts. [B]

    Source: torch/amp/autocast_mode.py, cache_enabled; peft 0.21.
    """
    cast = (
        stack_block_linear_here * autocast_bytes_each * autocast_active * (matrix_bytes_each >= 2)
    )
    return stack_layers_here * (cast + stack_merged_experts_here * matrix_bytes_each)


def stack_merging_bytes(stack_merged_experts_here, adapter_bytes_each):
    """The gradient of adapted experts on its way back to their adapters. [B]

    It is that of gate and up, two thirds of the experts, before and after its scaling. The gradient
    of the merged copy takes the place of that copy. Source: peft, tuners/lora/layer.py,
    ParamWrapper.get_delta_weight.
    """
    return stack_merged_experts_here * 2 / 3 * 2 * adapter_bytes_each


def head_autocast_bytes(
    stage_head_here, autocast_active, autocast_bytes_each, scoring_fuses_head, hidden
):
    """Autocast's copy of the head's matrix, or of the rows of one tile. [B]"""
    of_tile = np.minimum(stage_head_here, TILE_OUTPUTS * hidden)
    return (
        np.where(scoring_fuses_head > 0, of_tile, stage_head_here)
        * autocast_active
        * autocast_bytes_each
    )


def keeps_stage_tensors(implementation_torch_pipeline, pipeline_parallel):
    """1 in a pipeline whose software keeps what passes between the stages. [0 or 1]"""
    return implementation_torch_pipeline * (pipeline_parallel > 1)


def stage_tensor_bytes(
    keeps_stage_tensors, activation_bytes_each, hidden, outside_tokens, sequence_split
):
    """The hidden states of one micro-batch between two stages. [B]"""
    return keeps_stage_tensors * activation_bytes_each * hidden * outside_tokens / sequence_split


def receive_buffers_bytes(stage_tensor_bytes, stage_chunks, accumulation_steps):
    """Buffers for hidden states and gradients from the stages beside, per micro-batch. [B]

    The first of all stages receives no hidden states, the last no gradients.
    """
    return stage_tensor_bytes * (2 * stage_chunks - 1) * accumulation_steps


def logits_elements(logits_tokens, outputs, vocabulary_split, holds_head):
    """Logits of one micro-batch on one GPU. [elements]"""
    return logits_tokens * outputs / vocabulary_split * holds_head


def stage_logits_bytes(
    holds_head,
    keeps_stage_tensors,
    loss_backward_bytes_each,
    fuses_loss,
    compute_bytes_each,
    logits_elements,
):
    """The last stage's output, its logits, which wait with their micro-batch. [B]"""
    stores = keeps_stage_tensors * (loss_backward_bytes_each == 0) * (1 - fuses_loss)
    return holds_head * stores * np.maximum(compute_bytes_each, 2) * logits_elements


def stage_buffers_bytes(
    stage_tensor_bytes,
    receive_buffers_bytes,
    microbatches_in_flight,
    stage_chunks,
    round_microbatches,
    holds_head,
    stage_logits_bytes,
):
    """Receive buffers and outputs, less the buffers that the first blocks have saved. [B]

    An output waits with its micro-batch; the last chunk's is its logits, and a last stage of one
    chunk sends one gradient.
    """
    waiting = microbatches_in_flight * stage_chunks
    saved_bytes = np.where(
        holds_head > 0, waiting, np.minimum((stage_chunks - 1) * round_microbatches, waiting)
    )
    outputs = waiting - holds_head * (stage_chunks > 1)
    return receive_buffers_bytes + stage_tensor_bytes * (outputs - saved_bytes) + stage_logits_bytes
