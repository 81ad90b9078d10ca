"""Working memory at the head: in the forward pass, and as the backward pass begins.

Read off simulated steps of transformers and torchtitan on one GPU and under FSDP2, DDP, tensor and
context parallel (validation/simulate, validation/data), unless a formula names another source.
"""

import numpy as np


def forward_working_bytes(
    stack_autocast_bytes,
    adapts,
    keeps_input,
    head_autocast_bytes,
    gathered_forward_bytes,
    standing_bucket_bytes,
    stage_buffers_bytes,
    scaled_outputs_bytes,
    holds_head,
):
    """Working memory at the head in the forward pass. [B]"""
    copies = np.sum(stack_autocast_bytes, axis=0) * (1 - adapts * keeps_input)
    return (
        copies
        + head_autocast_bytes
        + gathered_forward_bytes
        + standing_bucket_bytes
        + stage_buffers_bytes
        + scaled_outputs_bytes * holds_head
    )


def backward_working_bytes(
    stack_autocast_bytes,
    keeps_input,
    head_autocast_bytes,
    gathered_backward_bytes,
    standing_bucket_bytes,
    stage_buffers_bytes,
):
    """Working memory when the backward pass begins; checkpointing has dropped copies. [B]"""
    copies = (1 - keeps_input) * np.sum(stack_autocast_bytes, axis=0)
    return (
        copies
        + head_autocast_bytes
        + gathered_backward_bytes
        + standing_bucket_bytes
        + stage_buffers_bytes
    )


def head_logits_bytes(
    logits_elements,
    logits_tokens,
    hidden,
    holds_head,
    vocabulary_split,
    activation_bytes_each,
    fuses_loss,
):
    """The logits' gradient as it goes through the head, and that of the hidden states. [B]"""
    hidden_elements = hidden * logits_tokens * holds_head / vocabulary_split
    return activation_bytes_each * (logits_elements + hidden_elements) * (1 - fuses_loss)


def head_gradient_bytes_each(
    adds_gradients, new_gradient_bytes_each, implementation_adds_in_place, matrix_bytes_each
):
    """Width of the head's gradient as it is made: beside earlier ones, or a placeholder. [B]

    Source: Megatron-Core, core/tensor_parallel/layers.py: grad_weight =
    torch.empty(weight.main_grad.shape, dtype=input.dtype).
    """
    return (
        adds_gradients * new_gradient_bytes_each + implementation_adds_in_place * matrix_bytes_each
    )


def head_working_bytes(
    backward_working_bytes, trained_head_here, head_gradient_bytes_each, fuses_loss
):
    """Working memory while the head's gradient is made. [B]"""
    return backward_working_bytes + trained_head_here * head_gradient_bytes_each * (1 - fuses_loss)


def fetched_after_head_here(
    implementation_groups_ends, reshards_weights, stack_group_here, blocks_parameters_here
):
    """Parameters of blocks that are whole after a head of its own: one, or all. [elements]"""
    return implementation_groups_ends * np.where(
        reshards_weights > 0, np.max(stack_group_here, axis=0), blocks_parameters_here
    )


def head_reduction_bytes(
    fsdp_active,
    reduces_at_end,
    head_reduction_here,
    gathered_bytes_each,
    reduce_bytes_each,
    gradient_shards,
    fetched_after_head_here,
):
    """Working memory while FSDP reduces the gradient of a head that is a group of its own. [B]

    Source: torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce; simulated
    (context.csv).
    """
    reduction_bytes = head_reduction_here * (
        gathered_bytes_each + reduce_bytes_each * (1 + 1 / gradient_shards)
    )
    return (
        fsdp_active
        * (1 - reduces_at_end)
        * (reduction_bytes + gathered_bytes_each * fetched_after_head_here)
    )


def head_reduction_activations_bytes(
    stack_kept_bytes, outside_backward_bytes, stack_residual_bytes
):
    """Activations of all blocks, and the gradient of the last block's output. [B]"""
    return np.sum(stack_kept_bytes, axis=0) + outside_backward_bytes + stack_residual_bytes[0]
