"""Models besides the policy: reference, reward, and a value model that is trained. Bytes.

Source: TRL 0.24 to 1.16, trainer/*_trainer.py: prepare_deepspeed and prepare_fsdp divide them as
the policy; simulated (validation/data/post_training.csv).
"""

import numpy as np

REFERENCE_BYTES_EACH = 2  # of a reference in CPU memory


def model_gpus(tensor_parallel, pipeline_parallel):
    """GPUs that divide a model's weights before sharding. [GPUs]"""
    return tensor_parallel * pipeline_parallel


def value_parameters_here(value_parameters, model_gpus):
    """Parameters of the value model on one GPU before sharding. [parameters]"""
    return value_parameters / model_gpus


def trained_value_here(trains_all, trains_value, adapter_parameters_here, value_parameters_here):
    """Trained parameters of the value model: all, or adapters as the policy's. [elements]"""
    return trains_value * np.where(trains_all > 0, value_parameters_here, adapter_parameters_here)


def reference_on_host(keeps_reference, trainer_offloads_reference, fsdp_active):
    """1 if a reference is in CPU memory and is copied to the card block by block. [0 or 1]

    Source: verl 1dda039b9, workers/engine/fsdp/transformer_impl.py, _build_fsdp_module: CPUOffload
    of FSDP for an engine that only runs forward, whatever its options say.
    """
    return keeps_reference * trainer_offloads_reference * fsdp_active


def reference_host_bytes(reference_on_host, model_weights_bytes, outer_bytes_each, weight_shards):
    """Shard of a reference in CPU memory, in 16 bits. [B]

    Source: verl 1dda039b9, workers/engine/fsdp/transformer_impl.py, _build_module: torch_dtype.
    """
    of_policy = reference_on_host * model_weights_bytes / weight_shards
    return of_policy * REFERENCE_BYTES_EACH / outer_bytes_each


def frozen_models_bytes(
    keeps_reference,
    reference_on_host,
    model_weights_bytes,
    reward_parameters,
    model_gpus,
    value_parameters_here,
    outer_bytes_each,
    weight_shards,
):
    """Weights of reference, reward and value model, wide and divided as the policy's. [B]"""
    scoring_bytes = (reward_parameters / model_gpus + value_parameters_here) * outer_bytes_each
    on_card = keeps_reference * (1 - reference_on_host)
    return (on_card * model_weights_bytes + scoring_bytes) / weight_shards


def value_states_bytes(
    trained_value_here,
    matrix_states,
    state_width_bytes_each,
    master_bytes_each,
    adapts,
    optimizer_shards,
    offloads_optimizer,
):
    """Optimizer state of the value model, with its master copy. [B]"""
    bytes_each = matrix_states * state_width_bytes_each + master_bytes_each * (1 - adapts)
    return trained_value_here * bytes_each / optimizer_shards * (1 - offloads_optimizer)


def standing_models_bytes(frozen_models_bytes, value_states_bytes):
    """Permanent share of the other models: weights, and the value model's states. [B]"""
    return frozen_models_bytes + value_states_bytes


def scored_models_bytes(standing_models_bytes, value_width_ratio, saved_activations_bytes):
    """The other models while the loss is made, with the value model's activations. [B]

    They count by blocks × hidden size of the policy's. One loss trains both (TRL, ppo_trainer.py,
    PolicyAndValueWrapper).
    """
    return standing_models_bytes + value_width_ratio * saved_activations_bytes


def stepped_models_bytes(
    standing_models_bytes, trained_value_here, gradient_width_bytes_each, gradient_shards
):
    """The other models with the value model's gradients. [B]"""
    return standing_models_bytes + trained_value_here * gradient_width_bytes_each / gradient_shards


def passed_models_bytes(scored_models_bytes, stepped_models_bytes):
    """The other models in the backward pass, the value model's done or to come. [B]"""
    return np.maximum(scored_models_bytes, stepped_models_bytes)
