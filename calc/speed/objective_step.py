"""One step of a training run: rollout, log-probabilities, update, weights to the engine.

The phases run in turn on the same cards, or on separate cards, which wait. If the run is
asynchronous, the rollout of the next step runs beside the rest. Source: the phases as TRL, verl and
NeMo-RL run them (catalogs/edited/trainers.yaml); loop_ratio:
catalogs/calibrated/time_constants.yaml.
"""

import numpy as np


def trained_tokens_ratio(
    rolls_out, prompt_tokens, mean_answer_tokens, sequence_tokens, removes_padding
):
    """Share of the longest sequence's tokens that are computed; less without padding. [share]"""
    mean = (prompt_tokens + mean_answer_tokens) / sequence_tokens
    return np.where((rolls_out > 0) & (removes_padding > 0), np.minimum(mean, 1), 1.0)


def update_micro_batches(
    rolls_out, step_sequences, rollout_epochs, batch_sequences, data_parallel, accumulation_steps
):
    """Micro-batches of one step on each replica, of a rollout in all its epochs. [micro-batches]"""
    return np.where(
        rolls_out > 0,
        step_sequences * rollout_epochs / (batch_sequences * data_parallel),
        accumulation_steps,
    )


def update_steps(rolls_out, update_micro_batches, accumulation_steps):
    """Optimizer steps on one rollout's answers. [steps]"""
    return np.where(rolls_out > 0, np.maximum(update_micro_batches / accumulation_steps, 1), 1.0)


def batches_seconds(
    micro_batch_seconds,
    update_micro_batches,
    trained_tokens_ratio,
    pipeline_bubble_ratio,
    loop_ratio,
):
    """All micro-batches of one step. [s]"""
    return (
        update_micro_batches
        * micro_batch_seconds
        * (1 + pipeline_bubble_ratio)
        * trained_tokens_ratio
        * loop_ratio
    )


def value_work_ratio(value_parameters, parameters):
    """Work of a model of that many parameters, relative to the policy's. [ratio]"""
    return value_parameters / parameters


def update_seconds(
    trains,
    batches_seconds,
    value_work_ratio,
    update_steps,
    synchronization_seconds,
    optimizer_seconds,
    time_run_ratio,
):
    """Forward, backward and step, also of a value model, as your runs correct it. [s]"""
    batches = batches_seconds * (1 + value_work_ratio)
    return np.where(
        trains > 0,
        (batches + update_steps * synchronization_seconds + update_steps * optimizer_seconds)
        * time_run_ratio,
        np.nan,
    )


def quiet_passes(scores_reference, rolls_out, value_work_ratio, reward_parameters, parameters):
    """Forward passes without gradient over a step's sequences, in the policy's. [passes]

    The policy that generated them, its reference, the value model, a reward model.
    """
    return scores_reference + rolls_out * (1 + value_work_ratio + reward_parameters / parameters)


def log_prob_seconds(
    batches_seconds,
    quiet_passes,
    repeated_products_ratio,
    weight_gradient_ratio,
    rollout_epochs,
    time_run_ratio,
):
    """Time of those passes: each a forward of the update's 2 + recompute + gradients. [s]"""
    forward = batches_seconds / (2 + repeated_products_ratio + weight_gradient_ratio)
    return forward / rollout_epochs * quiet_passes * time_run_ratio


def leaving_bytes(weights_leave, states_leave, stored_weights_bytes, resident_optimizer_bytes):
    """Training state that leaves the card for the rollout. [B]"""
    return weights_leave * stored_weights_bytes + states_leave * resident_optimizer_bytes


def refit_seconds(
    parameters,
    generates_itself,
    rolls_out_apart,
    engine_sleeps,
    trainer_refit_bytes_per_second,
    trainer_apart_refit_bytes_per_second,
    trainer_wake_seconds,
):
    """Time to send all new weights to the engine in 16 bits, and to wake it. [s]

    Tensors are gathered, renamed and loaded one after another. Source:
    catalogs/edited/trainers.yaml.
    """
    rate = np.where(
        rolls_out_apart > 0, trainer_apart_refit_bytes_per_second, trainer_refit_bytes_per_second
    )
    refit = 2 * parameters / rate + engine_sleeps * trainer_wake_seconds
    return np.where(generates_itself > 0, 0.0, refit)


def sync_seconds(rolls_out, refit_seconds, leaving_bytes, pcie_bytes_per_second):
    """Time to send new weights to the engine and to reload what made room for it. [s]"""
    return np.where(rolls_out > 0, refit_seconds + 2 * leaving_bytes / pcie_bytes_per_second, 0.0)


def phases_seconds(log_prob_seconds, update_seconds, sync_seconds):
    """Time of all phases of a step but its rollout. [s]"""
    return update_seconds + log_prob_seconds + sync_seconds


def step_seconds(runs_beside, rollout_seconds, phases_seconds):
    """Time of one step: its phases in turn, or the longer of rollout and the rest. [s]"""
    return np.where(
        runs_beside > 0,
        np.maximum(rollout_seconds, phases_seconds),
        phases_seconds + rollout_seconds,
    )


def rollout_idle_share(rolls_out_apart, rollout_seconds, step_seconds):
    """Share of a step in which GPUs that only generate wait; they are paid for. [share]"""
    return np.where(rolls_out_apart > 0, 1 - rollout_seconds / step_seconds, 0.0)
