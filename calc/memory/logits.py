"""Logits and loss, in training and in serving. Bytes on one GPU."""

import numpy as np

from calc.memory.peak import at_peak


def logits_bytes(peak_moment, moment_logits_bytes):
    """Logits and the temporaries of the loss, alive at the moment of the peak. [B]

    Tokens · outputs · bytes per logit: forward_logits_bytes and backward_logits_bytes in training, of the prompt or of
    one step in serving. As computed, upcast, and their log-softmax: transformers 5.23, loss/loss_utils.py.
    """
    return at_peak(moment_logits_bytes, peak_moment)


def logits_forward_bytes_each(head_coefficients, head_row, activation_format, vocabulary_split):
    """Bytes per logit at the forward peak; a divided loss upcasts once more. [B]

    As computed, in fp32, and the log-softmax (transformers, loss/loss_utils.py), by kind of head in catalogs/heads.yaml.
    """
    own = head_coefficients["widths"][head_row, activation_format, 0]
    return own + 4.0 * (vocabulary_split > 1)


def logits_backward_bytes_each(head_coefficients, head_row, activation_format, vocabulary_split):
    """Bytes per logit when the backward pass begins: by kind of head in catalogs/heads.yaml. [B]"""
    own = head_coefficients["widths"][head_row, activation_format, 2]
    return own + 4.0 * (vocabulary_split > 1)


def held_forward_bytes_each(adapts, batch, softcap):
    """Bytes per logit at the forward peak where the loop holds outputs turned to fp32: them and their log-softmax. [B]

    Of several sequences full tuning cuts the last token off a copy (litgpt, finetune/full.py); LoRA takes a list of chunks
    (finetune/lora.py). A cap keeps what its tanh gave.
    """
    return 8.0 + 4.0 * (1 - adapts) * (batch > 1) + 2.0 * softcap


def held_backward_bytes_each(adapts, softcap, decoder_tokens):
    """Bytes per logit when the backward pass begins where the loop holds its outputs. [B]

    LoRA's gradients are those of one chunk of 128 tokens (litgpt, finetune/lora.py, lm_head_chunk_size).
    """
    chunk = 8.0 * np.minimum(128 / decoder_tokens, 1)
    return 8.0 + np.where(adapts > 0, chunk, 4.0) + 2.0 * softcap


def logits_elements(logits_tokens, outputs, vocabulary_split, holds_head):
    """Logits of one micro-batch on one GPU. [elements]"""
    return logits_tokens * outputs / vocabulary_split * holds_head


def chunk_tokens(logits_tokens, outputs, hidden):
    """Tokens per chunk of the fused loss: so many that a chunk of logits is as large as the hidden states. [tokens]

    Hsu et al. 2024, arXiv 2410.10989; liger_kernel/ops/fused_linear_cross_entropy.py of Liger 0.8.5.
    """
    wanted = np.maximum(np.ceil(logits_tokens / np.maximum(np.ceil(outputs / hidden), 1)), 1)
    return np.minimum(logits_tokens, 2 ** np.ceil(np.log2(wanted)))


def fused_loss_bytes(
    chunk_tokens, outputs, hidden, logits_tokens, head_matrix_parameters, compute_bytes_each, adapts, vocabulary_split, holds_head
):
    """Head and loss per chunk: one chunk, the gradient of all inputs, and of the head's matrix where it is trained. [B]

    Liger's fused linear cross entropy (Hsu et al. 2024, arXiv 2410.10989): logits never stand whole.
    """
    width = np.maximum(compute_bytes_each, 2)
    kept = width * hidden * logits_tokens + width * head_matrix_parameters * (1 - adapts) / vocabulary_split
    return holds_head * (width * chunk_tokens * outputs / vocabulary_split + kept)


def _compiled_or_in_place(eager, compiled, compiles, in_place, in_place_bytes_each):
    """Bytes per logit of a loss: those in place where its gradient overwrites it, else the compiled ones where it is compiled. [B]"""
    return np.where(in_place > 0, in_place_bytes_each, np.where(compiles * compiled > 0, compiled, eager))


def stored_forward_bytes_each(
    logits_forward_bytes_each,
    held_forward_bytes_each,
    implementation_holds_outputs,
    loss_forward_bytes_each,
    loss_compiled_bytes_each,
    compiles,
    loss_in_place,
    implementation_in_place_bytes_each,
):
    """Bytes per logit at the forward peak: the loss's own (choices.yaml), else the software's, else the head's. [B]"""
    own = np.where(implementation_holds_outputs > 0, held_forward_bytes_each, logits_forward_bytes_each)
    eager = np.where(loss_forward_bytes_each > 0, loss_forward_bytes_each, own)
    return _compiled_or_in_place(eager, loss_compiled_bytes_each, compiles, loss_in_place, implementation_in_place_bytes_each)


def stored_backward_bytes_each(
    logits_backward_bytes_each,
    held_backward_bytes_each,
    implementation_holds_outputs,
    loss_backward_bytes_each,
    loss_compiled_bytes_each,
    compiles,
    loss_in_place,
    implementation_in_place_bytes_each,
):
    """Bytes per logit when the backward pass begins: the loss's own (choices.yaml), else the software's, else the head's. [B]"""
    own = np.where(implementation_holds_outputs > 0, held_backward_bytes_each, logits_backward_bytes_each)
    eager = np.where(loss_backward_bytes_each > 0, loss_backward_bytes_each, own)
    return _compiled_or_in_place(eager, loss_compiled_bytes_each, compiles, loss_in_place, implementation_in_place_bytes_each)


def forward_logits_bytes(logits_elements, stored_forward_bytes_each, fuses_loss, fused_loss_bytes):
    """Logits at the forward peak: as computed, upcast, and their log-softmax; or in one kernel, or by chunks. [B]

    transformers, loss/loss_utils.py; one kernel, which works in place, and chunks: Liger, arXiv 2410.10989.
    """
    return np.where(fuses_loss > 0, fused_loss_bytes, stored_forward_bytes_each * logits_elements)


def head_gradients_bytes(
    loss_head_gradients,
    loss_beside_gradients_bytes_each,
    logits_elements,
    head_matrix_parameters,
    vocabulary_split,
    adapts,
    compute_bytes_each,
):
    """Chunks after the head: the head's gradient twice, that of a chunk beside the sum, and what is left of the logits. [B]

    torchtune, modules/loss/ce_chunked_output_loss.py; simulated (validation/data/parallel/ce.csv).
    """
    width = np.maximum(compute_bytes_each, 2) * (1 - adapts)
    gradients = loss_head_gradients * width * head_matrix_parameters / vocabulary_split
    return gradients + loss_beside_gradients_bytes_each * logits_elements


def backward_logits_bytes(logits_elements, stored_backward_bytes_each, fuses_loss, fused_loss_bytes, head_gradients_bytes):
    """Logits when the backward pass begins: log-softmax and two gradients; or in one kernel, or by chunks. [B]

    transformers, loss/loss_utils.py; Liger, arXiv 2410.10989.
    """
    stored = np.maximum(stored_backward_bytes_each * logits_elements, head_gradients_bytes)
    return np.where(fuses_loss > 0, fused_loss_bytes, stored)


def served_logit_bytes_each(compute_bytes_each, activation_format):
    """Width of a logit in serving. [B]"""
    return np.where(activation_format == 1, 4.0, np.maximum(compute_bytes_each, 2.0))


def served_outputs(outputs, vocabulary_split, holds_head):
    """Logits of one token on one GPU. [elements]"""
    return outputs / vocabulary_split * holds_head


def prefill_logits_bytes(
    batch,
    prompt_tokens,
    logits_of_all,
    scores_each_token,
    scores_once,
    served_outputs,
    served_logit_bytes_each,
    is_engine,
    sampler_bytes,
    softcap,
):
    """Logits of the prompt: of its last token, or of all, twice where they are capped; an engine's sampler at its own limits. [B]"""
    each = (logits_of_all > 0) & (scores_once == 0) | (scores_each_token > 0)
    scored = batch * np.where(each, prompt_tokens, 1)
    return np.where(is_engine > 0, sampler_bytes, scored * served_outputs * served_logit_bytes_each * (1 + softcap))


def decode_logits_bytes(batch, served_outputs, served_logit_bytes_each, generates):
    """Logits of one decoding step. [B]"""
    return generates * batch * served_outputs * served_logit_bytes_each


TRAINING = (
    logits_forward_bytes_each,
    logits_backward_bytes_each,
    held_forward_bytes_each,
    held_backward_bytes_each,
    stored_forward_bytes_each,
    stored_backward_bytes_each,
    logits_elements,
    chunk_tokens,
    fused_loss_bytes,
    forward_logits_bytes,
    head_gradients_bytes,
    backward_logits_bytes,
)
SERVING = (served_logit_bytes_each, served_outputs, prefill_logits_bytes, decode_logits_bytes)
