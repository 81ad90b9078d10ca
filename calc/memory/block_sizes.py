"""The sizes of a block, the attention kernel that runs in it, and its linear forms.

Per token a block's bytes are a linear form in its sizes: read off PyTorch storage by storage
(catalogs/read_off/blocks.yaml), or read in software that has one block for all families
(catalogs/read_off/software_blocks.yaml). Shape: (stacks, rows).
"""

import numpy as np

from calc.evaluate import evaluate, reading
from calc.memory.block_forms import CASES, LinearForms
from calc.memory.size_expressions import SIZE_OF
from calc.scenarios.join_choices import FORMATS

FLASH_HEAD = (
    256  # the widest head that flash attention takes (transformers, integrations/sdpa_attention.py)
)


def stack_scored_tokens(stack_sequence, prompt_tokens, trains, is_decoder):
    """Tokens that are scored against one another; in serving those of the prompt. [tokens]"""
    return np.where(
        (trains == 0) & (is_decoder > 0), np.minimum(stack_sequence, prompt_tokens), stack_sequence
    )


def stack_window_case(stack_kv_heads, stack_heads):
    """The attention kernel under a window's mask, as a number into CASES."""
    kinds = ("sdpa-window-multiquery", "sdpa-window-equal", "sdpa-window")
    multiquery, equal, grouped = (CASES.index(kind) for kind in kinds)
    return np.select(
        [stack_kv_heads == 1, stack_kv_heads == stack_heads], [multiquery, equal], grouped
    )


def stack_plain_case(stack_kv_heads, stack_heads, stack_query_width):
    """The attention kernel without a mask, as a number into CASES; wide heads have another."""
    kinds = ("sdpa", "sdpa-grouped", "sdpa-wide", "sdpa-wide-multiquery")
    equal, grouped, wide, multiquery = (CASES.index(kind) for kind in kinds)
    too_wide = stack_query_width > FLASH_HEAD * stack_heads
    groups = np.where(too_wide, np.where(stack_kv_heads == 1, multiquery, wide), grouped)
    return np.where(stack_kv_heads < stack_heads, groups, equal)


def stack_attention_case(
    computes_all_scores,
    stack_scored_tokens,
    stack_window_tokens,
    implementation_masks_window,
    stack_window_case,
    stack_plain_case,
):
    """The attention kernel that runs, as a number into CASES.

    Flash attention keeps no scores. A sliding window that the sequence reaches builds a mask, which
    leaves the flash kernel. Source: Dao et al. 2022, arXiv 2205.14135; Dao 2023, arXiv 2307.08691.
    """
    masked = (stack_scored_tokens >= stack_window_tokens) & (implementation_masks_window > 0)
    return np.where(
        computes_all_scores > 0,
        CASES.index("eager"),
        np.where(masked, stack_window_case, stack_plain_case),
    )


def stack_form(stack_kind, activation_format, stack_attention_case):
    """The row of the coefficient tables: kind of block, number format and attention kernel."""
    return (stack_kind * len(FORMATS) + activation_format) * len(CASES) + stack_attention_case


def stack_scores(stack_heads, stack_scored_tokens):
    """Attention scores of one token. [elements]"""
    return stack_heads * stack_scored_tokens


def stack_source_scores(stack_heads, stack_source_tokens):
    """Cross-attention scores of one token. [elements]"""
    return stack_heads * stack_source_tokens


@reading(SIZE_OF.values())
def block_sizes(**columns):
    """The sizes of a block by name (sizes.py). [elements per token]"""
    return {
        name: columns[size] if isinstance(size, str) else evaluate(size, columns)
        for name, size in SIZE_OF.items()
    }


def stack_whole_most_bytes_per_token(
    activation_bytes_each,
    stack_hidden,
    implementation_regathers_norms,
    implementation_splits_sequence,
):
    """The most that stays whole per GPU: in sequence parallelism two norm outputs. [B]"""
    gathered = (
        2
        * np.minimum(activation_bytes_each, 4)
        * stack_hidden
        * (1 - implementation_regathers_norms)
    )
    return np.where(implementation_splits_sequence > 0, gathered, np.inf)


def linear_forms(
    block_coefficients,
    stack_form,
    block_sizes,
    stack_layers,
    block_quantile,
    stack_whole_most_bytes_per_token,
    tensor_parallel,
):
    """The linear forms of the blocks; one that was not read off has those of its kind."""
    columns = block_sizes | {
        "whole_most": stack_whole_most_bytes_per_token,
        "tensor_parallel": tensor_parallel,
    }
    return LinearForms(
        block_coefficients, stack_form, stack_layers > 0, columns | {"quantile": block_quantile}
    )
