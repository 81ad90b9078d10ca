"""Gradients and optimizer state on one GPU. Bytes.

Source: parameters · width / shards, Rajbhandari et al. 2019, arXiv 1910.02054, sections 3.1 and 5.
"""

import numpy as np


def trained_blocks_here(
    trains, adapts, blocks_parameters_here, adapter_parameters_here, tower_parameters_here
):
    """Trained parameters of the blocks and a tower; adapters leave both frozen. [elements]"""
    return trains * np.where(
        adapts > 0, adapter_parameters_here, blocks_parameters_here + tower_parameters_here
    )


def trained_outside_here(
    trains_all, outside_parameters_here, saved_embedding_here, saved_head_here
):
    """Trained parameters outside the blocks: all, or those that LoRA trains whole. [elements]"""
    return trains_all * outside_parameters_here + saved_embedding_here + saved_head_here


def trained_head_here(stage_head_here, adapts, saved_head_here):
    """Elements of the head's matrix if it is trained. [elements]"""
    return stage_head_here * (1 - adapts) + saved_head_here


def trained_embedding_here(
    embedding_parameters_here, holds_embedding, adapts, saved_embedding_here
):
    """Elements of the embedding if it is trained. [elements]"""
    return embedding_parameters_here * holds_embedding * (1 - adapts) + saved_embedding_here


def trained_ratio(adapts, adapter_parameters_here, blocks_parameters_here):
    """Trained share of the blocks' parameters; of adapters over the frozen ones. [share]"""
    return np.where(
        adapts > 0, adapter_parameters_here / np.maximum(blocks_parameters_here, 1), 1.0
    )


def trained_parameters_here(trained_blocks_here, trained_outside_here):
    """Trained parameters on one GPU before sharding. [parameters]"""
    return trained_blocks_here + trained_outside_here


def trained_bytes_each(adapts, adapter_bytes_each, matrix_bytes_each):
    """Width of a stored trained parameter. [B]"""
    return np.where(adapts > 0, adapter_bytes_each, matrix_bytes_each)


def gradient_width_bytes_each(
    adapts, adapter_bytes_each, gradient_bytes_each, gradient_override_bytes_each
):
    """Width of a kept gradient: its weight's, unless kept wider as Megatron does. [B]"""
    of_weight = np.where(adapts > 0, adapter_bytes_each, gradient_bytes_each)
    return np.where(gradient_override_bytes_each > 0, gradient_override_bytes_each, of_weight)


def new_gradient_bytes_each(adapts, fsdp_active, gathered_bytes_each, gradient_width_bytes_each):
    """Width of a gradient as it is made: under FSDP that of the gathered weight. [B]

    Where that is trained, 16 bits at least: of a weight in 8 bits too, as fp8-params has it.
    Source: catalogs/edited/precisions.yaml.
    """
    of_gathered = np.maximum(gathered_bytes_each, np.where(adapts > 0, 0, 2.0))
    return np.where(fsdp_active > 0, of_gathered, gradient_width_bytes_each)


def full_gradients_bytes(trained_parameters_here, gradient_width_bytes_each, offloads_weights):
    """All gradients of this GPU before sharding; offloaded weights have none here. [B]"""
    return trained_parameters_here * gradient_width_bytes_each * (1 - offloads_weights)


def spread_gradients_bytes(
    spread_trained_experts_here, gradient_width_bytes_each, gradient_shards, offloads_weights
):
    """Additional gradients of experts, which fewer ranks divide than other gradients. [B]"""
    return (
        (gradient_shards > 1)
        * spread_trained_experts_here
        * gradient_width_bytes_each
        * (1 - offloads_weights)
    )


def step_gradients_bytes(full_gradients_bytes, spread_gradients_bytes, gradient_shards):
    """All gradients at the optimizer's step, divided. [B]"""
    return (full_gradients_bytes + spread_gradients_bytes) / gradient_shards


def gradients_stand(
    implementation_accumulates, implementation_live_elements, shards_weights, offloads_optimizer
):
    """1 if a buffer of all gradients on the GPU stands from the start. [0 or 1]

    Recipes that always accumulate have it (litgpt), Megatron, and DeepSpeed's ZeRO 3 where its
    optimizer is on the GPU. Source: DeepSpeed 0.19.6, runtime/zero/stage3.py,
    grad_partitions_flat_buffer.
    """
    of_zero3 = (implementation_live_elements > 0) * shards_weights * (1 - offloads_optimizer)
    return np.maximum(implementation_accumulates, of_zero3)


def keeps_gradients(accumulation_steps, pipeline_parallel, gradients_stand):
    """1 if a micro-batch leaves its gradients for the next, or they stand. [0 or 1]"""
    return (accumulation_steps > 1) | (pipeline_parallel > 1) | (gradients_stand > 0)


def accumulates_unsharded(
    fsdp_active, implementation_accumulates_unsharded, trainer_reduces_each, pipeline_parallel
):
    """1 if FSDP leaves whole gradients for the next micro-batch. [0 or 1]

    Source: torch/distributed/fsdp/_fully_shard, set_requires_gradient_sync;
    torch/distributed/pipelining/stage.py.
    """
    of_software = implementation_accumulates_unsharded * (1 - trainer_reduces_each)
    return fsdp_active * np.maximum(of_software, pipeline_parallel > 1)


def accumulated_gradients_bytes(
    keeps_gradients,
    accumulates_unsharded,
    trained_parameters_here,
    whole_gradient_bytes_each,
    step_gradients_bytes,
):
    """Gradients that micro-batches leave for the next. [B]"""
    unsharded = trained_parameters_here * whole_gradient_bytes_each
    return np.where(accumulates_unsharded > 0, unsharded, step_gradients_bytes) * keeps_gradients


def state_width_bytes_each(adapts, adapter_bytes_each, state_bytes_each, fixed_state_bytes_each):
    """Width of one element of optimizer state: its weight's, or fixed (8 bits). [B]

    Source: Dettmers et al. 2021, arXiv 2110.02861; bitsandbytes/optim/optimizer.py.
    Valid: tensors under 4,096 elements, which bitsandbytes leaves in 32 bits, are counted in 8.
    """
    return np.where(
        fixed_state_bytes_each > 0,
        fixed_state_bytes_each,
        np.where(adapts > 0, adapter_bytes_each, state_bytes_each),
    )


def sharded_blocks_here(trained_blocks_here, spread_trained_experts_here, optimizer_shards):
    """Trained parameters of the blocks, experts by the ranks that divide them. [elements]"""
    return trained_blocks_here + spread_trained_experts_here * (optimizer_shards > 1)


def wide_embedding_bytes(
    embedding_in_fp32,
    implementation_embedding_state_in_fp32,
    trains_all,
    embedding_parameters_here,
    outer_states,
    state_width_bytes_each,
):
    """Additional bytes of 8-bit optimizers, whose embedding has fp32 state. [B]

    Source: Dettmers et al. 2021, arXiv 2110.02861, section 2.3.
    """
    kept_wide = embedding_in_fp32 * implementation_embedding_state_in_fp32 * trains_all
    return kept_wide * embedding_parameters_here * outer_states * (4 - state_width_bytes_each)


def master_copy_bytes(master_bytes_each, adapts, sharded_blocks_here, trained_outside_here):
    """The fp32 master copy of the trained weights, before sharding. [B]"""
    return master_bytes_each * (1 - adapts) * (sharded_blocks_here + trained_outside_here)


def optimizer_states_bytes(
    sharded_blocks_here, trained_outside_here, matrix_states, outer_states, state_width_bytes_each
):
    """Optimizer state before sharding; Adam's two moments: Kingma and Ba, arXiv 1412.6980. [B]"""
    return (
        sharded_blocks_here * matrix_states + trained_outside_here * outer_states
    ) * state_width_bytes_each


def resident_optimizer_bytes(
    optimizer_states_bytes,
    wide_embedding_bytes,
    master_copy_bytes,
    optimizer_shards,
    offloads_optimizer,
):
    """Optimizer state and the fp32 master copy, divided by the optimizer's shards. [B]

    Source: Rajbhandari et al. 2019, arXiv 1910.02054, sections 3.1 and 5.1.
    """
    state_bytes = optimizer_states_bytes + wide_embedding_bytes
    return (state_bytes + master_copy_bytes) / optimizer_shards * (1 - offloads_optimizer)
