"""A serving engine (vLLM): what its start-up profile takes before the cache. Bytes.

Defaults and constants: catalogs/edited/serving_engines.yaml.
"""

import numpy as np

LONGEST_WHOLE_PROMPT, WHOLE_PROMPT_LEAST = 32_768, 2_048  # tokens; vLLM 0.6, arg_utils.py


def engine_sequences(
    max_sequences, on_large_card, serving_small_sequences, serving_large_sequences
):
    """Sequences that the start-up profile samples (max_num_seqs). [sequences]"""
    default = np.where(on_large_card > 0, serving_large_sequences, serving_small_sequences)
    return np.where(np.isnan(max_sequences), default, max_sequences)


def profile_batched_tokens(
    engine_batched_tokens, max_batched_tokens, sequence_tokens, release_profiles_whole_prompts
):
    """Tokens of the forward pass of the start-up profile. [tokens]

    Earlier releases pass a whole prompt of the longest length unless the limit is set. Source:
    catalogs/calibrated/earlier_releases.yaml, profiles_whole_prompts.
    """
    whole = (np.nan_to_num(release_profiles_whole_prompts) > 0) & np.isnan(max_batched_tokens)
    prompt = np.where(sequence_tokens <= LONGEST_WHOLE_PROMPT, sequence_tokens, 0)
    return np.where(whole, np.maximum(WHOLE_PROMPT_LEAST, prompt), engine_batched_tokens)


def sorted_logit_bytes_each(serving_sorted_bytes_each, release_sorts_logits, is_tuned):
    """Bytes per logit that PyTorch's sampler needs to sort, in releases that use it. [B]

    A tuned engine uses FlashInfer, which finds the largest logits without sorting. Source: vLLM,
    v1/sample/ops/topk_topp_sampler.py, apply_top_k_top_p: logits.sort; pull request 40376.
    """
    return serving_sorted_bytes_each * np.nan_to_num(release_sorts_logits) * (1 - is_tuned)


def sampler_bytes(
    engine_sequences,
    outputs,
    profile_batched_tokens,
    hidden,
    serving_sampler_bytes_each,
    sorted_logit_bytes_each,
):
    """Logits of every sequence through the sampler, and two hidden states. [B]"""
    logit_bytes_each = 2 + serving_sampler_bytes_each + sorted_logit_bytes_each
    return engine_sequences * outputs * logit_bytes_each + 2 * 2 * hidden * profile_batched_tokens


def profile_image_tokens(loads_tower, tower_hidden, engine_batched_tokens, largest_image_tokens):
    """Image tokens of the start-up profile: a pass full of them, or the largest image. [tokens]

    Source: vLLM, vllm/v1/core/encoder_cache_manager.py, compute_mm_encoder_budget.
    """
    most = np.fmax(engine_batched_tokens, largest_image_tokens)
    return np.where(loads_tower * tower_hidden > 0, most, 0.0)


def profile_tower_bytes(
    profile_image_tokens, patches_per_image_token, tower_hidden, tower_ffn, tensor_parallel
):
    """The tower's forward pass in the profile: three hidden, three inner states a patch. [B]"""
    width = 3 * (tower_hidden + tower_ffn / tensor_parallel)
    return profile_image_tokens * patches_per_image_token * 2 * width


def profile_inner_width(
    stack_ffn_width,
    stack_expert_ffn_width,
    stack_experts_per_token,
    stack_shared_ffn_width,
    stack_mixer_in_width,
):
    """Inner width of the profile's widest block: three inner states, or a mixer's. [elements]"""
    inner = np.maximum(
        stack_ffn_width, stack_expert_ffn_width * stack_experts_per_token + stack_shared_ffn_width
    )
    return np.maximum(3 * np.max(inner, axis=0), np.max(stack_mixer_in_width, axis=0))


def engine_forward_bytes(
    profile_batched_tokens,
    hidden,
    profile_inner_width,
    profile_image_tokens,
    profile_tower_bytes,
    tensor_parallel,
    expert_split,
):
    """A forward pass of the profile: three hidden and the inner states of each token. [B]

    Copies of attention that share experts gather the tokens of all of them, and have as many sums.
    The tower's pass comes first and leaves what it made of its images, in 16 bits. Source: vLLM's
    profile_run (vllm/v1/worker/gpu_model_runner.py) and all2all.py; the number of tensors is ours.
    """
    gathered = 2 * hidden * (expert_split / tensor_parallel - 1)
    width = 3 * hidden + profile_inner_width / tensor_parallel + gathered
    forward_bytes = np.maximum(profile_batched_tokens * 2 * width, profile_tower_bytes)
    return forward_bytes + 2 * hidden * profile_image_tokens
