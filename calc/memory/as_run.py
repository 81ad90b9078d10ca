"""Serving with a prefix cache and with speculative decoding."""

import numpy as np

from calc.evaluate import variant


def cached_prompt_tokens(trains, shared_prompt_tokens, prompt_tokens, implementation_pages_tokens):
    """Prompt tokens that are in the prefix cache, in whole pages. [tokens]

    The last token is always computed. Source: vLLM, vllm/v1/core/kv_cache_manager.py,
    get_computed_blocks.
    """
    page = np.maximum(implementation_pages_tokens, 1)
    shared_tokens = np.minimum(np.nan_to_num(shared_prompt_tokens), prompt_tokens - 1)
    return np.where(
        (trains == 0) & (implementation_pages_tokens > 0),
        np.floor(shared_tokens / page) * page,
        0.0,
    )


def draft_blocks_ratio(trains, draft_layers, draft_weights_ratio, all_layers):
    """Weights of the draft model or heads that propose tokens, over the model's blocks. [ratio]

    Source: catalogs/edited/speculations.yaml.
    """
    return (trains == 0) * (draft_layers / np.maximum(all_layers, 1) + draft_weights_ratio)


draft_cached_ratio = variant(
    draft_blocks_ratio,
    rename={"blocks": "cached", "draft_weights": "draft_cache"},
    doc="""KV cache of the draft of speculative decoding, as a share of the model's. [ratio]

    Source: catalogs/edited/speculations.yaml.
    """,
)
