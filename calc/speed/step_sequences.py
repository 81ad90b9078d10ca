"""Prompts and generated answers that one step of a training run works on.

By definition.
"""

import numpy as np


def step_prompts(prompts_per_step, batch_sequences, accumulation_steps, data_parallel, generations):
    """Prompts of one step: as set, or as many as its micro-batches take answers. [prompts]"""
    usual = batch_sequences * accumulation_steps * data_parallel / np.nan_to_num(generations, nan=1)
    return np.where(np.isnan(prompts_per_step), usual, prompts_per_step)


def step_sequences(
    rolls_out, step_prompts, generations, batch_sequences, accumulation_steps, data_parallel
):
    """Sequences of one step: all answers, or those of its micro-batches. [sequences]"""
    answers = step_prompts * np.nan_to_num(generations, nan=1)
    return np.where(rolls_out > 0, answers, batch_sequences * accumulation_steps * data_parallel)


def mean_answer_tokens(completion_tokens_mean, completion_tokens):
    """Mean tokens of an answer. [tokens]"""
    return np.where(
        np.isnan(completion_tokens_mean),
        completion_tokens,
        np.minimum(completion_tokens_mean, completion_tokens),
    )
