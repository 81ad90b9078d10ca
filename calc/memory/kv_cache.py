"""Keys and values of cached tokens. Bytes on one GPU; stack quantities have shape (stacks, rows)."""

import numpy as np

from calc.memory.peak import at_peak


def kv_cache_bytes(peak_moment, moment_kv_cache_bytes):
    """Keys and values, alive at the moment of the peak. [B]

    layers · elements per token · tokens · bytes each / GPUs that divide the heads (Pope et al. 2022, arXiv 2211.05102,
    section 3.3; elements: 2 · heads · head width, grouped or MLA's latent, in models/block_parameters.py): of the prompt
    while it is prefilled (prefill_cache_bytes), of the whole sequence in decoding (decode_cache_bytes).
    """
    return at_peak(moment_kv_cache_bytes, peak_moment)


def decode_cache_bytes(
    stack_layers_here,
    stack_cached_elements_per_token,
    stack_cached_tokens,
    stack_window_tokens,
    batch,
    kv_bytes_each,
    stack_cache_split,
    cross_cache_bytes,
    states_bytes,
):
    """Cache of every token of the sequence: blocks · elements per token · tokens · sequences · width, and states. [B]

    Pope et al. 2022, arXiv 2211.05102. A sliding layer keeps the tokens of its window (Mistral, arXiv 2310.06825), MLA one
    latent instead of heads (DeepSeek-V2, arXiv 2405.04434).
    """
    tokens = np.minimum(stack_cached_tokens, stack_window_tokens)
    elements = stack_layers_here * stack_cached_elements_per_token * tokens
    return np.sum(elements * batch * kv_bytes_each / stack_cache_split, axis=0) + cross_cache_bytes + states_bytes


def prefill_cache_bytes(
    stack_layers_here,
    stack_cached_elements_per_token,
    stack_cached_tokens,
    stack_window_tokens,
    prompt_share,
    batch,
    kv_bytes_each,
    stack_cache_split,
    cross_cache_bytes,
    states_bytes,
    implementation_pages_tokens,
):
    """Cache after the prompt. [B]

    In transformers a sliding layer's window is a view of all tokens until the first decode step (cache_utils.py); a paged
    engine is counted with the pages of the whole sequence from the start.
    """
    paged = np.minimum(stack_cached_tokens, stack_window_tokens)
    tokens = np.where(implementation_pages_tokens > 0, paged, stack_cached_tokens * prompt_share)
    elements = stack_layers_here * stack_cached_elements_per_token * tokens
    return np.sum(elements * batch * kv_bytes_each / stack_cache_split, axis=0) + cross_cache_bytes + states_bytes


def stack_state_bytes(
    stack_recurrent_state_elements,
    stack_convolution_state_elements,
    stack_convolution_channels,
    recurrent_bytes_each,
    outer_bytes_each,
    is_engine,
    tensor_parallel,
):
    """What one layer keeps of one sequence in place of its tokens: a state and its convolution's inputs. Shape (stacks, rows). [B]

    transformers keeps the state in fp32 (cache_utils.py, LinearAttentionLayer), vLLM as the config asks, else as wide as the
    model, and one input less (model_executor/layers/mamba/mamba_utils.py). Heads and channels are divided by tensor parallel.
    """
    width = np.where(is_engine > 0, np.where(recurrent_bytes_each > 0, recurrent_bytes_each, outer_bytes_each), 4.0)
    inputs = stack_convolution_state_elements - is_engine * stack_convolution_channels
    return (stack_recurrent_state_elements * width + inputs * outer_bytes_each) / tensor_parallel


def page_tokens(
    implementation_pages_tokens, stack_layers, stack_cached_elements_per_token, stack_state_bytes, kv_bytes_each, stack_cache_split
):
    """Tokens of one page; where layers keep states, as many more as make a page hold one. [tokens]

    vLLM, platforms/interface.py: pages of all layers are of one size, that of a state or more.
    """
    token_bytes = np.max((stack_layers > 0) * stack_cached_elements_per_token * kv_bytes_each / stack_cache_split, axis=0)
    state_bytes = np.max((stack_layers > 0) * stack_state_bytes, axis=0)
    pages = np.ceil(state_bytes / np.maximum(implementation_pages_tokens * token_bytes, 1))
    return implementation_pages_tokens * np.where(token_bytes > 0, np.maximum(pages, 1), 1)


def states_bytes(
    stack_layers_here,
    stack_state_bytes,
    stack_cached_elements_per_token,
    page_tokens,
    implementation_pages_tokens,
    batch,
    kv_bytes_each,
    stack_cache_split,
):
    """States of all layers and sequences, however long these are; a paging engine gives each a whole page. [B]

    Gu and Dao 2023, arXiv 2312.00752, section 3; pages: vLLM, platforms/interface.py.
    """
    page_bytes = np.max(page_tokens * stack_cached_elements_per_token * kv_bytes_each / stack_cache_split, axis=0)
    whole_page = (stack_state_bytes > 0) * (implementation_pages_tokens > 0) * page_bytes
    return batch * np.sum(stack_layers_here * np.maximum(stack_state_bytes, whole_page), axis=0)


def cross_cache_bytes(
    stack_layers_here, stack_cross_cached_elements_per_token, stack_source_tokens, batch, kv_bytes_each, stack_cache_split
):
    """Keys and values of the source that cross attention keeps. [B]

    Blocks · elements per token · source tokens · sequences · width (transformers' EncoderDecoderCache, cache_utils.py).
    """
    elements = stack_layers_here * stack_cross_cached_elements_per_token * stack_source_tokens
    return np.sum(elements * batch * kv_bytes_each / stack_cache_split, axis=0)


def stack_cache_split(tensor_parallel, stack_kv_heads, stack_latent_width):
    """GPUs over which a cache is divided. Shape (stacks, rows). [GPUs]

    A head of keys and values is never split, so beyond their number it is copied (Pope et al. 2022, arXiv 2211.05102;
    Ainslie et al. 2023, arXiv 2305.13245); MLA's latent is copied whole (DeepSeek-V2, arXiv 2405.04434).
    """
    return np.where(stack_latent_width > 0, 1, np.minimum(tensor_parallel, np.maximum(stack_kv_heads, 1)))


def prompt_share(prompt_tokens, sequence_tokens):
    """Part of the cached sequence that is prefilled at once. [share]"""
    return np.minimum(prompt_tokens / sequence_tokens, 1)


def _rounded(tokens, page):
    return np.where(page > 0, np.ceil(tokens / np.maximum(page, 1)) * np.maximum(page, 1), tokens)


def stack_cached_tokens(stack_sequence, page_tokens, context_parallel):
    """Cached tokens per sequence on one GPU. Shape (stacks, rows). [tokens]

    In whole pages where the engine pages them (PagedAttention, Kwon et al. 2023, arXiv 2309.06180): the last page of a
    sequence is as large as the others. Pages that sequences of one beginning share are not counted as shared.
    """
    return _rounded(stack_sequence, page_tokens) / context_parallel


def cache_growth_bytes(
    stack_cached_tokens,
    stack_window_tokens,
    stack_query_width,
    stack_value_width,
    stack_latent_width,
    stack_cached_elements_per_token,
    stack_layers_here,
    batch,
    kv_bytes_each,
    stack_cache_split,
    implementation_pages_tokens,
    tensor_parallel,
):
    """One layer's keys once more while the cache grows by a token; paged caches: 0. [B]

    transformers appends by torch.cat (DynamicLayer.update, cache_utils.py); MLA expands one layer's keys and values.
    """
    tokens = batch * np.minimum(stack_cached_tokens, stack_window_tokens) * (stack_cached_elements_per_token > 0) * (stack_layers_here > 0)
    plain = stack_cached_elements_per_token / 2 * kv_bytes_each / stack_cache_split
    latent = 2 * (stack_query_width + 2 * stack_value_width) / tensor_parallel
    return np.max(tokens * np.where(stack_latent_width > 0, latent, plain), axis=0) * (implementation_pages_tokens == 0)


CACHE = (
    stack_cache_split,
    prompt_share,
    page_tokens,
    states_bytes,
    stack_cached_tokens,
    cross_cache_bytes,
    prefill_cache_bytes,
    decode_cache_bytes,
    cache_growth_bytes,
)
