"""Passes of an engine with prompts in them: their number, and which are replayed.

Source: vLLM 0.19, config/compilation.py, CUDAGraphMode.FULL_AND_PIECEWISE, and config/vllm.py,
_set_cudagraph_sizes; catalogs/edited/choices.yaml, inference_engines and load_patterns.
"""

import numpy as np


def computed_tokens(pass_tokens, prefix_prompt_tokens):
    """Tokens of one prompt that are computed; none from the prefix cache. [tokens]"""
    return pass_tokens - prefix_prompt_tokens


def passed_tokens(computed_tokens, engine_batched_tokens, is_engine):
    """Tokens of one prompt that pass at once: an engine cuts it at its budget. [tokens]

    Source: vLLM, v1/core/sched/scheduler.py, schedule: num_new_tokens = min(num_new_tokens,
    token_budget).
    """
    return np.where(
        is_engine > 0, np.minimum(computed_tokens, engine_batched_tokens), computed_tokens
    )


def prompt_passes(computed_tokens, passed_tokens):
    """Forward passes of one prompt. [passes]"""
    return np.ceil(computed_tokens / np.maximum(passed_tokens, 1))


def burst_passes(batch, computed_tokens, engine_batched_tokens, is_engine):
    """Forward passes of a batch of prompts that wait together: they share each budget. [passes]"""
    return np.where(is_engine > 0, np.ceil(batch * computed_tokens / engine_batched_tokens), 1)


def burst_wait_ratio(batch, computed_tokens, engine_batched_tokens, is_engine):
    """Mean wait for a first token in a burst, of the burst's time. [share]

    All prompts of a pass get theirs at its end. With a budget that is x of the burst's tokens, x of
    the prompts end with each of the passes but the last, at x, 2x and so on of its time. Source:
    SGLang, managers/schedule_policy.py, PrefillAdder; vLLM, v1/core/sched/scheduler.py.
    """
    budget_ratio = np.minimum(engine_batched_tokens / (batch * np.maximum(computed_tokens, 1)), 1)
    full_passes = np.ceil(1 / budget_ratio) - 1
    of_full = budget_ratio**2 * full_passes * (full_passes + 1) / 2
    return np.where(is_engine > 0, of_full + 1 - full_passes * budget_ratio, 1)


def prompts_of_pass(expert_batch, computed_tokens, engine_batched_tokens, shares_passes):
    """Prompts that one pass takes, of requests of one length that are sent together. [prompts]

    They end together, and the prompts that follow share the engine's budget.
    """
    most = np.maximum(engine_batched_tokens / np.maximum(computed_tokens, 1), 1)
    return np.where(shares_passes > 0, np.minimum(most, expert_batch), 1.0)


def captured_prompt_tokens(
    generates,
    is_engine,
    replayed_prompt_tokens,
    kernel_replayed_prompt_tokens,
    release_replayed_prompt_tokens,
):
    """Tokens up to which an engine replays a pass with prompts in it. [tokens]

    A model may ask its engine for more. Source: vLLM, model_executor/models/config.py,
    GptOssForCausalLMConfig.
    """
    of_model = np.maximum(replayed_prompt_tokens, kernel_replayed_prompt_tokens)
    newest = np.where(replayed_prompt_tokens > 0, of_model, 0)
    of_release = np.where(
        np.isnan(release_replayed_prompt_tokens), newest, release_replayed_prompt_tokens
    )
    return of_release * is_engine * generates


def replays_prompt(computed_tokens, running_sequences, captured_prompt_tokens):
    """1 if the pass of one prompt, with a token of each other sequence, is replayed. [0 or 1]

    By definition.
    """
    return computed_tokens + running_sequences - 1 <= captured_prompt_tokens


def replays_prompts(computed_tokens, prompts_of_pass, running_sequences, captured_prompt_tokens):
    """1 if a pass of prompts and a token of each other request is replayed. [0 or 1]

    By definition.
    """
    others = np.maximum(running_sequences - prompts_of_pass, 0)
    return computed_tokens * prompts_of_pass + others <= captured_prompt_tokens


def replays_burst(batch, computed_tokens, captured_prompt_tokens):
    """1 if the pass of a whole batch of prompts is replayed. [0 or 1]

    By definition.
    """
    return batch * computed_tokens <= captured_prompt_tokens


def engine_ahead_steps(scheduled_ahead_steps, release_ahead_steps):
    """Steps before an arrival: half of the running one, and those scheduled ahead. [steps]

    Source: vLLM, pull request 27614, asynchronous scheduling by default, first in release 0.14.
    """
    return np.where(np.isnan(release_ahead_steps), scheduled_ahead_steps, release_ahead_steps)


def wave_passes(running_sequences, prompts_of_pass):
    """Passes that the prompts of all sequences in flight take, at least one. [passes]

    By definition.
    """
    return running_sequences / prompts_of_pass
