"""Fixed times of a decode step: of the software, the card, and the CPU that launches it.

Source: catalogs/calibrated, fitted to published serving (validation/speed.py)."""

import numpy as np


def whole_blocks(stack_layers, stack_heads, stack_state_bytes, stack_met_ffn_width):
    """Blocks of all stacks; one of a mixer or of a network alone counts as half. [blocks]

    Nemotron-H alternates between them, each behind a norm of its own. Source: transformers,
    models/nemotron_h/modeling_nemotron_h.py, NemotronHBlock.
    """
    mixes = (stack_heads > 0) | (stack_state_bytes > 0)
    halves = mixes * 1.0 + (stack_met_ffn_width > 0)
    return np.sum(stack_layers * np.maximum(halves, 1), axis=0) / 2


def latent_blocks(stack_layers, stack_latent_width):
    """Blocks with latent attention. [blocks]

    By definition.
    """
    return np.sum(stack_layers * (stack_latent_width > 0), axis=0)


def gap_ratio(fused_gap_ratio, latent_blocks):
    """Share of the card's gaps between kernels that an inference engine leaves. [share]

    TensorRT-LLM adds the residual, normalizes and quantizes in the kernel of an all-reduce or of a
    norm; its blocks with latent attention have as many gaps as others'. Source: TensorRT-LLM,
    AllReduceFusionOp.RESIDUAL_RMS_NORM; catalogs/edited/choices.yaml, inference_engines.
    """
    return np.where(latent_blocks > 0, 1, fused_gap_ratio)


def replayed_experts_seconds(
    expert_blocks,
    card_expert_block_seconds,
    card_expert_cast_seconds,
    card_shipped_expert_seconds,
    compute_bytes_each,
    casts_experts,
    runs_shipped_kernels,
    experts_only,
    gap_ratio,
    widened_expert_seconds,
):
    """Time that experts add to a step that is replayed as one CUDA graph. [s]

    Experts in 8 or 4 bits have their inputs cast before each of two products. As shipped, some
    engines run them with a kernel that was not chosen for the card. The kernel for MXFP4 that casts
    its inputs routes and multiplies in one call. Source: vLLM, fused_moe/utils.py,
    moe_kernel_quantize_input; FlashInfer, fused_moe/core.py, trtllm_fp4_block_scale_moe;
    TensorRT-LLM, fused_moe_triton.py, which widens MXFP4 on Hopper in Triton's matmul_ogs.
    """
    casts = (compute_bytes_each < 2) * card_expert_cast_seconds
    shipped = runs_shipped_kernels * (1 - experts_only) * card_shipped_expert_seconds
    each = (card_expert_block_seconds + casts) * gap_ratio + shipped
    apart = expert_blocks * (each + experts_only * widened_expert_seconds)
    return np.where(casts_experts > 0, 0, apart)


def replayed_sequences_seconds(
    running_sequences,
    whole_blocks,
    card_sequence_seconds,
    card_sequence_block_seconds,
    release_sequence_seconds,
):
    """Time that the sequences add to a step that is replayed as one CUDA graph. [s]

    Engines before vLLM's V1 also loop over them in Python. Source: vLLM's blog of 27 January 2025,
    "vLLM V1: A Major Upgrade to vLLM's Core Architecture".
    """
    looped = np.nan_to_num(release_sequence_seconds)
    each = card_sequence_seconds + looped + whole_blocks * card_sequence_block_seconds
    return running_sequences * each


def block_gap_seconds(card_block_seconds, release_block_ratio, gap_ratio, release_piece_seconds):
    """Gaps between the kernels of one block in a replayed step; older releases leave more. [s]

    Some replay the block alone as a graph and launch its attention between two of them. Source:
    vLLM, pull request 25444, whole steps as one graph by default, first in release 0.11.
    """
    of_release = np.where(np.isnan(release_block_ratio), 1, release_block_ratio)
    return card_block_seconds * of_release * gap_ratio + np.nan_to_num(release_piece_seconds)


def latent_gaps_seconds(latent_blocks, card_latent_block_seconds, release_latent_seconds):
    """Time that latent attention adds to a replayed step beside its traffic. [s]

    Its projections, the products that its latent absorbs and the sum of its splits are kernels of
    their own; some releases launch them between the pieces of a graph. Source: vLLM,
    layers/attention/mla_attention.py; pull requests 20059 and 42885, a step as one whole graph.
    """
    each = card_latent_block_seconds + np.nan_to_num(release_latent_seconds)
    return latent_blocks * each


def replayed_step_seconds(
    whole_blocks,
    card_step_seconds,
    block_gap_seconds,
    latent_gaps_seconds,
    replayed_experts_seconds,
    replayed_sequences_seconds,
):
    """Fixed time of a step replayed as one CUDA graph, and gaps between its kernels. [s]"""
    return (
        card_step_seconds
        + whole_blocks * block_gap_seconds
        + latent_gaps_seconds
        + replayed_experts_seconds
        + replayed_sequences_seconds
    )


def decode_fixed_seconds(
    running_sequences,
    model_blocks,
    engine_device_seconds_per_block,
    engine_seconds_per_sequence,
    engine_replays_steps,
    replayed_step_seconds,
):
    """Fixed time of a decode step: the software's, and the card's where steps are replayed. [s]"""
    engine = (
        model_blocks * engine_device_seconds_per_block
        + running_sequences * engine_seconds_per_sequence
    )
    return engine + np.where(engine_replays_steps > 0, replayed_step_seconds, 0)


def replays_decode(sequence_tokens, engine_replays_steps, release_captured_tokens):
    """1 if decode steps are replayed; some releases replay short sequences alone. [0 or 1]

    Source: vLLM 0.4, worker/model_runner.py.
    """
    return (engine_replays_steps > 0) & ~(sequence_tokens > release_captured_tokens)


def decode_host_seconds(
    stack_layers,
    launched_block_seconds,
    stack_launched_experts_seconds,
    touched_experts_ratio,
    engine_loops_experts,
    idle_expert_launch_ratio,
    replays_decode,
):
    """Time in which the CPU launches one decode step's kernels; none of a replayed step. [s]

    transformers before its grouped products loops over all experts of a block; those that no token
    chose have no products, but their indices. Source: modeling_mixtral.py and
    modeling_qwen2_moe.py of transformers 4.36 to 4.50, MoeBlock.forward.
    """
    idle_ratio = engine_loops_experts * (1 - touched_experts_ratio)
    launched_ratio = touched_experts_ratio + idle_ratio * idle_expert_launch_ratio
    launches = np.sum(
        stack_layers * (launched_block_seconds + stack_launched_experts_seconds * launched_ratio),
        axis=0,
    )
    return np.where(replays_decode, 0, launches)
