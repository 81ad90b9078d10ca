"""Communication of prompts, and prompts that hold up other copies of attention.

Copies of attention that share one copy of the experts take every step together. Source: vLLM's
documentation, data parallel deployment: "Forward passes must be aligned, and expert layers across
all ranks are required to synchronize during every forward pass".
"""

import numpy as np

RAREST_PASSES = 1e-9  # of a copy with prompts per step, so that a share of them exists


def prefill_exchange_seconds(
    batch,
    computed_tokens,
    expert_blocks,
    hidden,
    tensor_parallel,
    expert_gpus,
    expert_ring_bytes_per_second,
    card_all_reduce_ratio,
):
    """Two exchanges per block of experts that copies of attention share, for all prompts. [s]

    In 16 bits; every GPU gathers the tokens of all copies and scatters the sums. Source: vLLM,
    distributed/device_communicators/all2all.py, its plain way.
    """
    copies = expert_gpus / tensor_parallel
    gathered_bytes = 2 * hidden * batch * computed_tokens * (copies - 1)
    reached = expert_ring_bytes_per_second * card_all_reduce_ratio
    return np.where(copies > 1, 2 * expert_blocks * gathered_bytes / reached, 0)


def prefill_link_seconds(
    tensor_parallel_seconds,
    context_parallel_seconds,
    prefill_exchange_seconds,
    pipeline_parallel,
    engine_replays_steps,
    card_all_reduce_ratio,
):
    """Communication of a batch's prefill; an engine's all-reduces reach a share of the link. [s]"""
    reached = np.where(engine_replays_steps > 0, card_all_reduce_ratio, 1)
    of_stage = tensor_parallel_seconds / reached + context_parallel_seconds
    return of_stage * pipeline_parallel + prefill_exchange_seconds


def shared_prompt_seconds(
    batch,
    expert_matmul_flops,
    expert_matmul_ratio,
    products_flops_per_second,
    tensor_parallel,
    prefill_exchange_seconds,
):
    """The part of a prompt's prefill that all copies of attention do together. [s]

    Its experts lie on the GPUs of all copies, and its tokens cross between them.
    """
    dense_flops = expert_matmul_flops / expert_matmul_ratio
    experts_seconds = dense_flops / products_flops_per_second / tensor_parallel
    return (experts_seconds + prefill_exchange_seconds) / batch


def apart_prompts_ratio(
    running_sequences, prompt_passes, generated_tokens, expert_gpus, tensor_parallel
):
    """Steps in which some copy has a prompt, over those of all copies one by one. [share]

    A copy has a prompt in the share q of its steps, from one step to the next by chance: of n
    copies some has one in 1 − (1 − q)^n, which is n q where q is small. By definition.
    """
    copies = expert_gpus / tensor_parallel
    passes = running_sequences * prompt_passes / np.maximum(generated_tokens, 1)
    passes = np.maximum(passes, RAREST_PASSES)
    some = 1 - (1 - np.minimum(passes, 1)) ** copies
    return (some + np.maximum(passes - 1, 0)) / (copies * passes)
