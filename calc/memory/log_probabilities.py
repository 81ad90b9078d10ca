"""Memory of turning hidden states into log-probabilities. Bytes on one GPU.

Coefficients by software, its release, the objective and the precision:
catalogs/edited/log_probabilities.yaml, read off one simulated update of Qwen3 0.6B each. What fuses
head and log-probability works in tiles: nothing grows with vocabulary x tokens. Source: TRL 1.16.0,
kernels/chunked_logprob.py.
"""

import numpy as np

from calc.evaluate import variant

TILE_TOKENS, TILE_OUTPUTS = 4096, 32768


def answers_tokens(batch_sequences, sequence_tokens, completion_ratio, context_parallel):
    """Tokens of answers in a micro-batch on one GPU. [tokens]"""
    return batch_sequences * sequence_tokens * completion_ratio / context_parallel


def stored_logits_tokens(scoring_scores_answers, answers_tokens, batch_sequences, logits_tokens):
    """Tokens with stored logits: all, or the answers' and one before each. [tokens]"""
    return np.where(
        scoring_scores_answers > 0,
        np.minimum(answers_tokens + batch_sequences, logits_tokens),
        logits_tokens,
    )


def outputs_here(outputs, vocabulary_split, holds_head):
    """Scores of one token on one GPU. [elements]"""
    return outputs / vocabulary_split * holds_head


def metric_bytes(scoring_metric_values, outputs_here, widens_outputs):
    """One chunk of a metric of the loss, such as the entropy. [B]"""
    return scoring_metric_values * outputs_here * np.where(widens_outputs > 0, 4, 2)


def stored_scores_forward_bytes(
    outputs_here,
    stored_logits_tokens,
    answers_tokens,
    metric_bytes,
    scores_reference,
    scoring_forward_bytes_each,
    scoring_reference_bytes_each,
    scoring_answers_forward_bytes_each,
    softcap,
):
    """Stored logits and log-probabilities at the forward peak, a reference's beside them. [B]

    A cap keeps what its tanh gave.
    """
    bytes_each = (
        scoring_forward_bytes_each + scores_reference * scoring_reference_bytes_each + 2 * softcap
    )
    return (
        outputs_here
        * (bytes_each * stored_logits_tokens + scoring_answers_forward_bytes_each * answers_tokens)
        + metric_bytes
    )


def stored_scores_backward_bytes(
    outputs_here,
    stored_logits_tokens,
    answers_tokens,
    scoring_backward_bytes_each,
    scoring_answers_backward_bytes_each,
    softcap,
):
    """Stored logits and their gradients as the backward pass begins. [B]"""
    of_answers = scoring_answers_backward_bytes_each * answers_tokens
    return outputs_here * (
        (scoring_backward_bytes_each + 2 * softcap) * stored_logits_tokens + of_answers
    )


def tile_bytes(answers_tokens, outputs_here, compute_bytes_each):
    """One tile of logits, by at most 4,096 tokens and 32,768 words. [B]"""
    return (
        np.minimum(answers_tokens, TILE_TOKENS)
        * np.minimum(outputs_here, TILE_OUTPUTS)
        * np.maximum(compute_bytes_each, 2)
    )


def tiled_scores_forward_bytes(
    tile_bytes, answers_tokens, hidden, compute_bytes_each, scores_reference, holds_head
):
    """A tile and the answers' hidden states, in the forward pass; the reference's too. [B]"""
    return (
        tile_bytes
        + holds_head
        * (1 + scores_reference)
        * np.maximum(compute_bytes_each, 2)
        * hidden
        * answers_tokens
    )


def tiled_scores_backward_bytes(
    tile_bytes,
    answers_tokens,
    hidden,
    trained_head_here,
    matrix_bytes_each,
    compute_bytes_each,
    holds_head,
):
    """A tile, hidden states of the answers with gradients, the head's in fp32 and as stored. [B]

    All gradients are summed in fp32 and turned to the format of what they belong to before that
    copy goes.
    """
    width = np.maximum(compute_bytes_each, 2)
    of_head = trained_head_here * (4 + np.where(matrix_bytes_each < 4, matrix_bytes_each, 0))
    return tile_bytes + holds_head * ((2 * width + 4) * hidden * answers_tokens + of_head)


def scores_forward_bytes(
    scoring_fuses_head, tiled_scores_forward_bytes, stored_scores_forward_bytes
):
    """Log-probabilities of the objective at the forward peak. [B]"""
    return np.where(scoring_fuses_head > 0, tiled_scores_forward_bytes, stored_scores_forward_bytes)


scores_backward_bytes = variant(
    scores_forward_bytes,
    rename={"forward": "backward"},
    doc="Log-probabilities of the objective at the peak of the backward pass. [B]",
)


def scores_quiet_bytes(
    scoring_fuses_head,
    tiled_scores_forward_bytes,
    outputs_here,
    scoring_quiet_bytes_each,
    stored_logits_tokens,
):
    """Log-probabilities of a pass without gradient. [B]"""
    return np.where(
        scoring_fuses_head > 0,
        tiled_scores_forward_bytes,
        scoring_quiet_bytes_each * outputs_here * stored_logits_tokens,
    )


def earlier_scores_bytes(
    before_scores_answers, before_backward_bytes_each, outputs_here, answers_tokens, logits_tokens
):
    """Scores in the first known release of the software as the backward pass begins. [B]"""
    tokens = np.where(before_scores_answers > 0, answers_tokens, logits_tokens)
    return before_backward_bytes_each * outputs_here * tokens
