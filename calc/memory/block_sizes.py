"""The sizes of a block, the form that goes with them, and how tensor parallel divides both. Stack quantities are (stacks, rows).

Per token a block's bytes are a linear form in its sizes: read off PyTorch storage by storage (catalogs/blocks.yaml), or read in
software that has one block for all families (catalogs/software_blocks.yaml).
"""

import numpy as np

from calc.memory.block_forms import CASES, RELATIVE_POSITIONS, LinearForms
from calc.scenarios.join import FORMATS

FLASH_HEAD = 256  # the widest head that flash attention takes (transformers, integrations/sdpa_attention.py)


def stack_scored_tokens(stack_sequence, prompt_tokens, trains, is_decoder):
    """Tokens that are scored against one another: in serving those of the prompt, the rest of the sequence is cache. [tokens]

    Shape (stacks, rows).
    """
    return np.where((trains == 0) & (is_decoder > 0), np.minimum(stack_sequence, prompt_tokens), stack_sequence)


def stack_attention_case(
    computes_all_scores,
    stack_scored_tokens,
    stack_window_tokens,
    stack_kv_heads,
    stack_heads,
    stack_query_width,
    implementation_masks_window,
):
    """Which attention kernel runs, as a column of the coefficient tables. Shape (stacks, rows).

    Flash attention keeps no scores (Dao et al. 2022, arXiv 2205.14135; Dao 2023, arXiv 2307.08691). A sliding window that
    the sequence reaches builds a mask, and a mask leaves the flash kernel, as heads do that are too wide for it.
    """
    masked = (stack_scored_tokens >= stack_window_tokens) & (implementation_masks_window > 0)
    grouped = stack_kv_heads < stack_heads
    window = np.select(
        [stack_kv_heads == 1, stack_kv_heads == stack_heads],
        [CASES.index("sdpa-window-multiquery"), CASES.index("sdpa-window-equal")],
        CASES.index("sdpa-window"),
    )
    wide = np.where(stack_kv_heads == 1, CASES.index("sdpa-wide-multiquery"), CASES.index("sdpa-wide"))
    groups = np.where(stack_query_width > FLASH_HEAD * stack_heads, wide, CASES.index("sdpa-grouped"))
    plain = np.where(masked, window, np.where(grouped, groups, CASES.index("sdpa")))
    return np.where(computes_all_scores > 0, CASES.index("eager"), plain)


def stack_form(stack_kind, activation_format, stack_attention_case):
    """The row of the coefficient tables: kind of block, number format and attention kernel."""
    return (stack_kind * len(FORMATS) + activation_format) * len(CASES) + stack_attention_case


def block_sizes(
    stack_hidden,
    stack_query_width,
    stack_key_width,
    stack_value_width,
    stack_ffn_width,
    stack_heads,
    stack_kv_heads,
    stack_sequence,
    stack_scored_tokens,
    hidden_dropout,
    attention_dropout,
    stack_experts,
    stack_experts_per_token,
    stack_expert_ffn_width,
    stack_shared_ffn_width,
    stack_latent_width,
    stack_query_latent_width,
    stack_source_ratio,
    stack_source_tokens,
    stack_rms_norm_width,
    stack_layer_norm_width,
    stack_gated_ffn_width,
    stack_norms_heads,
    stack_capped_scores,
    stack_state_group_width,
    stack_state_key_width,
    stack_mixer_width,
    stack_mixer_heads,
    stack_recurrent_state_elements,
    stack_per_layer_width,
    stack_expert_latent,
    layer_inputs_width,
    tensor_parallel,
    batch,
):
    """The sizes of a block by name, elements per token. Each of shape (stacks, rows). [elements]

    `source` is the other side of an encoder-decoder per own token, `shared` one table for the whole batch.
    """
    expert_hidden = np.where(stack_expert_latent > 0, stack_expert_latent, stack_hidden)  # what routed experts take and give
    scores, source_scores = stack_heads * stack_scored_tokens, stack_heads * stack_source_tokens
    return {
        "hidden": stack_hidden,
        "query": stack_query_width,
        "key": stack_key_width,
        "value": stack_value_width,
        "ffn": stack_ffn_width,
        "heads": stack_heads,
        "kv_heads": stack_kv_heads,
        "scores": scores,
        "mask": stack_scored_tokens,
        "hidden_dropout": stack_hidden * hidden_dropout,
        "scores_dropout": scores * attention_dropout,
        "routed_hidden": stack_experts_per_token * expert_hidden,
        "routed_ffn": stack_experts_per_token * stack_expert_ffn_width,
        "experts": stack_experts,
        "experts_per_token": stack_experts_per_token,
        "experts_hidden": stack_experts * expert_hidden,
        "experts_ffn": stack_experts * stack_expert_ffn_width,
        "shared_ffn": stack_shared_ffn_width,
        "latent": stack_latent_width,
        "query_latent": stack_query_latent_width,
        "relative_hidden": stack_hidden * RELATIVE_POSITIONS / stack_sequence,
        "source_hidden": stack_hidden * stack_source_ratio,
        "source_key": stack_key_width * stack_source_ratio,
        "source_scores": source_scores,
        "source_scores_dropout": source_scores * attention_dropout,
        "shared_mask": stack_scored_tokens / batch,
        "shared_hidden": stack_hidden / batch,
        "shared_scores": scores / batch,
        "shared_source_scores": source_scores / batch,
        "rms_hidden": stack_rms_norm_width,
        "layer_norm_hidden": stack_layer_norm_width,
        "gated_ffn": stack_gated_ffn_width,
        "plain_ffn": stack_ffn_width - stack_gated_ffn_width,
        "joint_query": stack_query_width * (stack_kv_heads == stack_heads),
        "repeated_key": np.where(stack_kv_heads <= tensor_parallel, stack_key_width, stack_query_width),
        "normed_query": stack_query_width * stack_norms_heads,
        "normed_key": stack_key_width * stack_norms_heads,
        "capped_scores": scores * stack_capped_scores,
        "state_group_keys": stack_state_group_width,
        "state_keys": stack_state_key_width,
        "state_values": stack_mixer_width,
        "state_heads": stack_mixer_heads,
        "state": stack_recurrent_state_elements,
        "layer_inputs": layer_inputs_width * (stack_per_layer_width > 0),
        "per_layer": stack_per_layer_width,
        "expert_latent": stack_expert_latent,
        "one": np.ones_like(stack_hidden),
    }


def stack_whole_most_bytes_per_token(activation_bytes_each, stack_hidden, implementation_regathers_norms, implementation_splits_sequence):
    """What stays whole on each tensor-parallel GPU, at most: with sequence parallelism two gathered norm outputs. [B]"""
    gathered = 2 * np.minimum(activation_bytes_each, 4) * stack_hidden * (1 - implementation_regathers_norms)
    return np.where(implementation_splits_sequence > 0, gathered, np.inf)


def linear_forms(
    block_coefficients, stack_form, block_sizes, stack_layers, stack_block_unknown, stack_whole_most_bytes_per_token, tensor_parallel
):
    """The linear forms of this table's blocks, ready to be asked by the name of a vector; 0 of those not read off."""
    columns = block_sizes | {"whole_most": stack_whole_most_bytes_per_token, "tensor_parallel": tensor_parallel}
    return LinearForms(block_coefficients, stack_form, (stack_layers > 0) & ~stack_block_unknown, columns)


SIZES_AND_FORMS = (stack_scored_tokens, stack_attention_case, stack_form, block_sizes, stack_whole_most_bytes_per_token, linear_forms)
