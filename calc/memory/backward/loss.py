"""Logits and loss: as computed, upcast, and their log-softmax, in one kernel, or by chunks.

Source: transformers 5.23, loss/loss_utils.py; Liger, Hsu et al. 2024, arXiv 2410.10989; by kind of
head catalogs/read_off/heads.yaml.
"""

import numpy as np

from calc.evaluate import variant


def logits_forward_bytes_each(head_coefficients, head_row, activation_format, vocabulary_split):
    """Bytes per logit at the forward peak; a divided loss makes one more fp32 copy. [B]"""
    return head_coefficients["forward"][head_row, activation_format] + 4.0 * (vocabulary_split > 1)


def logits_backward_bytes_each(head_coefficients, head_row, activation_format, vocabulary_split):
    """Bytes per logit as the backward pass begins; a divided loss makes one more fp32 copy. [B]"""
    return head_coefficients["backward"][head_row, activation_format] + 4.0 * (vocabulary_split > 1)


def loop_forward_bytes_each(adapts, batch_sequences, softcap):
    """Bytes per logit at the forward peak if the training loop keeps fp32 outputs. [B]

    With several sequences, full tuning cuts the last token off a copy, and LoRA takes a list of
    chunks. Capped logits keep the result of the tanh. Source: litgpt, finetune/full.py and
    finetune/lora.py.
    """
    return 8.0 + 4.0 * (1 - adapts) * (batch_sequences > 1) + 2.0 * softcap


def loop_backward_bytes_each(adapts, softcap, decoder_tokens):
    """Bytes per logit in the backward pass if the training loop keeps fp32 outputs. [B]

    LoRA's gradients are those of one chunk of 128 tokens. Source: litgpt, finetune/lora.py,
    lm_head_chunk_size.
    """
    chunk = 8.0 * np.minimum(128 / decoder_tokens, 1)
    return 8.0 + np.where(adapts > 0, chunk, 4.0) + 2.0 * softcap


def kernel_loss_bytes_each(
    loss_in_place, implementation_in_place_bytes_each, compiles, loss_compiled_bytes_each
):
    """Bytes per logit of a loss that works in place, or is compiled; 0 if neither. [B]"""
    return np.where(
        loss_in_place > 0, implementation_in_place_bytes_each, compiles * loss_compiled_bytes_each
    )


def stored_forward_bytes_each(
    logits_forward_bytes_each,
    loop_forward_bytes_each,
    implementation_holds_outputs,
    implementation_held_output_bytes_each,
    loss_forward_bytes_each,
    kernel_loss_bytes_each,
):
    """Bytes per logit at the forward peak: of kernel, loss, software or head. [B]"""
    of_head = logits_forward_bytes_each + implementation_held_output_bytes_each
    of_software = np.where(implementation_holds_outputs > 0, loop_forward_bytes_each, of_head)
    of_loss = np.where(loss_forward_bytes_each > 0, loss_forward_bytes_each, of_software)
    return np.where(kernel_loss_bytes_each > 0, kernel_loss_bytes_each, of_loss)


stored_backward_bytes_each = variant(
    stored_forward_bytes_each,
    rename={"forward": "backward"},
    doc="Bytes per logit at the backward peak: of kernel, loss, software or head. [B]",
)


def chunk_tokens(logits_tokens, outputs, hidden):
    """Tokens per chunk of the fused loss: its logits are as large as hidden states. [tokens]

    Source: liger_kernel/ops/fused_linear_cross_entropy.py of Liger 0.8.5.
    """
    target_tokens = np.maximum(np.ceil(logits_tokens / np.maximum(np.ceil(outputs / hidden), 1)), 1)
    return np.minimum(logits_tokens, 2 ** np.ceil(np.log2(target_tokens)))


def fused_loss_bytes(
    chunk_tokens,
    outputs,
    hidden,
    logits_tokens,
    trained_head_here,
    compute_bytes_each,
    vocabulary_split,
    holds_head,
):
    """Head and loss by chunks: one chunk, the gradients of inputs and of a trained head. [B]"""
    width = np.maximum(compute_bytes_each, 2)
    copies_bytes = width * hidden * logits_tokens + width * trained_head_here
    return holds_head * (width * chunk_tokens * outputs / vocabulary_split + copies_bytes)


def forward_logits_bytes(
    logits_elements,
    stored_forward_bytes_each,
    fuses_loss,
    fused_loss_bytes,
    scores_by_release,
    scores_forward_bytes,
):
    """Logits and loss at the forward peak. [B]"""
    of_loss = np.where(
        fuses_loss > 0, fused_loss_bytes, stored_forward_bytes_each * logits_elements
    )
    return np.where(scores_by_release > 0, scores_forward_bytes, of_loss)


def head_gradients_bytes(
    loss_head_gradients,
    loss_beside_gradients_bytes_each,
    logits_elements,
    head_elements_here,
    adapts,
    compute_bytes_each,
):
    """Chunks after the head: its gradient twice, and what is left of the logits. [B]

    Source: torchtune, modules/loss/ce_chunked_output_loss.py; simulated
    (validation/data/parallel/ce.csv).
    """
    gradients = (
        loss_head_gradients * np.maximum(compute_bytes_each, 2) * (1 - adapts) * head_elements_here
    )
    return gradients + loss_beside_gradients_bytes_each * logits_elements


def backward_logits_bytes(
    logits_elements,
    stored_backward_bytes_each,
    fuses_loss,
    fused_loss_bytes,
    head_gradients_bytes,
    scores_by_release,
    scores_backward_bytes,
):
    """Logits and their gradients when the backward pass begins. [B]"""
    stored_bytes = np.maximum(stored_backward_bytes_each * logits_elements, head_gradients_bytes)
    return np.where(
        scores_by_release > 0,
        scores_backward_bytes,
        np.where(fuses_loss > 0, fused_loss_bytes, stored_bytes),
    )
