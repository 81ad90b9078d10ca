"""Values that follow from the model and the software: lengths, ties, counts, widths.

By definition from the scenario and the model's entry, unless a formula names a source.
"""

import numpy as np

from calc.evaluate import variant


def sequence_tokens(
    asked_sequence_tokens,
    names_sequence,
    unknown_model,
    longest_sequence_tokens,
    asked_prompt_tokens,
    asked_completion_tokens,
):
    """Tokens of a sequence: as set, prompt and answer, or learned positions. [tokens]"""
    both = asked_prompt_tokens + asked_completion_tokens
    default = np.where(
        np.isnan(both), np.minimum(asked_sequence_tokens, longest_sequence_tokens), both
    )
    return np.where(names_sequence | unknown_model, asked_sequence_tokens, default)


def decoder_tokens(asked_decoder_tokens, sequence_tokens):
    """Length on an encoder-decoder's decoder side; by default that of the sequence. [tokens]"""
    return np.where(np.isnan(asked_decoder_tokens), sequence_tokens, asked_decoder_tokens)


def completion_tokens(asked_completion_tokens, asked_prompt_tokens, sequence_tokens, has_answers):
    """Tokens of an answer: as set, what the prompt leaves, or half; none in SFT. [tokens]"""
    prompt = np.where(
        np.isnan(asked_prompt_tokens), np.floor(sequence_tokens / 2), asked_prompt_tokens
    )
    default = np.where(has_answers > 0, np.maximum(sequence_tokens - prompt, 1), np.nan)
    return np.where(np.isnan(asked_completion_tokens), default, asked_completion_tokens)


def completion_ratio(completion_tokens, sequence_tokens):
    """Share of a sequence that is the answer; all of it in SFT. [share]"""
    return np.where(
        np.isnan(completion_tokens), 1.0, np.minimum(completion_tokens / sequence_tokens, 1)
    )


def leaves_experts_wide(
    leaves_stacked_experts, implementation_stacks_experts, release_lists_experts
):
    """1 if routed experts stay in 16 bits, since they are one tensor. [0 or 1]

    In transformers before 5.0 they are a list of linear layers. Source: bitsandbytes issue 1849;
    catalogs/edited/implementations.yaml, stacks_experts.
    """
    stacks_experts = implementation_stacks_experts * (1 - np.nan_to_num(release_lists_experts))
    return leaves_stacked_experts * stacks_experts


def generations(asked_generations, usual_generations, rolls_out):
    """Answers per prompt: as set, or the objective's default. [answers]"""
    return np.where(
        np.isnan(asked_generations) & (rolls_out > 0), usual_generations, asked_generations
    )


def prompt_tokens(asked_prompt_tokens, sequence_tokens, completion_tokens, has_answers):
    """Tokens of a sequence that are prefilled at once; by default all but the answer. [tokens]"""
    default = np.where(
        has_answers > 0, np.maximum(sequence_tokens - completion_tokens, 1), sequence_tokens
    )
    return np.where(np.isnan(asked_prompt_tokens), default, asked_prompt_tokens)


def image_tokens(asked_image_tokens, images_per_sequence, usual_image_tokens):
    """Tokens of one image or tile; by default those of the model's config. [tokens]"""
    takes_default = (
        np.isnan(asked_image_tokens) & (images_per_sequence > 0) & (usual_image_tokens > 0)
    )
    return np.where(takes_default, usual_image_tokens, asked_image_tokens)


def image_patches_tokens(image_tokens, patches_per_image_token):
    """Patches of one image, which are the tokens of the vision tower. [tokens]"""
    return np.nan_to_num(image_tokens) * patches_per_image_token


def tower_tokens(images_per_sequence, image_patches_tokens):
    """Patches of all images of a sequence, which pass through the vision tower. [tokens]"""
    return images_per_sequence * image_patches_tokens


def loads_tower(images_per_sequence, implementation_reserves_share):
    """1 if towers are in memory: if there are images, and in every serving engine. [0 or 1]

    An engine loads the whole checkpoint, and its start-up profile sees the largest images that it
    admits. Source: vLLM, v1/worker/gpu_model_runner.py, profile_run.
    """
    return ((images_per_sequence > 0) | (implementation_reserves_share > 0)) * 1.0


def tower_parameters(loads_tower, left_out_parameters):
    """Parameters of towers and projectors that are loaded. [parameters]"""
    return np.where(loads_tower > 0, left_out_parameters, 0)


def outputs(model_outputs, makes_logits):
    """Scores of a token: one per word of the vocabulary, or a single number. [elements]"""
    return np.where(makes_logits > 0, model_outputs, 1.0)


def leaves_parts_out(leaves_out, tower_parameters):
    """1 if the model has towers or other parts that are not counted. [0 or 1]"""
    return leaves_out * (tower_parameters == 0)


def tied(asks_ties, model_tied, always_tied, implementation_unties_head, is_decoder, makes_logits):
    """1 if embedding and head share a matrix; a head of one number never does. [0 or 1]

    The scenario decides, else the model. Some software never ties a decoder, and T5 in transformers
    5 is always tied (configuration_t5.py). Source: catalogs/edited/implementations.yaml,
    unties_head.
    """
    default = np.where(np.isnan(asks_ties), model_tied, asks_ties)
    return makes_logits * np.where(
        (implementation_unties_head > 0) & (is_decoder > 0), 0.0, np.maximum(default, always_tied)
    )


def head_parameters(
    tied, model_tied, model_head_parameters, embedding_parameters, makes_logits, hidden
):
    """Parameters of the head's matrix: none if tied, else as many as the embedding. [parameters]"""
    separate = np.where(model_head_parameters > 0, model_head_parameters, embedding_parameters)
    of_words = np.where(tied > 0, 0.0, np.where(model_tied > 0, separate, model_head_parameters))
    return np.where(makes_logits > 0, of_words, hidden)


def parameters(model_parameters, head_parameters, model_head_parameters, tower_parameters):
    """Parameters of the model with its ties, and of its tower if that is loaded. [parameters]"""
    return model_parameters + (head_parameters - model_head_parameters) + tower_parameters


def active_parameters(model_active_parameters, head_parameters, model_head_parameters):
    """Parameters that one token passes through: k of E routed experts. [parameters]

    Source: top-k routing, Shazeer et al. 2017, arXiv 1701.06538; counted in models/architecture.py.
    """
    return model_active_parameters + (head_parameters - model_head_parameters)


def outside_parameters(model_outside_parameters, head_parameters, model_head_parameters):
    """Parameters outside the blocks. [parameters]"""
    return model_outside_parameters + (head_parameters - model_head_parameters)


def adapter_bytes_each(implementation_adapter_bytes_each, asked_adapter_bytes_each):
    """Width of an adapter's parameter: the software's, else the scenario's. [B]

    Source: catalogs/edited/implementations.yaml.
    """
    return np.where(
        implementation_adapter_bytes_each > 0,
        implementation_adapter_bytes_each,
        asked_adapter_bytes_each,
    )


def gradient_override_bytes_each(asked_gradient_bytes_each, implementation_gradient_bytes_each):
    """Width of stored gradients, as set or by the software; 0 is that of the weights. [B]

    Megatron's are in fp32 unless set (`--grad-reduce-in-bf16`, `grad_reduce_in_fp32`). Source:
    Megatron-LM d98e8a64, core/distributed/param_and_grad_buffer.py, group_params_for_buffers.
    """
    return np.where(
        asked_gradient_bytes_each > 0, asked_gradient_bytes_each, implementation_gradient_bytes_each
    )


def whole_gradient_bytes_each(
    implementation_flattens_shards, compute_bytes_each, reduce_bytes_each
):
    """Width of a whole gradient that FSDP leaves for the next micro-batch. [B]

    FSDP1 leaves it in the format of the products, in which it was made. FSDP2 has cast it for the
    reduction. Source: torch/distributed/fsdp/_runtime_utils.py, _post_backward_hook;
    torch/distributed/fsdp/_fully_shard/_fsdp_param.py, to_accumulated_grad_if_needed.
    """
    return np.where(
        implementation_flattens_shards > 0, np.maximum(compute_bytes_each, 2.0), reduce_bytes_each
    )


def offloads_optimizer(leaves_optimizer, trains):
    """1 if the optimizer state is in CPU memory. [0 or 1]"""
    return leaves_optimizer * trains


offloads_activations = variant(
    offloads_optimizer,
    rename={"optimizer": "activations"},
    doc="""1 if saved activations are in CPU memory. [0 or 1]""",
)
offloads_weights = variant(
    offloads_optimizer,
    rename={"optimizer": "weights"},
    doc="""1 if the weights are in CPU memory. [0 or 1]""",
)
