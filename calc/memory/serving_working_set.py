"""Activations, logits and working memory of a request. Bytes on one GPU.

Read off simulated requests of transformers (validation/simulate, validation/data/infer_peaks.csv);
an engine's profile: calc/memory/serving_engine.py.
"""

import numpy as np

from calc.scenarios.stack_numbers import FIXED_SIDE


def served_logit_bytes_each(compute_bytes_each, activation_format):
    """Width of a logit in serving: as the products, at least 16 bits. [B]"""
    return np.where(activation_format == 1, 4.0, np.maximum(compute_bytes_each, 2.0))


def served_outputs(outputs, vocabulary_split, holds_head):
    """Logits of one token on one GPU. [elements]

    By definition.
    """
    return outputs / vocabulary_split * holds_head


def scored_tokens(batch, prompt_tokens, logits_of_all, scores_each_token, scores_once):
    """Prompt tokens that get logits: the last of each sequence, or all. [tokens]

    Source: transformers, logits_to_keep of the models' forward.
    """
    scores_all = (logits_of_all > 0) & (scores_once == 0) | (scores_each_token > 0)
    return batch * np.where(scores_all, prompt_tokens, 1)


def prefill_logits_bytes(
    scored_tokens, served_outputs, served_logit_bytes_each, is_engine, sampler_bytes, softcap
):
    """Logits of the prompt, twice if they are capped; an engine has its sampler's. [B]"""
    return np.where(
        is_engine > 0,
        sampler_bytes,
        scored_tokens * served_outputs * served_logit_bytes_each * (1 + softcap),
    )


def decode_logits_bytes(batch, served_outputs, served_logit_bytes_each, generates):
    """Logits of one decode step. [B]

    By definition.
    """
    return generates * batch * served_outputs * served_logit_bytes_each


def prefill_block_bytes(
    stack_forward_bytes_per_token,
    stack_tokens,
    stack_layers_here,
    stack_side,
    prompt_share,
    tower_forward_bytes,
):
    """Working set of the widest block over the prompt, or of a vision tower. [B]

    An encoder of images or sound reads everything at once.
    """
    share = np.where(stack_side == FIXED_SIDE, 1, prompt_share)
    of_blocks = np.max(
        stack_forward_bytes_per_token * stack_tokens * (stack_layers_here > 0) * share, axis=0
    )
    return np.maximum(of_blocks, tower_forward_bytes)


def prefill_activations_bytes(is_engine, engine_forward_bytes, prefill_block_bytes):
    """Working set of the prompt: the widest block's, or an engine's profile. [B]"""
    return np.where(is_engine > 0, engine_forward_bytes, prefill_block_bytes)


def prefill_hidden_bytes(is_engine, batch, prompt_tokens, hidden, served_logit_bytes_each):
    """Final hidden states of the prompt; an engine's are part of its profile. [B]"""
    return np.where(is_engine > 0, 0.0, batch * prompt_tokens * hidden * served_logit_bytes_each)


def start_up_bytes(
    prefill_activations_bytes, dequantized_bytes, prefill_hidden_bytes, prefill_logits_bytes
):
    """The largest moment of the start-up profile, without the weights. [B]"""
    return np.maximum(
        prefill_activations_bytes + dequantized_bytes, prefill_hidden_bytes + prefill_logits_bytes
    )
