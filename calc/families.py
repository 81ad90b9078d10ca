"""What sets one family of transformers apart from another, as rows of numbers keyed by the `model_type` of a Hugging Face config.

A row holds what the family fixes; an entry of catalogs/models.yaml holds the sizes and overrides what a config may change.
Read off the modelling files of transformers 5.23 (transformers/models/<model_type>/modeling_*.py) and checked against
parameter counts of those classes (tests/recorded/configs).
"""

COMMON = {
    "kind": "decoder",  # decoder, encoder, encoder-decoder, vision, audio (encoder-decoder over sound), dual (two encoders)
    "block": "",  # id in catalogs/blocks.yaml of a block with a dense feed-forward network
    "moe_block": "",  # ... of a block with experts
    "encoder_block": "",  # ... of the encoder's blocks, where there are two sides
    "norm_vectors": 1,  # learned vectors in a norm: 1 RMSNorm, 2 LayerNorm (weight and bias)
    "block_norms": 2,  # norms of the hidden width in one block, that of cross attention not counted
    "final_norms": 1,  # norms after the last block
    "embedding_norms": 0,  # norms on the embeddings
    "gated": 1,  # feed-forward of three matrices (gate, up, down) instead of two (up, down)
    "qkv_bias": 0,
    "keyless_bias": 0,  # of q, k and v, the keys alone have no bias
    "output_bias": 0,
    "mlp_bias": 0,
    "head_bias": 0,  # one bias per word on the output head
    "head_norm": 0,  # q and k are normed head by head: one vector of head_dim each
    "full_norm": 0,  # q and k are normed over their whole width
    "sinks": 0,  # one learned attention sink per head
    "router_bias": 0,
    "expert_bias": 0,
    "shared_gate": 0,  # the shared expert is weighed by a gate of one output
    "learned_positions": 0,  # tables of learned positions
    "extra_positions": 0,  # rows of such a table beyond max_position
    "token_types": 0,  # rows of the segment embedding
    "masked_head": 0,  # a dense layer, a norm and a bias per word before the tied masked-LM head
    "relative_buckets": 0,  # rows of T5's relative bias, per side, of one value per head
    "fused_qkv": 0,  # one matrix makes queries, keys and values
    "fused_gate_up": 0,
    "caches_all_heads": 0,  # the cache holds keys and values copied to all query heads
    "stem_bias": 0,  # the patch embedding has a bias
    "hidden_dropout": 0,  # dropout above zero while training, as the config's defaults have it
    "attention_dropout": 0,
    "softcap": 0,  # tanh soft-capping of the final logits
}

_LAYER_NORM = {"norm_vectors": 2, "gated": 0}
_BIASED = {**_LAYER_NORM, "qkv_bias": 1, "output_bias": 1, "mlp_bias": 1}
_DROPOUT = {"hidden_dropout": 1, "attention_dropout": 1}
_MASKED_LM = {**_BIASED, **_DROPOUT, "kind": "encoder", "block": "bert", "embedding_norms": 1, "final_norms": 0,
              "learned_positions": 1, "masked_head": 1}
_T5 = {"kind": "encoder-decoder", "final_norms": 2, "relative_buckets": 32, **_DROPOUT}

FAMILIES = {
    "llama": {"block": "llama"},
    "mistral": {"block": "llama"},
    "ministral": {"block": "llama"},
    "ministral3": {"block": "llama"},
    "qwen2": {"block": "llama", "qkv_bias": 1},
    "granite": {"block": "llama"},
    "smollm3": {"block": "llama"},
    "seed_oss": {"block": "llama", "qkv_bias": 1, **_DROPOUT},
    "qwen3": {"block": "qwen3", "head_norm": 1},
    "olmo2": {"block": "olmo2", "full_norm": 1},
    "gemma": {"block": "gemma"},
    "gemma2": {"block": "gemma2", "block_norms": 4, "softcap": 1},
    "gemma3_text": {"block": "gemma3", "block_norms": 4, "head_norm": 1},
    "phi": {**_BIASED, "block": "phi", "block_norms": 1, "head_bias": 1},
    "phi3": {"block": "phi3", "fused_qkv": 1, "fused_gate_up": 1},
    "gpt2": {**_BIASED, **_DROPOUT, "block": "gpt2", "learned_positions": 1, "fused_qkv": 1},
    "gpt_bigcode": {**_BIASED, **_DROPOUT, "block": "gpt_bigcode", "learned_positions": 1, "fused_qkv": 1},
    "mpt": {"block": "mpt", "gated": 0, "fused_qkv": 1},
    "gpt_neox": {**_BIASED, "block": "gpt_neox", "fused_qkv": 1},
    "opt": {**_BIASED, "block": "opt", "learned_positions": 1, "extra_positions": 2, "hidden_dropout": 1},
    "bloom": {**_BIASED, "block": "bloom", "embedding_norms": 1, "fused_qkv": 1},
    "falcon": {**_LAYER_NORM, "block": "falcon", "block_norms": 1, "fused_qkv": 1},
    "falcon_new": {**_LAYER_NORM, "block": "falcon_new", "fused_qkv": 1, "caches_all_heads": 1},
    "mixtral": {"moe_block": "mixtral"},
    "qwen2_moe": {"block": "llama", "moe_block": "qwen2_moe", "qkv_bias": 1, "shared_gate": 1},
    "qwen3_moe": {"block": "qwen3", "moe_block": "qwen3_moe", "head_norm": 1},
    "minimax_m2": {"moe_block": "qwen3_moe", "full_norm": 1},
    "gpt_oss": {"moe_block": "gpt_oss", "qkv_bias": 1, "output_bias": 1, "sinks": 1, "router_bias": 1, "expert_bias": 1},
    "deepseek_v2": {"block": "deepseek_dense", "moe_block": "deepseek_moe"},
    "deepseek_v3": {"block": "deepseek_v3_dense", "moe_block": "deepseek_v3_moe"},
    "kimi_k2": {"block": "deepseek_v3_dense", "moe_block": "deepseek_v3_moe"},
    "llama4_text": {"block": "llama4_dense", "moe_block": "llama4_moe"},
    "glm4_moe": {"block": "glm4_moe_dense", "moe_block": "glm4_moe"},
    "bert": {**_MASKED_LM, "token_types": 2},
    "roberta": {**_MASKED_LM, "token_types": 1, "extra_positions": 2},
    "distilbert": _MASKED_LM,
    "deberta-v2": {**_MASKED_LM, "block": "deberta", "learned_positions": 0},
    "t5": {**_T5, "block": "t5_decoder", "encoder_block": "t5_encoder", "gated": 0},
    "t5_gated": {**_T5, "block": "t5_gated_decoder", "encoder_block": "t5_gated_encoder"},
    "bart": {**_BIASED, "kind": "encoder-decoder", "block": "bart_decoder", "encoder_block": "bart_encoder", "final_norms": 0,
             "embedding_norms": 2, "learned_positions": 2, "extra_positions": 2, "hidden_dropout": 1},
    "whisper": {**_BIASED, "kind": "audio", "block": "whisper_decoder", "encoder_block": "whisper_encoder", "final_norms": 2,
                "keyless_bias": 1, "learned_positions": 1},
    "vit": {**_BIASED, "kind": "vision", "block": "vit", "stem_bias": 1},
    "clip": {**_BIASED, "kind": "dual", "block": "clip_text", "encoder_block": "clip_vision", "learned_positions": 1},
}
