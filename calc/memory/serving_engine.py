"""A serving engine (vLLM): what its start-up profile takes before the cache gets the rest. Bytes on one GPU.

Sources: vLLM's worker and sampler, releases of 2025 and 2026; the sum follows reported cache sizes within a few per cent
when the engine's own two limits are known.
"""

import numpy as np

LARGE_CARD_BYTES = 70 * 2**30  # cards from here on get the larger defaults, A100s apart
SEQUENCES, BATCHED_TOKENS = (256, 1024), (2048, 8192)  # the server's defaults on a small and on a large card
SAMPLER_BYTES_EACH = 12  # fp32 logits, probabilities and noise beside the logits themselves
GRAPHS_BYTES, GRAPHS_RATIO = 0.5 * 2**30, 0.02  # CUDA graphs: half a GiB, more with a larger model


def is_engine(implementation_reserves_share):
    """1 for software that takes a share of the card and pages its cache."""
    return (implementation_reserves_share > 0) * 1.0


def on_large_card(gpu_memory_bytes, gpu):
    """1 on the cards that the engine gives its larger defaults."""
    a100 = np.array([str(card).startswith("a100") for card in gpu])
    return ((gpu_memory_bytes >= LARGE_CARD_BYTES) & ~a100) * 1


def engine_sequences(max_sequences, on_large_card):
    """Sequences that the start-up profile samples (max_num_seqs)."""
    return np.where(np.isnan(max_sequences), np.asarray(SEQUENCES)[on_large_card], max_sequences)


def engine_batched_tokens(max_batched_tokens, on_large_card):
    """Tokens of one forward pass of the profile (max_num_batched_tokens)."""
    return np.where(np.isnan(max_batched_tokens), np.asarray(BATCHED_TOKENS)[on_large_card], max_batched_tokens)


def sampler_bytes(engine_sequences, outputs, engine_batched_tokens, hidden):
    """Logits of every sequence through the sampler, gathered over tensor parallel, and two hidden states. [B]"""
    return engine_sequences * outputs * (2 + SAMPLER_BYTES_EACH) + 2 * 2 * hidden * engine_batched_tokens


def engine_forward_bytes(
    engine_batched_tokens, hidden, stack_ffn_width, stack_expert_ffn_width, stack_experts_per_token,
    stack_shared_ffn_width, tensor_parallel,
):
    """A forward pass of the profile: three hidden states and three inner ones per token. [B]"""
    inner = np.max(np.maximum(stack_ffn_width, stack_expert_ffn_width * stack_experts_per_token + stack_shared_ffn_width), axis=0)
    return engine_batched_tokens * 2 * (3 * hidden + 3 * inner / tensor_parallel)


def graphs_bytes(is_engine, weights_bytes):
    """CUDA graphs, captured after the cache was sized: outside the engine's share of the card. [B]"""
    return is_engine * (GRAPHS_BYTES + GRAPHS_RATIO * weights_bytes)


ENGINE = (is_engine, on_large_card, engine_sequences, engine_batched_tokens, sampler_bytes, engine_forward_bytes, graphs_bytes)
