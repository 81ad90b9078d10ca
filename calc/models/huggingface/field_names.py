"""How a Hugging Face config.json names what an entry of catalogs/models.yaml holds, by model_type.

FIELDS maps our field to the config's names for it; the first one that the config fills counts. What the classes fill in
where a config is silent is catalogs/config_defaults.yaml.
"""

_SIZES = {
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "heads": "num_attention_heads",
    "ffn": "intermediate_size",
    "vocab": "vocab_size",
    "max_position": "max_position_embeddings",
    "tied": "tie_word_embeddings",
}
_GROUPED = {**_SIZES, "kv_heads": "num_key_value_heads", "head_dim": "head_dim"}
_LLAMA = {**_GROUPED, "hidden_dropout": "residual_dropout resid_pdrop", "attention_dropout": "attention_dropout"}
_BIASED = {**_LLAMA, "qkv_bias": "attention_bias", "output_bias": "attention_bias"}
_BIASED_THROUGHOUT = {**_BIASED, "mlp_bias": "mlp_bias"}
_INTERNLM3 = {**_LLAMA, **dict.fromkeys(("qkv_bias", "output_bias"), "attention_bias qkv_bias"), "mlp_bias": "mlp_bias bias"}
_CAPPED = {**_BIASED, "softcap": "final_logit_softcapping"}
_GPT2 = {
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
_MPT = {
    "layers": "n_layers num_hidden_layers",
    "hidden": "d_model hidden_size",
    "heads": "n_heads num_attention_heads",
    "vocab": "vocab_size",
    "max_position": "max_seq_len",
    "tied": "tie_word_embeddings",
    "hidden_dropout": "resid_pdrop",
}
_DROPOUTS = {"hidden_dropout": "hidden_dropout", "attention_dropout": "attention_dropout"}
_NEOX = {**_SIZES, **_DROPOUTS, "activation": "hidden_act", "qkv_bias": "attention_bias", "output_bias": "attention_bias"}
_OPT = {
    **_SIZES,
    "activation": "activation_function",
    "ffn": "ffn_dim",
    "embedding_width": "word_embed_proj_dim",
    "qkv_bias": "enable_bias",
    "output_bias": "enable_bias",
    "mlp_bias": "enable_bias",
    "hidden_dropout": "dropout",
    "attention_dropout": "attention_dropout",
}
_BLOOM = {
    **_DROPOUTS,
    "layers": "n_layer num_hidden_layers",
    "hidden": "n_embed hidden_size",
    "heads": "n_head num_attention_heads",
    "vocab": "vocab_size",
    "max_position": "seq_length",
    "tied": "tie_word_embeddings",
}
_FALCON = {
    **_SIZES,
    **_DROPOUTS,
    "layers": "num_hidden_layers n_layer",
    "hidden": "n_embed hidden_size",
    "heads": "num_attention_heads n_head",
    "ffn": "ffn_hidden_size",
    "qkv_bias": "bias",
    "output_bias": "bias",
    "mlp_bias": "bias",
}
_EXPERTS = {
    "experts": "n_routed_experts num_experts num_local_experts",
    "experts_per_token": "num_experts_per_tok experts_per_token",
    "expert_ffn": "moe_intermediate_size",
}
_MOE = {**_BIASED, **_EXPERTS}
_ALL_MOE = {name: names for name, names in _MOE.items() if name != "ffn"} | {"expert_ffn": "intermediate_size"}
_UNBIASED_ALL_MOE = {name: names for name, names in _ALL_MOE.items() if names != "attention_bias"}
_ERNIE_MOE = {
    **_GROUPED,
    **dict.fromkeys(("qkv_bias", "output_bias", "mlp_bias"), "use_bias"),
    "experts": "moe_num_experts num_experts",
    "experts_per_token": "moe_k num_experts_per_tok",
    "expert_ffn": "moe_intermediate_size",
    "shared_experts": "moe_num_shared_experts",
}
_QWEN2_MOE = {**_LLAMA, **_EXPERTS, "shared_ffn": "shared_expert_intermediate_size", "qkv_bias": "qkv_bias"}
_LATENT = {
    **{name: names for name, names in _MOE.items() if name not in ("head_dim", "kv_heads")},
    "shared_experts": "n_shared_experts",
    "query_latent_rank": "q_lora_rank",
    "kv_latent_rank": "kv_lora_rank",
    "rope_head_dim": "qk_rope_head_dim",
    "plain_head_dim": "qk_nope_head_dim",
    "value_head_dim": "v_head_dim",
}
_INDEXED = {**_LATENT, "index_heads": "index_n_heads", "index_head_dim": "index_head_dim"}
_LLAMA4 = {**_MOE, "ffn": "intermediate_size_mlp", "expert_ffn": "intermediate_size", "shared_ffn": "intermediate_size"}
_GLM4_FLAGS = {"shared_experts": "n_shared_experts", "qkv_bias": "attention_bias", "head_norm": "use_qk_norm"}
_GLM4 = {**_LLAMA, **_EXPERTS, **_GLM4_FLAGS}
_ONLY_EXPERTS = {name: names for name, names in _MOE.items() if name != "ffn"}
_ATTENTION_BIASES = {"qkv_bias": "attention_bias", "output_bias": "attention_bias"}
_DELTA = {
    "state_groups": "linear_num_key_heads",
    "state_heads": "linear_num_value_heads",
    "state_size": "linear_key_head_dim",
    "state_head_dim": "linear_value_head_dim",
    "convolution_kernel": "linear_conv_kernel_dim",
}
_KIMI = {
    "experts_per_token": "num_experts_per_token num_experts_per_tok",
    "shared_experts": "num_shared_experts n_shared_experts",
    "max_position": "model_max_length max_position_embeddings",
    "state_heads": "linear_num_heads",
    "state_head_dim": "linear_head_dim",
    "convolution_kernel": "linear_conv_kernel_dim",
}
_MAMBA2 = {
    "state_heads": "mamba_n_heads",
    "state_groups": "mamba_n_groups",
    "state_size": "mamba_d_state",
    "convolution_kernel": "mamba_d_conv",
    "convolution_bias": "mamba_conv_bias",
}
_MAMBA = {
    "state_size": "mamba_d_state",
    "convolution_kernel": "mamba_d_conv",
    "convolution_bias": "mamba_conv_bias",
    "mixer_bias": "mamba_proj_bias",
}
_MAMBA_ALONE = {
    **{name: _SIZES[name] for name in ("layers", "hidden", "vocab", "tied")},
    "state_size": "state_size",
    "convolution_kernel": "conv_kernel",
    "convolution_bias": "use_conv_bias",
    "mixer_bias": "use_bias",
}
_NEMOTRON_H = {
    **_GROUPED,
    **_EXPERTS,
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
_LFM2 = {**_GROUPED, "convolution_kernel": "conv_L_cache"}
_CAPPED_APART = {name: names for name, names in _CAPPED.items() if name != "ffn"}  # its layers' inner widths may differ
_PER_LAYER = {"per_layer_width": "hidden_size_per_layer_input", "per_layer_vocab": "vocab_size_per_layer_input"}
_PROBABILITIES = {"hidden_dropout": "hidden_dropout_prob", "attention_dropout": "attention_probs_dropout_prob"}
_BERT = {**_SIZES, **_PROBABILITIES, "token_types": "type_vocab_size"}
_DISTILBERT = {
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
_T5 = {
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
_BART = {
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
_VIT = {
    **_PROBABILITIES,
    "layers": "num_hidden_layers",
    "hidden": "hidden_size",
    "heads": "num_attention_heads",
    "ffn": "intermediate_size",
    "image": "image_size",
    "patch": "patch_size",
    "channels": "num_channels",
    "qkv_bias": "qkv_bias",
}

FIELDS = {
    "llama": _BIASED_THROUGHOUT,
    "mistral": _LLAMA,
    "ministral": _LLAMA,
    "ministral3": _LLAMA,
    "qwen2": _LLAMA,
    "qwen3": _BIASED,
    "granite": _BIASED_THROUGHOUT,
    "smollm3": _BIASED_THROUGHOUT,
    "seed_oss": {**_BIASED_THROUGHOUT, "output_bias": "attention_out_bias"},
    "olmo2": _BIASED,
    "gemma": _BIASED,
    "gemma2": _CAPPED,
    "gemma3_text": _CAPPED,
    "phi": {**_LLAMA, "head_norm": "qk_layernorm", "activation": "hidden_act"},
    "phi3": _LLAMA,
    "gpt2": _GPT2,
    "gpt_bigcode": _GPT2,
    "mpt": _MPT,
    "gpt_neox": _NEOX,
    "opt": _OPT,
    "bloom": _BLOOM,
    "falcon": _FALCON,
    "mixtral": _UNBIASED_ALL_MOE,
    "qwen2_moe": _QWEN2_MOE,
    "qwen3_moe": _MOE,
    "minimax_m2": _UNBIASED_ALL_MOE,
    "gpt_oss": _ALL_MOE,
    "deepseek_v2": {**_LATENT, "mlp_bias": "mlp_bias"},
    "deepseek_v3": _LATENT,
    "llama4_text": _LLAMA4,
    "glm4_moe": _GLM4,
    "bert": _BERT,
    "roberta": _BERT,
    "distilbert": _DISTILBERT,
    "deberta-v2": _BERT,
    "t5": _T5,
    "mt5": _T5,
    "bart": _BART,
    "cohere": _BIASED,
    "cohere2": _BIASED,
    "cwm": _LLAMA,
    "deepseek_v32": _INDEXED,
    "ernie4_5": {**_GROUPED, "qkv_bias": "use_bias", "output_bias": "use_bias", "mlp_bias": "use_bias"},
    "exaone4": _LLAMA,
    "flex_olmo": _ALL_MOE,
    "glm": {**_LLAMA, "qkv_bias": "attention_bias"},
    "glm4": {**_LLAMA, "qkv_bias": "attention_bias"},
    "glm4_moe_lite": _LATENT,
    "glm4v_moe_text": {name: names for name, names in _GLM4.items() if name != "head_norm"},
    "glm4v_text": _LLAMA,
    "glm_moe_dsa": _INDEXED,
    "glm_ocr_text": _LLAMA,
    "granitemoe": _ALL_MOE,
    "granitemoeshared": {**_ALL_MOE, "shared_ffn": "shared_intermediate_size"},
    "helium": {**_LLAMA, "qkv_bias": "attention_bias", "mlp_bias": "mlp_bias"},
    "hunyuan_v1_dense": _BIASED,
    "olmo": _BIASED,
    "olmo3": _BIASED,
    "olmoe": _ALL_MOE,
    "starcoder2": {**_LLAMA, "qkv_bias": "use_bias", "output_bias": "use_bias", "mlp_bias": "use_bias"},
    "qwen2_vl_text": _LLAMA,
    "qwen2_5_vl_text": _LLAMA,
    "qwen2_5_omni_text": _LLAMA,
    "qwen3_vl_text": _BIASED,
    "qwen3_vl_moe_text": _MOE,
    "qwen3_omni_moe_text": _MOE,
    "emu3_text_model": _BIASED_THROUGHOUT,
    "granite_docling_text": _BIASED_THROUGHOUT,
    "data2vec-text": _BERT,
    "ernie": _BERT,
    "ernie4_5_moe": _ERNIE_MOE,
    "hunyuan_v1_moe": {**_ALL_MOE, "experts_per_token": "moe_topk", "shared_ffn": "intermediate_size"},
    "hyperclovax": _BIASED_THROUGHOUT,
    "internlm3": _INTERNLM3,
    "iquestcoder": _BIASED_THROUGHOUT,
    "jais2": _BIASED_THROUGHOUT,
    "mellum": _MOE,
    "nemotron": _BIASED_THROUGHOUT,
    "plbart": _BART,
    "vaultgemma": _CAPPED,
    "bamba": {**_GROUPED, **_MAMBA2, "mixer_bias": "mamba_proj_bias", "mlp_bias": "mlp_bias", **_ATTENTION_BIASES},
    "falcon_h1": {**_GROUPED, **_MAMBA2, "mixer_bias": "projectors_bias", "mlp_bias": "mlp_bias", **_ATTENTION_BIASES},
    "falcon_mamba": _MAMBA_ALONE,
    "gemma3n_text": {**_CAPPED_APART, **_PER_LAYER, "residual_streams": "altup_num_inputs", "low_rank": "laurel_rank"},
    "gemma4_text": {**_CAPPED, **_PER_LAYER, **_EXPERTS, "experts_per_token": "top_k_experts"},
    "granitemoehybrid": {**_ALL_MOE, **_MAMBA2, "shared_ffn": "shared_intermediate_size", "mixer_bias": "mamba_proj_bias"},
    "jamba": {**_GROUPED, **_EXPERTS, **_MAMBA, "expert_ffn": "intermediate_size"},
    "kimi_linear": {**_LATENT, **_KIMI},
    "lfm2": _LFM2,
    "lfm2_moe": {**_LFM2, **_EXPERTS},
    "mamba": _MAMBA_ALONE,
    "mamba2": {**_MAMBA_ALONE, "state_heads": "num_heads", "state_groups": "n_groups"},
    "nemotron_h": _NEMOTRON_H,
    "olmo_hybrid": {**_BIASED, "convolution_kernel": "linear_conv_kernel_dim"},
    "qwen3_5_moe_text": {**_ONLY_EXPERTS, **_DELTA, "shared_ffn": "shared_expert_intermediate_size"},
    "qwen3_5_text": {**_BIASED, **_DELTA},
    "qwen3_next": {**_MOE, **_DELTA, "shared_ffn": "shared_expert_intermediate_size"},
    "whisper": {**_BART, "source_positions": "max_source_positions", "mel_bins": "num_mel_bins"},
    "vit": _VIT,
}

# Types whose blocks are those of another family; what their classes fill in is their own.
SAME_FAMILY = {
    "cohere2": "cohere",
    "cwm": "llama",
    "data2vec-text": "roberta",
    "ernie": "bert",
    "ernie4_5": "llama",
    "glm4_moe_lite": "deepseek_v3",
    "glm4v_text": "glm4",
    "glm_moe_dsa": "deepseek_v32",
    "glm_ocr_text": "glm4",
    "granitemoeshared": "granitemoe",
    "helium": "llama",
    "hunyuan_v1_dense": "qwen3",
    "internlm3": "llama",
    "iquestcoder": "llama",
    "mellum": "qwen3_moe",
    "olmo3": "olmo2",
    "granite_docling_text": "llama",
    "qwen2_5_omni_text": "qwen2",
    "qwen2_5_vl_text": "qwen2",
    "qwen2_vl_text": "qwen2",
    "qwen3_omni_moe_text": "qwen3_moe",
    "qwen3_vl_moe_text": "qwen3_moe",
    "qwen3_vl_text": "qwen3",
}

# Fields beside these that tell layers apart or choose a form (layer_kinds.py, derived_fields.py).
LAYER_AND_FORM_FIELDS = (
    *("sliding_window", "attention_chunk_size", "use_sliding_window", "max_window_layers", "no_rope_layer_interval"),
    *("first_k_dense_replace", "decoder_sparse_step", "interleave_moe_layer_step"),
    *("multi_query", "parallel_attn", "new_decoder_architecture", "do_layer_norm_before", "_remove_final_layer_norm"),
    *("layer_norm_elementwise_affine", "position_biased_input", "legacy", "relative_attention", "max_relative_positions"),
    *("moe_layer_start_index", "moe_layer_end_index", "moe_layer_interval", "use_post_norm"),
    *("feed_forward_proj", "projection_dim", "use_qk_norm", "sliding_window_pattern"),
    *("attn_layer_period", "attn_layer_offset", "expert_layer_period", "expert_layer_offset", "mamba_expand", "mamba_d_ssm"),
    *("mamba_dt_rank", "mamba_rms_norm", "expand", "time_step_rank", "num_dense_layers", "num_kv_shared_layers", "attention_k_eq_v"),
    *("use_double_wide_mlp", "enable_moe_block", "block_auto_adjust_ff_dim", "block_multiple_of", "block_ffn_dim_multiplier"),
)
# The two sides of CLIP, each a class of its own, and the model_type whose fields it has.
CLIP_SIDES = {"vision": "vit", "text": "bert"}
