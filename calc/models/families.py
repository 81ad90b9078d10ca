"""What sets one family of transformers apart from another: numbers by the `model_type` of a Hugging Face config.

A row holds what the family fixes; an entry of catalogs/models.yaml holds the sizes and overrides what a config may
change. Read off transformers 5.23 (transformers/models/<model_type>/modeling_*.py) and checked against the parameter
counts of its classes (tests/recorded/configs).
"""

COMMON = {
    "kind": "decoder",  # or encoder, encoder-decoder, vision, audio (encoder-decoder of sound), dual (two encoders)
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
    "adapts_router": 0,  # LoRA on all linear layers adapts the router
    "adapts_experts": 0,  # ... and the stacked experts, but then no dense or shared network (calc/models/lora_widths.py)
    "learned_positions": 0,  # tables of learned positions
    "extra_positions": 0,  # rows of such a table beyond max_position
    "token_types": 0,  # rows of the segment embedding
    "spare_bias": 0,  # a second such bias, which an untied head has
    "masked_head": 0,  # a dense layer and a norm before the masked-LM head
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
_ATTENTION_BIASED = {"qkv_bias": 1, "output_bias": 1}
_BIASED = {**_LAYER_NORM, **_ATTENTION_BIASED, "mlp_bias": 1}
_DROPOUT = {"hidden_dropout": 1, "attention_dropout": 1}
_ADAPTED = {"adapts_router": 1, "adapts_experts": 1}
_GPT2 = {**_BIASED, **_DROPOUT, "learned_positions": 1, "fused_qkv": 1}
_MASKED_HEAD = {"masked_head": 1, "head_bias": 1, "spare_bias": 1, "final_norms": 0, "embedding_norms": 1}
_MASKED_LM = {**_BIASED, **_DROPOUT, **_MASKED_HEAD, "kind": "encoder", "block": "bert", "learned_positions": 1}
_T5 = {**_DROPOUT, "kind": "encoder-decoder", "final_norms": 2, "relative_buckets": 32}
_BART_POSITIONS = {"embedding_norms": 2, "learned_positions": 2, "extra_positions": 2}
_BART = {**_BIASED, **_BART_POSITIONS, "kind": "encoder-decoder", "final_norms": 0, "hidden_dropout": 1}
_WHISPER = {**_BIASED, "kind": "audio", "final_norms": 2, "keyless_bias": 1, "learned_positions": 1}

FAMILIES = {
    "llama": {"block": "llama"},
    "mistral": {"block": "llama"},
    "ministral": {"block": "llama"},
    "ministral3": {"block": "llama"},
    "qwen2": {"block": "llama", "qkv_bias": 1},
    "granite": {"block": "llama"},
    "smollm3": {"block": "llama"},
    "seed_oss": {"block": "seed_oss", "qkv_bias": 1, **_DROPOUT},
    "qwen3": {"block": "qwen3", "head_norm": 1},
    "olmo2": {"block": "olmo2", "full_norm": 1},
    "gemma": {"block": "gemma"},
    "gemma2": {"block": "gemma2", "block_norms": 4, "softcap": 1},
    "gemma3_text": {"block": "gemma3", "block_norms": 4, "head_norm": 1},
    "phi": {**_BIASED, "block": "phi", "block_norms": 1, "head_bias": 1},
    "phi3": {"block": "phi3", "fused_qkv": 1, "fused_gate_up": 1},
    "gpt2": {**_GPT2, "block": "gpt2"},
    "gpt_bigcode": {**_GPT2, "block": "gpt_bigcode"},
    "mpt": {"block": "mpt", "gated": 0, "fused_qkv": 1},
    "gpt_neox": {**_BIASED, "block": "gpt_neox", "fused_qkv": 1},
    "opt": {**_BIASED, "block": "opt", "learned_positions": 1, "extra_positions": 2, "hidden_dropout": 1},
    "bloom": {**_BIASED, "block": "bloom", "embedding_norms": 1, "fused_qkv": 1},
    "falcon": {**_LAYER_NORM, "block": "falcon", "block_norms": 1, "fused_qkv": 1},
    "falcon_new": {**_LAYER_NORM, "block": "falcon_new", "fused_qkv": 1, "caches_all_heads": 1},
    "mixtral": {"moe_block": "mixtral", **_ADAPTED},
    "qwen2_moe": {"block": "llama", "moe_block": "qwen2_moe", "qkv_bias": 1, "shared_gate": 1},
    "qwen3_moe": {"block": "qwen3", "moe_block": "qwen3_moe", "head_norm": 1, **_ADAPTED},
    "minimax_m2": {"moe_block": "minimax_m2", "full_norm": 1, **_ADAPTED},
    "gpt_oss": {**_ATTENTION_BIASED, "moe_block": "gpt_oss", "sinks": 1, "router_bias": 1, "expert_bias": 1},
    "deepseek_v2": {"block": "deepseek_dense", "moe_block": "deepseek_moe", **_ADAPTED},
    "deepseek_v3": {"block": "deepseek_v3_dense", "moe_block": "deepseek_v3_moe", **_ADAPTED},
    "kimi_k2": {"block": "deepseek_v3_dense", "moe_block": "deepseek_v3_moe", **_ADAPTED},
    "llama4_text": {"block": "llama4_dense", "moe_block": "llama4_moe", "adapts_router": 1},
    "glm4_moe": {"block": "glm4_moe_dense", "moe_block": "glm4_moe", **_ADAPTED},
    "bert": {**_MASKED_LM, "token_types": 2},
    "roberta": {**_MASKED_LM, "token_types": 1, "extra_positions": 2},
    "distilbert": {**_MASKED_LM, "block": "distilbert", "spare_bias": 0},
    "deberta-v2": {**_MASKED_LM, "block": "deberta", "learned_positions": 0},
    "t5": {**_T5, "block": "t5_decoder", "encoder_block": "t5_encoder", "gated": 0},
    "t5_gated": {**_T5, "block": "t5_gated_decoder", "encoder_block": "t5_gated_encoder"},
    "bart": {**_BART, "block": "bart_decoder", "encoder_block": "bart_encoder"},
    "whisper": {**_WHISPER, "block": "whisper_decoder", "encoder_block": "whisper_encoder"},
    "vit": {**_BIASED, "kind": "vision", "block": "vit", "stem_bias": 1, "head_bias": 1},
    "clip": {**_BIASED, "kind": "dual", "block": "clip_text", "encoder_block": "clip_vision", "learned_positions": 1},
}
