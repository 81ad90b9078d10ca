"""Generating answers on the GPUs that train, and passes without gradient. Bytes on one GPU.

A colocated engine takes a share of the card; while it sleeps it keeps nothing but its context. The
library or the scenario decides what training moves off the card meanwhile. Source: vLLM, sleep
mode; TRL, verl and NeMo-RL by catalogs/edited/trainers.yaml.
"""

import numpy as np


def engine_share_bytes(colocates_engine, rollout_share, rollout_card_bytes):
    """Memory of a colocated engine while it generates; left out without a card. [B]"""
    return np.where(colocates_engine > 0, np.nan_to_num(rollout_share * rollout_card_bytes), 0.0)


def awake_engine_bytes(engine_share_bytes, engine_sleeps):
    """Memory of a colocated engine while the policy is scored and trained. [B]"""
    return engine_share_bytes * (1 - engine_sleeps)


def rollout_weights_bytes(stored_weights_bytes, weights_leave):
    """Weights of the policy while answers are generated. [B]"""
    return stored_weights_bytes * (1 - weights_leave)


def rollout_optimizer_bytes(resident_optimizer_bytes, states_leave):
    """Optimizer state while answers are generated. [B]"""
    return resident_optimizer_bytes * (1 - states_leave)


def rollout_models_bytes(standing_models_bytes, weights_leave):
    """The other models while answers are generated. [B]"""
    return standing_models_bytes * (1 - weights_leave)


def answers_cache_bytes(
    generates_itself,
    stack_layers_here,
    stack_cached_elements_per_token,
    stack_tokens,
    accumulation_steps,
):
    """Keys and values of all answers of a step if the policy generates them itself. [B]

    They have 16 bits, and all answers of a step are generated at once (TRL, grpo_trainer.py,
    steps_per_generation).
    """
    cached_elements = np.sum(
        stack_layers_here * stack_cached_elements_per_token * stack_tokens, axis=0
    )
    return generates_itself * 2 * cached_elements * accumulation_steps


def scored_batch_ratio(log_prob_batch, batch):
    """Sequences in a pass without gradient, relative to those of a micro-batch. [ratio]"""
    return np.where(np.isnan(log_prob_batch), 1.0, log_prob_batch / batch)


def scores_first(scores_reference, rolls_out):
    """1 if log-probabilities are computed in a phase of their own. [0 or 1]"""
    return np.maximum(scores_reference, rolls_out)


def quiet_activations_bytes(
    scores_first, scored_batch_ratio, stack_saved_bytes_per_token, stack_tokens, stack_layers_here
):
    """Working set of a pass without gradient: at most what the widest block would save. [B]"""
    widest = np.max(stack_saved_bytes_per_token * stack_tokens * (stack_layers_here > 0), axis=0)
    return scores_first * scored_batch_ratio * widest


def quiet_logits_bytes(
    scores_first, scored_batch_ratio, scores_quiet_bytes, quiet_activations_bytes
):
    """Log-probabilities of that pass, after the working set of its blocks is freed. [B]"""
    return np.maximum(
        scores_first * scored_batch_ratio * scores_quiet_bytes - quiet_activations_bytes, 0
    )


def earlier_release_bytes(
    stored_weights_bytes,
    resident_optimizer_bytes,
    scored_models_bytes,
    awake_engine_bytes,
    head_earlier_gradients_bytes,
    saved_activations_bytes,
    backward_working_bytes,
    earlier_scores_bytes,
):
    """Start of the backward pass in the first known release of the trainer. [B]"""
    standing = (
        stored_weights_bytes + resident_optimizer_bytes + scored_models_bytes + awake_engine_bytes
    )
    return (
        standing
        + head_earlier_gradients_bytes
        + saved_activations_bytes
        + backward_working_bytes
        + earlier_scores_bytes
    )
