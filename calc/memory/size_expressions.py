"""The sizes of a block, elements per token: each a column or an expression of columns."""

from collections.abc import Callable

import numpy as np

RELATIVE_POSITIONS = (
    512  # of DeBERTa, projected once for all tokens (He et al. 2021, arXiv 2006.03654)
)
SIZE_OF: dict[str, str | Callable] = {
    "hidden": "stack_hidden",
    "query": "stack_query_width",
    "key": "stack_key_width",
    "value": "stack_value_width",
    "ffn": "stack_ffn_width",
    "heads": "stack_heads",
    "kv_heads": "stack_kv_heads",
    "scores": "stack_scores",
    "mask": "stack_scored_tokens",
    "hidden_dropout": lambda stack_hidden, hidden_dropout: stack_hidden * hidden_dropout,
    "scores_dropout": lambda stack_scores, attention_dropout: stack_scores * attention_dropout,
    # routed experts: those that a token passes through, and all
    "routed_hidden": lambda stack_experts_per_token, stack_expert_hidden: (
        stack_experts_per_token * stack_expert_hidden
    ),
    "routed_ffn": lambda stack_experts_per_token, stack_expert_ffn_width: (
        stack_experts_per_token * stack_expert_ffn_width
    ),
    "experts": "stack_experts",
    "experts_per_token": "stack_experts_per_token",
    "experts_hidden": lambda stack_experts, stack_expert_hidden: (
        stack_experts * stack_expert_hidden
    ),
    "experts_ffn": lambda stack_experts, stack_expert_ffn_width: (
        stack_experts * stack_expert_ffn_width
    ),
    "expert_latent": "stack_expert_latent",
    "shared_ffn": "stack_shared_ffn_width",
    "latent": "stack_latent_width",
    "query_latent": "stack_query_latent_width",
    "relative_hidden": lambda stack_hidden, stack_sequence: (
        stack_hidden * RELATIVE_POSITIONS / stack_sequence
    ),
    # the other side of an encoder-decoder, per token of this one
    "source_hidden": lambda stack_hidden, stack_source_ratio: stack_hidden * stack_source_ratio,
    "source_key": lambda stack_key_width, stack_source_ratio: stack_key_width * stack_source_ratio,
    "source_scores": "stack_source_scores",
    "source_scores_dropout": lambda stack_source_scores, attention_dropout: (
        stack_source_scores * attention_dropout
    ),
    # one table for the whole batch
    "shared_mask": lambda stack_scored_tokens, batch_sequences: (
        stack_scored_tokens / batch_sequences
    ),
    "shared_hidden": lambda stack_hidden, batch_sequences: stack_hidden / batch_sequences,
    "shared_scores": lambda stack_scores, batch_sequences: stack_scores / batch_sequences,
    "shared_source_scores": lambda stack_source_scores, batch_sequences: (
        stack_source_scores / batch_sequences
    ),
    # traits of the block that one form serves for all families
    "rms_hidden": "stack_rms_norm_width",
    "layer_norm_hidden": "stack_layer_norm_width",
    "gated_ffn": "stack_gated_ffn_width",
    "plain_ffn": lambda stack_ffn_width, stack_gated_ffn_width: (
        stack_ffn_width - stack_gated_ffn_width
    ),
    "joint_query": lambda stack_query_width, stack_kv_heads, stack_heads: (
        stack_query_width * (stack_kv_heads == stack_heads)
    ),
    "repeated_key": lambda stack_kv_heads, tensor_parallel, stack_key_width, stack_query_width: (
        np.where(stack_kv_heads <= tensor_parallel, stack_key_width, stack_query_width)
    ),
    "normed_query": lambda stack_query_width, stack_norms_heads: (
        stack_query_width * stack_norms_heads
    ),
    "normed_key": lambda stack_key_width, stack_norms_heads: stack_key_width * stack_norms_heads,
    "capped_scores": lambda stack_scores, stack_capped_scores: stack_scores * stack_capped_scores,
    # layers that keep a state in place of their tokens
    "state_group_keys": "stack_state_group_width",
    "state_keys": "stack_state_key_width",
    "state_values": "stack_mixer_width",
    "state_heads": "stack_mixer_heads",
    "state": "stack_recurrent_state_elements",
    # embeddings that each layer reads for itself
    "layer_inputs": lambda layer_inputs_width, stack_per_layer_width: (
        layer_inputs_width * (stack_per_layer_width > 0)
    ),
    "per_layer": "stack_per_layer_width",
    "one": lambda stack_hidden: np.ones_like(stack_hidden),
}
SIZES = tuple(SIZE_OF)
