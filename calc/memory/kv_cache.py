"""Keys and values of cached tokens, and the states that some layers store instead. Bytes.

Source: layers · elements per token · tokens · bytes each / GPUs that divide the heads, Pope et al.
2022, arXiv 2211.05102, section 3.3.
"""

import numpy as np

from calc.evaluate import variant


def stack_cached_bytes_per_token(stack_cached_elements_per_token, kv_bytes_each, stack_cache_split):
    """Cache of one token in one layer. [B]"""
    return stack_cached_elements_per_token * kv_bytes_each / stack_cache_split


def prompt_share(prompt_tokens, sequence_tokens):
    """Share of the cached sequence that is prefilled at once. [share]"""
    return np.minimum(prompt_tokens / sequence_tokens, 1)


def page_tokens(
    implementation_pages_tokens, stack_layers, stack_cached_bytes_per_token, stack_state_bytes
):
    """Tokens of one page; where layers keep states, a page holds at least one. [tokens]

    Source: vLLM, platforms/interface.py: pages of all layers are of one size, that of a state or
    more.
    """
    token_bytes = np.max((stack_layers > 0) * stack_cached_bytes_per_token, axis=0)
    state_bytes = np.max((stack_layers > 0) * stack_state_bytes, axis=0)
    pages = np.ceil(state_bytes / np.maximum(implementation_pages_tokens * token_bytes, 1))
    return implementation_pages_tokens * np.where(token_bytes > 0, np.maximum(pages, 1), 1)


def states_bytes(
    stack_layers_here,
    stack_state_bytes,
    stack_cached_bytes_per_token,
    page_tokens,
    implementation_pages_tokens,
    batch,
):
    """States of all layers and sequences; a paging engine gives each a whole page. [B]

    Source: Gu and Dao 2023, arXiv 2312.00752, section 3; pages: vLLM, platforms/interface.py.
    """
    page_bytes = np.max(page_tokens * stack_cached_bytes_per_token, axis=0)
    least_bytes = (stack_state_bytes > 0) * (implementation_pages_tokens > 0) * page_bytes
    return batch * np.sum(stack_layers_here * np.maximum(stack_state_bytes, least_bytes), axis=0)


def stack_cached_tokens(stack_sequence, page_tokens, context_parallel):
    """Cached tokens per sequence on one GPU, in whole pages where paged. [tokens]

    Source: PagedAttention, Kwon et al. 2023, arXiv 2309.06180.
    """
    page = np.maximum(page_tokens, 1)
    return (
        np.where(page_tokens > 0, np.ceil(stack_sequence / page) * page, stack_sequence)
        / context_parallel
    )


def stack_window_cached_tokens(stack_cached_tokens, stack_window_tokens):
    """Cached tokens of a sequence in a layer; a sliding layer caches only its window. [tokens]

    Source: Mistral, arXiv 2310.06825.
    """
    return np.minimum(stack_cached_tokens, stack_window_tokens)


def stack_prefilled_tokens(
    stack_window_cached_tokens, implementation_pages_tokens, stack_cached_tokens, prompt_share
):
    """Cached tokens after the prompt; a paged engine counts the whole sequence's. [tokens]

    In transformers a sliding layer's window is a view of all tokens until the first decode step.
    Source: transformers, cache_utils.py.
    """
    return np.where(
        implementation_pages_tokens > 0,
        stack_window_cached_tokens,
        stack_cached_tokens * prompt_share,
    )


def cross_cache_bytes(
    stack_layers_here,
    stack_cross_cached_elements_per_token,
    stack_source_tokens,
    batch,
    kv_bytes_each,
    stack_cache_split,
):
    """Keys and values of the source that cross attention caches. [B]

    Source: transformers, cache_utils.py, EncoderDecoderCache.
    """
    elements = stack_layers_here * stack_cross_cached_elements_per_token * stack_source_tokens
    return np.sum(elements * batch * kv_bytes_each / stack_cache_split, axis=0)


def stack_shared_tokens(stack_cached_tokens, stack_window_cached_tokens, cached_prompt_tokens):
    """Cached tokens of the shared prefix, per sequence and layer. [tokens]

    A sliding layer has those that its window still reaches. By definition.
    """
    return np.maximum(stack_window_cached_tokens - (stack_cached_tokens - cached_prompt_tokens), 0)


def stack_decode_tokens(batch, stack_window_cached_tokens, stack_shared_tokens):
    """Cached tokens of all sequences in a layer, the shared prefix once. [tokens]

    Source: vLLM, automatic prefix caching; SGLang's RadixAttention, Zheng et al. 2023, arXiv
    2312.07104.
    """
    return batch * stack_window_cached_tokens - (batch - 1) * stack_shared_tokens


def decode_cache_bytes(
    stack_layers_here,
    stack_cached_bytes_per_token,
    stack_decode_tokens,
    draft_cached_ratio,
    cross_cache_bytes,
    states_bytes,
):
    """Cache of all sequences: blocks · bytes per token · tokens, and a draft's. [B]"""
    cache_bytes = np.sum(
        stack_layers_here * stack_cached_bytes_per_token * stack_decode_tokens, axis=0
    )
    return cache_bytes * (1 + draft_cached_ratio) + cross_cache_bytes + states_bytes


AFTER_PROMPT = {"decode": "prefill", "stack_window_cached": "stack_prefilled"}
stack_prefill_tokens = variant(
    stack_decode_tokens,
    rename=AFTER_PROMPT,
    doc="""Tokens that a layer caches after the prompts; a shared prefix is cached once. [tokens]

    Source: as stack_decode_tokens.
    """,
)
prefill_cache_bytes = variant(
    decode_cache_bytes,
    rename=AFTER_PROMPT,
    doc="Cache after the prompts: blocks · bytes per token · tokens, and a draft's. [B]",
)


def kv_offload_tokens(
    kv_offload_bytes, stack_layers, stack_cached_bytes_per_token, tensor_parallel
):
    """Tokens whose keys and values a replica stores in CPU memory; NaN without. [tokens]

    They save a new prefill of prefixes and of requests that wait. A decode step only reads the
    cards' cache, so no additional sequences are decoded at once. Source: vLLM, vllm/v1/kv_offload.
    """
    token_bytes = np.sum(stack_layers * stack_cached_bytes_per_token, axis=0) * tensor_parallel
    return kv_offload_bytes / np.where(token_bytes > 0, token_bytes, np.nan)


def pooled_bytes_per_token(
    stack_layers_here,
    stack_read_elements_per_token,
    kv_bytes_each,
    stack_cache_split,
    stack_window_tokens,
    serving_window_pool_ratio,
):
    """Cache of one token if windowed layers have a pool of their own; 0 otherwise. [B]

    That pool holds a fixed share of the other layers' tokens, however short the window. Both pools
    have room for each layer, also for one that reads the keys of another. Source: SGLang,
    server_args.py, swa_full_tokens_ratio; model_executor/pool_configurator.py,
    HybridSWAPoolConfigurator: layers as layer_types of the config counts them.
    """
    slides = np.isfinite(stack_window_tokens) & (stack_layers_here > 0)
    pool_ratio = np.where(slides, serving_window_pool_ratio, 1.0)
    layer_bytes = stack_read_elements_per_token * kv_bytes_each / stack_cache_split
    token_bytes = np.sum(stack_layers_here * layer_bytes * pool_ratio, axis=0)
    return token_bytes * np.any(slides, axis=0) * (serving_window_pool_ratio > 0)


def stack_copied_bytes_per_token(
    stack_cached_bytes_per_token,
    stack_layers_here,
    stack_latent_width,
    stack_query_width,
    stack_value_width,
    tensor_parallel,
):
    """Keys that a layer copies per cached token when it appends another. [B]

    Source: transformers, cache_utils.py, DynamicLayer.update, by torch.cat.
    """
    latent = 2 * (stack_query_width + 2 * stack_value_width) / tensor_parallel
    copied_bytes = np.where(stack_latent_width > 0, latent, stack_cached_bytes_per_token / 2)
    return copied_bytes * (stack_cached_bytes_per_token > 0) * (stack_layers_here > 0)


def decode_working_bytes(
    stack_copied_bytes_per_token,
    stack_window_cached_tokens,
    batch,
    implementation_pages_tokens,
    dequantized_bytes,
):
    """Working memory of a decode step: a copy of a layer's cache unless paged, one matrix. [B]"""
    copied_bytes = batch * stack_window_cached_tokens * stack_copied_bytes_per_token
    return np.max(copied_bytes, axis=0) * (implementation_pages_tokens == 0) + dequantized_bytes
