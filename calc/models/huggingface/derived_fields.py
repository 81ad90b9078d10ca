"""What some model types derive from fields of their own, as the classes of transformers 5.23 do it.

What the classes fill in (catalogs/config_defaults.yaml) stands in the config already.
"""

from calc.models.huggingface.early_forms import FORMS as EARLY_FORMS
from calc.models.huggingface.early_forms import four_times_hidden
from calc.models.huggingface.hybrids import FORMS as HYBRID_FORMS
from calc.models.huggingface.uneven_layers import FORMS as UNEVEN_FORMS
from calc.models.huggingface.values import ConfigError, must_divide, shown, whole_number


def _gpt_bigcode(config, values, model_id):
    kv_heads = 1 if config["multi_query"] else values["heads"]
    return {**four_times_hidden(config, values, model_id), "kv_heads": kv_heads}


def _falcon(config, values, model_id):
    if not config["parallel_attn"]:
        raise ConfigError(f"{model_id}: a falcon whose parallel_attn is false is not covered; choose another model.")
    new = config["new_decoder_architecture"]
    kv_heads = (config.get("num_kv_heads") or values["heads"]) if new else values["heads"]
    kv_heads = 1 if not new and config["multi_query"] else kv_heads
    return {
        "model_type": "falcon_new" if new else "falcon",
        "ffn": values.get("ffn", 4 * values["hidden"]),
        "kv_heads": whole_number(kv_heads, 1, "num_kv_heads", model_id),
        "block_norms": 2 if (config.get("num_ln_in_parallel_attn") or (2 if new else 1)) == 2 else 1,
    }


def _opt(config, _values, _model_id):
    final = config["do_layer_norm_before"] and not config["_remove_final_layer_norm"]
    return {"final_norms": int(final), "norm_vectors": 2 if config["layer_norm_elementwise_affine"] else 0}


def _ernie(config, values, model_id):
    if not config.get("use_task_id"):
        return {}
    rows = whole_number(config.get("task_type_vocab_size", 3), 1, "task_type_vocab_size", model_id)
    return {"token_types": values["token_types"] + rows}


def _deberta(config, values, model_id):
    for field in ("conv_kernel_size", "embedding_size"):
        if config.get(field) not in (0, None, values["hidden"]):
            raise ConfigError(f"{model_id}: a deberta-v2 with {field} {config[field]} is not covered; leave it out.")
    normed = "layer_norm" in str(config.get("norm_rel_ebd", "none")).lower()
    own = {"learned_positions": int(config["position_biased_input"]), "final_norms": int(normed)}
    if not config["legacy"]:
        own["tied"] = 1  # the newer head reads the embedding table itself
    if not config["relative_attention"]:
        return own
    reach = config["max_relative_positions"]
    buckets = config.get("position_buckets", -1)
    rows = 2 * (buckets if buckets > 0 else reach if reach > 0 else values["max_position"])
    kinds = config.get("pos_att_type") or ""
    projections = 0 if config.get("share_att_key", False) else ("c2p" in kinds) + ("p2c" in kinds)
    return {**own, "relative_positions": rows, "position_projections": projections}


def _t5(config, _values, _model_id):
    return {"model_type": "t5_gated" if "gated" in config["feed_forward_proj"] else "t5"}


def _modernbert(config, _values, model_id):
    for field in ("attention_dropout", "embedding_dropout", "mlp_dropout"):
        if config.get(field):
            raise ConfigError(f"{model_id}: a {config['model_type']} with {field} {config[field]} is not covered; set it to 0.")
    return {"norm_vectors": 2, "unbiased_norms": 0} if config["norm_bias"] else {}


def _vit(config, values, model_id):
    must_divide(values["image"], values["patch"], ("image_size", "patch_size"), model_id)
    return _classes(config, values, model_id)


def _classes(config, _values, model_id):
    labels = config.get("num_labels") or len(config.get("id2label") or ()) or 2  # two where none are named
    return {"classes": whole_number(labels, 1, "num_labels", model_id)}


def _dinov2(config, values, model_id):
    ffn, gated = whole_number(int(values["hidden"] * config["mlp_ratio"]), 1, "mlp_ratio", model_id), config["use_swiglu_ffn"]
    kept = (int(ffn * 2 / 3) + 7) // 8 * 8  # a gated network has three matrices, and two thirds of the width
    own = {"ffn": kept, "model_type": "dinov2_gated"} if gated else {"ffn": ffn}
    return {**own, **_vit(config, values, model_id)}


def _dinov3(config, values, model_id):
    queries, keys, of_values = (bool(config[f"{name}_bias"]) for name in ("query", "key", "value"))
    if queries != of_values or (keys and not queries):
        raise ConfigError(f"{model_id}: a dinov3_vit needs query_bias and value_bias alike, and key_bias with them or false; mend one.")
    return {
        **({"model_type": "dinov3_vit_gated"} if config["use_gated_mlp"] else {}),
        "keyless_bias": int(not keys),
        **_vit(config, values, model_id),
    }


# Of wav2vec 2.0's seven convolutions over a waveform: their widths, and how far and over how much each goes.
WAVEFORM = {"conv_dim": [512] * 7, "conv_stride": [5, 2, 2, 2, 2, 2, 2], "conv_kernel": [10, 3, 3, 3, 3, 2, 2]}


def _waves(config, values, model_id):
    other = [field for field, usual in WAVEFORM.items() if list(config[field]) != usual]
    added = [field for field in ("add_adapter", "adapter_attn_dim", "conv_pos_batch_norm") if config.get(field)]
    if other or added:
        named, field = config["model_type"], (other + added)[0]
        raise ConfigError(f"{model_id}: a {named} with {field} {shown(config[field])} is not covered; choose another model.")
    must_divide(values["hidden"], values["position_groups"], ("the hidden size", "num_conv_pos_embedding_groups"), model_id)
    normed = config["feat_extract_norm"] == "layer"
    masks = config["model_type"] == "unispeech-sat" or any((config.get(f"mask_{of}_prob") or 0) > 0 for of in ("time", "feature"))
    own = {"model_type": "wav2vec2_stable"} if config["do_stable_layer_norm"] else {}
    return {**own, "mask_tokens": int(masks), "stem_norms": 7 if normed else 1, "stem_block": "waveform_normed" if normed else "waveform"}


def _hyperclovax(config, _values, _model_id):
    return {} if config["use_post_norm"] else {"model_type": "granite"}


def _squared_relu(config, _values, model_id):
    if config.get("hidden_act", "relu2") != "relu2":
        named = config["model_type"]
        raise ConfigError(f"{model_id}: a {named} whose hidden_act is not relu2 is not covered; choose another model.")
    return {}


def _ernie_moe(config, _values, _model_id):
    return {"head_bias": int(bool(config.get("use_bias")))}


def _cohere(config, _values, _model_id):
    return {"model_type": "cohere_normed"} if config["use_qk_norm"] else {}


def _cohere2(config, values, _model_id):
    return {} if config.get("head_dim") else {"head_dim": values["hidden"] // values["heads"]}


def _unbiased(_config, _values, _model_id):
    return {"qkv_bias": 0}


def _glm_moe_dsa(config, values, model_id):
    """Layers that reuse the tokens which another layer's indexer chose have none of their own."""
    kinds, pattern = config.get("indexer_types"), config.get("index_topk_pattern")
    layers = values["layers"]
    if kinds is None and pattern is not None:
        kinds = list(pattern)
    if kinds is None:
        every = max(whole_number(config.get("index_topk_freq", 1), 0, "index_topk_freq", model_id), 1)
        offset = whole_number(config.get("index_skip_topk_offset", 2), 0, "index_skip_topk_offset", model_id)
        kinds = ["F" if max(index - offset + 1, 0) % every == 0 else "S" for index in range(layers)]
    if not isinstance(kinds, list) or len(kinds) != layers:
        raise ConfigError(f"{model_id}: indexer_types must name one kind for each of the {layers} layers.")
    return {"indexed_layers": sum(kind in ("full", "F") for kind in kinds)}


def _hy_v4(config, values, _model_id):
    """Streams are mixed before and after attention and network, and at the end (hyper-connections: Zhu et al. 2024, arXiv 2409.19606)."""
    layers, streams, hidden = values["layers"], config["hc_mult"], values["hidden"]
    kinds = config.get("indexer_types") or ["full" if index == 0 or (index - 1) % 4 == 0 else "shared" for index in range(layers)]
    mixing = 2 * (2 * streams**2 * hidden + 2 * streams + 2)
    own = {"further_parameters": mixing, "further_outside_parameters": streams**2 * hidden + streams + 1}
    return own | {"indexed_layers": kinds.count("full")}


def _minimax_m3(config, _values, _model_id):
    """Layers of sparse attention alone have an indexer."""
    flags = (config.get("sparse_attention_config") or {}).get("sparse_attention_freq")
    kinds = config.get("layer_types") or flags or []
    indexed = sum(kind in (1, "minimax_m3_sparse") for kind in kinds)
    return {"indexed_layers": indexed} if indexed else {"index_heads": 0}


def _mllama(_config, values, _model_id):
    return {"further_outside_parameters": 8 * values["hidden"]}  # words of its table beyond the vocabulary


def _doge(config, values, model_id):
    """Both residuals are scaled; a matrix and a vector make a mask of the values."""
    if config.get("is_moe"):
        raise ConfigError(f"{model_id}: a doge with experts (is_moe) is not covered; choose another model.")
    heads = values.get("kv_heads", values["heads"])
    width = heads * (values["hidden"] // values["heads"]) + 1 + int(bool(config.get("attention_bias")))
    return {"further_parameters": heads * width + 2 * values["hidden"]}


def _stablelm(config, _values, model_id):
    if config.get("qk_layernorm"):
        raise ConfigError(f"{model_id}: a stablelm with qk_layernorm is not covered; choose another model.")
    return {"model_type": "stablelm_parallel"} if config.get("use_parallel_residual") else {}


def _minicpm3(_config, values, _model_id):
    """Where a file does not say how wide a value head is, heads are as wide together as the hidden state."""
    return {} if values.get("value_head_dim") else {"value_head_dim": values["hidden"] // values["heads"]}


def _cohere2_moe(config, values, _model_id):
    """Dense layers in front are as wide as one expert where the config says nothing else."""
    return _cohere2(config, values, _model_id) | {"ffn": values.get("ffn", values.get("expert_ffn"))}


def _laguna(config, _values, _model_id):
    per_head = config["gating"] in (True, "per-head")
    return {"head_gate": int(per_head), "output_gate": int(not per_head)}


def _apertus(_config, _values, _model_id):
    return {"further_parameters": 2}  # its activation function learns two numbers


def _beam(_config, values, _model_id):
    return {"further_parameters": values["heads"]}  # a bias of each head's gate


def _bitnet(_config, values, _model_id):
    """Attention's output and the inner width of the network are normed."""
    return {"further_parameters": values["hidden"] + values["ffn"]}


def _dbrx(config, _values, model_id):
    """Its heads of keys and values and its experts stand in parts of their own."""
    attention, network = config.get("attn_config") or {}, config.get("ffn_config") or {}
    names = {"experts": ("moe_num_experts", 4), "experts_per_token": ("moe_top_k", 1), "expert_ffn": ("ffn_hidden_size", 3584)}
    own = {ours: whole_number(network.get(theirs, usual), 1, theirs, model_id) for ours, (theirs, usual) in names.items()}
    return own | {"kv_heads": whole_number(attention.get("kv_n_heads", 1), 1, "kv_n_heads", model_id)}


def _diffllama(_config, values, _model_id):
    """Four vectors as wide as a head weigh one half of the heads against the other (Ye et al. 2024, arXiv 2410.05258)."""
    return {"further_parameters": 4 * (values.get("head_dim") or values["hidden"] // values["heads"])}


def _lfm3(config, _values, _model_id):
    return {"block_norms": 4 if config["use_sandwich_norm"] else 2}


FORMS = {
    "apertus": _apertus,
    "beam": _beam,
    "bitnet": _bitnet,
    "cohere2_moe": _cohere2_moe,
    "dbrx": _dbrx,
    "diffllama": _diffllama,
    "doge": _doge,
    "hy_v4": _hy_v4,
    "minimax_m3_vl_text": _minimax_m3,
    "mllama_text_model": _mllama,
    "laguna": _laguna,
    "minicpm3": _minicpm3,
    "lfm3": _lfm3,
    "arcee": _squared_relu,
    "codegen": four_times_hidden,
    "gptj": four_times_hidden,
    "stablelm": _stablelm,
    "cohere": _cohere,
    "cohere2": _cohere2,
    "glm_moe_dsa": _glm_moe_dsa,
    "glm_ocr_text": _unbiased,
    "gpt2": four_times_hidden,
    "hyperclovax": _hyperclovax,
    "mpt": four_times_hidden,
    "nemotron": _squared_relu,
    "jais2": _squared_relu,
    "ernie4_5_moe": _ernie_moe,
    "bloom": four_times_hidden,
    "ernie": _ernie,
    "gpt_bigcode": _gpt_bigcode,
    "falcon": _falcon,
    "opt": _opt,
    "modernbert": _modernbert,
    "modernbert-decoder": _modernbert,
    "deberta-v2": _deberta,
    "t5": _t5,
    "mt5": _t5,
    **dict.fromkeys(("vit", "vit_msn", "ijepa", "clip_vision_model", "metaclip_2_vision_model"), _vit),
    **dict.fromkeys(("dinov2", "dinov2_with_registers"), _dinov2),
    "dinov3_vit": _dinov3,
    **dict.fromkeys(("wav2vec2", "hubert", "unispeech", "unispeech-sat"), _waves),
    **dict.fromkeys(("siglip_vision_model", "siglip2_vision_model"), _classes),
    **EARLY_FORMS,
    **HYBRID_FORMS,
    **UNEVEN_FORMS,
}
