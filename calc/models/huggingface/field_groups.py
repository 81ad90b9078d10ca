"""The names of a config's fields by groups that several types have: our field -> the config's names for it, first filled first."""


def without(group: dict[str, str], *fields: str) -> dict[str, str]:
    """A group less some of our fields."""
    return {name: names for name, names in group.items() if name not in fields}


SIZES = {
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "heads": "num_attention_heads",
    "ffn": "intermediate_size",
    "vocab": "vocab_size",
    "max_position": "max_position_embeddings",
    "tied": "tie_word_embeddings",
}
GROUPED = {**SIZES, "kv_heads": "num_key_value_heads", "head_dim": "head_dim"}
LLAMA = {**GROUPED, "hidden_dropout": "residual_dropout resid_pdrop", "attention_dropout": "attention_dropout"}
BIASED = {**LLAMA, "qkv_bias": "attention_bias", "output_bias": "attention_bias"}
BIASED_THROUGHOUT = {**BIASED, "mlp_bias": "mlp_bias"}
INTERNLM3 = {**LLAMA, **dict.fromkeys(("qkv_bias", "output_bias"), "attention_bias qkv_bias"), "mlp_bias": "mlp_bias bias"}
CAPPED = {**BIASED, "softcap": "final_logit_softcapping"}
GPT2 = {
    "layers": "n_layer num_hidden_layers",
    "hidden": "n_embd hidden_size",
    "heads": "n_head num_attention_heads",
    "ffn": "n_inner",
    "vocab": "vocab_size",
    "max_position": "n_positions max_position_embeddings",
    "tied": "tie_word_embeddings",
    "hidden_dropout": "resid_pdrop",
    "attention_dropout": "attn_pdrop",
    "activation": "activation_function",
}
MPT = {
    "layers": "n_layers num_hidden_layers",
    "hidden": "d_model hidden_size",
    "heads": "n_heads num_attention_heads",
    "vocab": "vocab_size",
    "max_position": "max_seq_len",
    "tied": "tie_word_embeddings",
    "hidden_dropout": "resid_pdrop",
}
DROPOUTS = {"hidden_dropout": "hidden_dropout", "attention_dropout": "attention_dropout"}
NEOX = {**SIZES, **DROPOUTS, "activation": "hidden_act", "qkv_bias": "attention_bias", "output_bias": "attention_bias"}
OPT = {
    **SIZES,
    "activation": "activation_function",
    "ffn": "ffn_dim",
    "embedding_width": "word_embed_proj_dim",
    "qkv_bias": "enable_bias",
    "output_bias": "enable_bias",
    "mlp_bias": "enable_bias",
    "hidden_dropout": "dropout",
    "attention_dropout": "attention_dropout",
}
BLOOM = {
    **DROPOUTS,
    "layers": "n_layer num_hidden_layers",
    "hidden": "n_embed hidden_size",
    "heads": "n_head num_attention_heads",
    "vocab": "vocab_size",
    "max_position": "seq_length",
    "tied": "tie_word_embeddings",
}
FALCON = {
    **SIZES,
    **DROPOUTS,
    "layers": "num_hidden_layers n_layer",
    "hidden": "n_embed hidden_size",
    "heads": "num_attention_heads n_head",
    "ffn": "ffn_hidden_size",
    "qkv_bias": "bias",
    "output_bias": "bias",
    "mlp_bias": "bias",
}
EXPERTS = {
    "experts": "n_routed_experts num_experts num_local_experts",
    "experts_per_token": "num_experts_per_tok experts_per_token",
    "expert_ffn": "moe_intermediate_size",
}
MOE = {**BIASED, **EXPERTS}
ALL_MOE = without(MOE, "ffn") | {"expert_ffn": "intermediate_size"}
UNBIASED_ALL_MOE = without(ALL_MOE, "qkv_bias", "output_bias")
ERNIE_MOE = {
    **GROUPED,
    **dict.fromkeys(("qkv_bias", "output_bias", "mlp_bias"), "use_bias"),
    "experts": "moe_num_experts num_experts",
    "experts_per_token": "moe_k num_experts_per_tok",
    "expert_ffn": "moe_intermediate_size",
    "shared_experts": "moe_num_shared_experts",
}
ARIA_EXPERTS = {"experts": "moe_num_experts", "experts_per_token": "moe_topk", "shared_experts": "moe_num_shared_experts"}
QWEN2_MOE = {**LLAMA, **EXPERTS, "shared_ffn": "shared_expert_intermediate_size", "qkv_bias": "qkv_bias"}
LATENT = {
    **without(MOE, "head_dim", "kv_heads"),
    "shared_experts": "n_shared_experts",
    "query_latent_rank": "q_lora_rank",
    "kv_latent_rank": "kv_lora_rank",
    "rope_head_dim": "qk_rope_head_dim",
    "plain_head_dim": "qk_nope_head_dim",
    "value_head_dim": "v_head_dim",
}
INDEXED = {**LATENT, "index_heads": "index_n_heads", "index_head_dim": "index_head_dim"}
LLAMA4 = {**MOE, "ffn": "intermediate_size_mlp", "expert_ffn": "intermediate_size", "shared_ffn": "intermediate_size"}
GLM4_FLAGS = {"shared_experts": "n_shared_experts", "qkv_bias": "attention_bias", "head_norm": "use_qk_norm"}
GLM4 = {**LLAMA, **EXPERTS, **GLM4_FLAGS}
ONLY_EXPERTS = without(MOE, "ffn")
ATTENTION_BIASES = {"qkv_bias": "attention_bias", "output_bias": "attention_bias"}
DELTA = {
    "state_groups": "linear_num_key_heads",
    "state_heads": "linear_num_value_heads",
    "state_size": "linear_key_head_dim",
    "state_head_dim": "linear_value_head_dim",
    "convolution_kernel": "linear_conv_kernel_dim",
}
KIMI = {
    "experts_per_token": "num_experts_per_token num_experts_per_tok",
    "shared_experts": "num_shared_experts n_shared_experts",
    "max_position": "model_max_length max_position_embeddings",
    "state_heads": "linear_num_heads",
    "state_head_dim": "linear_head_dim",
    "convolution_kernel": "linear_conv_kernel_dim",
}
MAMBA2 = {
    "state_heads": "mamba_n_heads",
    "state_groups": "mamba_n_groups",
    "state_size": "mamba_d_state",
    "convolution_kernel": "mamba_d_conv",
    "convolution_bias": "mamba_conv_bias",
}
MAMBA = {
    "state_size": "mamba_d_state",
    "convolution_kernel": "mamba_d_conv",
    "convolution_bias": "mamba_conv_bias",
    "mixer_bias": "mamba_proj_bias",
}
MAMBA_ALONE = {
    **{name: SIZES[name] for name in ("layers", "hidden", "vocab", "tied")},
    "state_size": "state_size",
    "convolution_kernel": "conv_kernel",
    "convolution_bias": "use_conv_bias",
    "mixer_bias": "use_bias",
}
NEMOTRON_H = {
    **GROUPED,
    **EXPERTS,
    "shared_ffn": "moe_shared_expert_intermediate_size",
    "expert_latent": "moe_latent_size",
    "mlp_bias": "mlp_bias",
    "state_heads": "mamba_num_heads",
    "state_head_dim": "mamba_head_dim",
    "state_groups": "mamba_n_groups n_groups",
    "state_size": "ssm_state_size",
    "convolution_kernel": "mamba_d_conv conv_kernel",
    "convolution_bias": "mamba_conv_bias use_conv_bias",
    "mixer_bias": "use_bias",
}
XLSTM = {
    "layers": "num_hidden_layers num_blocks",
    "hidden": "hidden_size embedding_dim",
    "vocab": "vocab_size",
    "tied": "tie_word_embeddings",
    "state_heads": "num_heads",
}
LFM2 = {**GROUPED, "convolution_kernel": "conv_L_cache"}
CAPPED_APART = without(CAPPED, "ffn")  # its layers' inner widths may differ
PER_LAYER = {"per_layer_width": "hidden_size_per_layer_input", "per_layer_vocab": "vocab_size_per_layer_input"}
PROBABILITIES = {"hidden_dropout": "hidden_dropout_prob", "attention_dropout": "attention_probs_dropout_prob"}
BERT = {**SIZES, **PROBABILITIES, "token_types": "type_vocab_size"}
ELECTRA = {**BERT, "embedding_width": "embedding_size"}
WITHOUT_SEGMENTS = without(BERT, "token_types")
MPNET = {**WITHOUT_SEGMENTS, "relative_buckets": "relative_attention_num_buckets"}
MODERNBERT = {
    **SIZES,
    "qkv_bias": "attention_bias",
    "output_bias": "attention_bias",
    "mlp_bias": "mlp_bias",
    "head_bias": "decoder_bias",
    "masked_head_bias": "classifier_bias",
}
DISTILBERT = {
    "layers": "n_layers num_hidden_layers",
    "hidden": "dim hidden_size",
    "heads": "n_heads num_attention_heads",
    "ffn": "hidden_dim",
    "vocab": "vocab_size",
    "max_position": "max_position_embeddings",
    "tied": "tie_word_embeddings",
    "hidden_dropout": "dropout",
    "attention_dropout": "attention_dropout",
}
T5 = {
    "encoder_layers": "num_layers",
    "decoder_layers": "num_decoder_layers num_layers",
    "hidden": "d_model",
    "heads": "num_heads",
    "head_dim": "d_kv",
    "ffn": "d_ff",
    "vocab": "vocab_size",
    "max_position": "n_positions",
    "tied": "tie_word_embeddings",
    "relative_buckets": "relative_attention_num_buckets",
    "hidden_dropout": "dropout_rate",
    "attention_dropout": "dropout_rate",
}
BART = {
    "encoder_layers": "encoder_layers",
    "decoder_layers": "decoder_layers",
    "hidden": "d_model",
    "heads": "decoder_attention_heads",
    "encoder_heads": "encoder_attention_heads",
    "ffn": "decoder_ffn_dim",
    "encoder_ffn": "encoder_ffn_dim",
    "vocab": "vocab_size",
    "max_position": "max_position_embeddings max_target_positions",
    "tied": "tie_word_embeddings",
    "hidden_dropout": "dropout",
    "attention_dropout": "attention_dropout",
}
MBART = {**BART, "activation": "activation_function"}
WAVES = {  # an encoder of sound
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "heads": "num_attention_heads",
    "ffn": "intermediate_size",
    "classes": "vocab_size",
    "stem_bias": "conv_bias",
    "position_kernel": "num_conv_pos_embeddings",
    "position_groups": "num_conv_pos_embedding_groups",
    "hidden_dropout": "hidden_dropout",
    "attention_dropout": "attention_dropout",
}
VIT = {
    **PROBABILITIES,
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "heads": "num_attention_heads",
    "ffn": "intermediate_size",
    "image": "image_size",
    "patch": "patch_size",
    "channels": "num_channels",
    "qkv_bias": "qkv_bias",
}
SIDE = without(VIT, *PROBABILITIES, "qkv_bias") | {"attention_dropout": "attention_dropout"}
SIGLIP = {**SIDE, "pool_head": "vision_use_head"}
SIGLIP2 = without(SIGLIP, "image") | {"patches": "num_patches"}
DINOV2 = without(VIT, "ffn") | {"mask_tokens": "use_mask_token"}
REGISTERED = without(VIT, "ffn") | {"registers": "num_register_tokens"}
DINOV3 = {**SIDE, "registers": "num_register_tokens", "qkv_bias": "query_bias", "output_bias": "proj_bias", "mlp_bias": "mlp_bias"}
