"""Generating the answers of a step: prompts, decode steps of all, and the longest answer.

The engine is vLLM as it serves, or the policy itself in transformers' generate. While all answers
are being generated, a decode step has their batch; the mean answer ends there. The longest answer
ends the phase. A step is a fixed time and one that grows with the batch, so the remainder of the
longest answer counts as steps of one sequence. Source: catalogs/calibrated/engines.yaml,
serving_steps.yaml and time_constants.yaml (rollout_loop_ratio); trainers:
catalogs/edited/trainers.yaml.
"""

import numpy as np

from calc.evaluate import variant

MOST_SEQUENCES = 1024  # at once in one engine: vLLM's max_num_seqs on large cards
NETWORK_START_SECONDS = (
    50e-6  # of a small all-reduce over the network: assumed, no published run tells it apart
)
RESERVE_BYTES = 3e9  # of an engine's share beside weights and cache: profile, graphs, context


def met_experts_ratio(stack_experts, stack_experts_per_token):
    """Share of its experts that one token meets, in the block with most. [share]"""
    return np.max(
        np.where(stack_experts > 0, stack_experts_per_token / np.maximum(stack_experts, 1), 0),
        axis=0,
    )


def loop_ratio(rolls_out, met_experts_ratio, trainer_loop_ratio, trainer_loop_experts_ratio):
    """Time of phases over their work alone: data, uneven answers; 1 without rollout. [ratio]

    Source: loop ratios of catalogs/edited/trainers.yaml.
    """
    return np.where(
        rolls_out > 0,
        np.where(met_experts_ratio > 0, trainer_loop_experts_ratio, trainer_loop_ratio),
        1.0,
    )


def generator_gpus(generates_itself, replica_gpus, rollout_tensor_parallel):
    """GPUs that generate one answer together. [GPUs]"""
    return np.where(generates_itself > 0, replica_gpus, rollout_tensor_parallel)


def generator_sequences(
    rolls_out,
    step_sequences,
    generates_itself,
    data_parallel,
    rollout_gpus,
    rollout_tensor_parallel,
):
    """Answers of a step that one engine generates. [sequences]"""
    engines = np.where(generates_itself > 0, data_parallel, rollout_gpus / rollout_tensor_parallel)
    return np.where(rolls_out > 0, np.maximum(step_sequences / engines, 1), 0)


def generator_token_bytes(stack_layers, stack_read_elements_per_token, generator_gpus):
    """Keys and values of one token on one GPU, in 16 bits. [B]"""
    return 2 * np.sum(stack_layers * stack_read_elements_per_token, axis=0) / generator_gpus


def generator_room_sequences(
    rollout_share,
    rollout_card_bytes,
    engine_weights_bytes,
    generator_token_bytes,
    prompt_tokens,
    mean_answer_tokens,
    generates_itself,
):
    """Answers that fit in one engine's cache. [sequences]"""
    room = np.maximum(rollout_share * rollout_card_bytes - engine_weights_bytes - RESERVE_BYTES, 0)
    tokens = prompt_tokens + mean_answer_tokens / 2
    answers = np.where(
        np.isnan(room) | (generates_itself > 0),
        np.inf,
        room / np.maximum(generator_token_bytes * tokens, 1),
    )
    return np.maximum(np.minimum(answers, MOST_SEQUENCES), 1)


def answers_at_once(generator_sequences, generator_room_sequences):
    """Answers that one engine generates at once. [sequences]"""
    return np.maximum(np.minimum(generator_sequences, generator_room_sequences), 1)


def generator_read_parameters(
    linear_parameters, expert_parameters, met_experts_ratio, answers_at_once, outputs, hidden
):
    """Weights that a decode step of all answers reads; of experts those met. [parameters]

    Source: Shazeer et al. 2017, arXiv 1701.06538.
    """
    unmet = expert_parameters * (1 - met_experts_ratio) ** answers_at_once
    return linear_parameters - np.where(met_experts_ratio > 0, unmet, 0) + outputs * hidden


def generator_flops_per_second(
    gpu_bf16_flops_per_second, card_matmul_ratio, generator_matmul_ratio, generator_gpus
):
    """Rate that an engine's products reach. [FLOP/s]"""
    return gpu_bf16_flops_per_second * card_matmul_ratio * generator_matmul_ratio * generator_gpus


def generator_token_flops(stack_active_parameters, outputs, hidden):
    """Products of one token in a forward pass, head included. [FLOP]"""
    return 2 * (np.sum(stack_active_parameters, axis=0) + outputs * hidden)


def generator_bytes_per_second(gpu_bandwidth_bytes_per_second, generator_bandwidth_ratio):
    """Memory bandwidth that a decode step of the rollout reaches. [B/s]"""
    return gpu_bandwidth_bytes_per_second * generator_bandwidth_ratio


def generator_weights_seconds(
    generator_read_parameters,
    generator_gpus,
    generator_bytes_per_second,
    answers_at_once,
    generator_token_flops,
    generator_flops_per_second,
):
    """Weights or products of a decode step of all answers, whichever is longer. [s]"""
    read = 2 * generator_read_parameters / generator_gpus / generator_bytes_per_second
    return np.maximum(read, answers_at_once * generator_token_flops / generator_flops_per_second)


def generator_cache_seconds(
    generator_token_bytes, prompt_tokens, mean_answer_tokens, generator_bytes_per_second
):
    """Reading one answer's cache in a decode step, half of the answer there. [s]"""
    return (
        generator_token_bytes
        * (prompt_tokens + mean_answer_tokens / 2)
        / generator_bytes_per_second
    )


def generator_reduce_seconds(generator_gpus, island_gpus, card_all_reduce_seconds):
    """Start of a block's two all-reduces in an engine of several GPUs. [s]"""
    inside = np.where(generator_gpus > 1, np.nan_to_num(card_all_reduce_seconds), 0)
    return 2 * np.where(generator_gpus > island_gpus, NETWORK_START_SECONDS, inside)


def generator_fixed_seconds(
    model_blocks,
    card_step_seconds,
    card_block_seconds,
    generates_itself,
    policy_block_seconds,
    generator_reduce_seconds,
):
    """Fixed time of a decode step: the card's, all-reduces, or launching block by block. [s]"""
    launched = np.where(generates_itself > 0, policy_block_seconds, 0)
    return card_step_seconds + model_blocks * (
        card_block_seconds + generator_reduce_seconds + launched
    )


def generator_sequence_seconds(model_blocks, card_sequence_seconds, card_sequence_block_seconds):
    """Time that each answer adds to a decode step beside its cache. [s]"""
    return card_sequence_seconds + model_blocks * card_sequence_block_seconds


def generator_step_seconds(
    generator_fixed_seconds,
    generator_weights_seconds,
    answers_at_once,
    generator_cache_seconds,
    generator_sequence_seconds,
):
    """A decode step of all answers at once. [s]"""
    grows = answers_at_once * (generator_cache_seconds + generator_sequence_seconds)
    return generator_fixed_seconds + generator_weights_seconds + grows


LAST = {
    "generator_step": "last_step",
    "generator_weights": "last_weights",
    "generator_read": "last_read",
    "answers_at_once": "last_answers",
}


def last_answers(rolls_out):
    """The answers of the last decode steps: one. [sequences]"""
    return np.where(rolls_out > 0, 1.0, 0.0)


last_read_parameters = variant(
    generator_read_parameters,
    rename=LAST,
    doc="""Weights that a decode step of the last answer reads. [parameters]

    Of experts those that its token meets. Source: Shazeer et al. 2017, arXiv 1701.06538.
    """,
)
last_weights_seconds = variant(
    generator_weights_seconds,
    rename=LAST,
    doc="Weights or products of a decode step of the last answer, whichever takes longer. [s]",
)
last_step_seconds = variant(
    generator_step_seconds, rename=LAST, doc="A decode step of the last answer alone. [s]"
)


def generator_prefill_seconds(
    generator_sequences,
    generations,
    prompt_tokens,
    generator_token_flops,
    generator_flops_per_second,
    generator_request_seconds,
):
    """The prompts of an engine, each once for all of its answers. [s]

    Source: vLLM, automatic prefix caching.
    """
    prompts = generator_sequences / np.nan_to_num(generations, nan=1)
    return (
        generator_request_seconds
        + prompts * prompt_tokens * generator_token_flops / generator_flops_per_second
    )


def rollout_seconds(
    rolls_out,
    generator_prefill_seconds,
    mean_answer_tokens,
    completion_tokens,
    generator_sequences,
    answers_at_once,
    generator_step_seconds,
    last_step_seconds,
    loop_ratio,
):
    """Generation of a step's answers: the mean of all, then the longest one's rest. [s]

    Answers that find no room wait, in as many turns as sequences / answers at once.
    """
    turns = generator_sequences / answers_at_once
    decoded = (
        mean_answer_tokens * turns * generator_step_seconds
        + (completion_tokens - mean_answer_tokens) * last_step_seconds
    )
    return np.where(rolls_out > 0, (generator_prefill_seconds + decoded) * loop_ratio, 0.0)
