"""Sizes that encoders of text, images and sounds derive, as in transformers 5.23."""

from calc.models.huggingface.rules.sizes_of_decoders import four_times_hidden
from calc.models.huggingface.values import ConfigError, labels_of, must_divide, short_value, size_of, whole_number


def ernie_sizes(config, values):
    """Task embeddings in addition to segment embeddings."""
    if not config.get("use_task_id"):
        return {}
    rows = whole_number(config.get("task_type_vocab_size", 3), 1, "task_type_vocab_size")
    return {"token_types": values["token_types"] + rows}


def deberta_sizes(config, values):
    """Learned positions, relative positions shared by all blocks, and a newer or older head."""
    for field in ("conv_kernel_size", "embedding_size"):
        if config.get(field) not in (0, None, values["hidden"]):
            raise ConfigError(f"a deberta-v2 with {field} {config[field]} is not covered; leave it out.")
    normed = "layer_norm" in str(config.get("norm_rel_ebd", "none")).lower()
    sizes = {"learned_positions": int(config["position_biased_input"]), "final_norms": int(normed)}
    if not config["legacy"]:
        sizes["tied"] = 1  # the newer head reads the embedding table
    if not config["relative_attention"]:
        return sizes
    reach = config["max_relative_positions"]
    buckets = config.get("position_buckets", -1)
    rows = 2 * (buckets if buckets > 0 else reach if reach > 0 else values["max_position"])
    kinds = config.get("pos_att_type") or ""
    projections = 0 if config.get("share_att_key", False) else ("c2p" in kinds) + ("p2c" in kinds)
    return {**sizes, "relative_positions": rows, "position_projections": projections}


def modernbert_sizes(config, _values):
    """Norms with or without biases."""
    return {"norm_vectors": 2, "unbiased_norms": 0} if config["norm_bias"] else {}


def xlm_sizes(config, values):
    """Language embeddings; a causal model is a decoder without a cache."""
    languages = size_of(config, "n_langs")
    tables = {"token_types": languages} if languages > 1 and config["use_lang_emb"] else {}
    return four_times_hidden(config, values) | tables | ({"kind": "decoder", "caches": 0} if config["causal"] else {})


def rembert_sizes(config, values):
    """Tables as narrow as the embedding, and a wider, separate head."""
    hidden, narrow, wide = values["hidden"], values["embedding_width"], size_of(config, "output_embedding_size")
    head = (values["vocab"] + hidden) * (wide - narrow) + hidden + 3 * wide
    tables = (values["max_position"] + values["token_types"] + 2) * (hidden - narrow)
    return {"further_outside_parameters": head - tables}


def roberta_sizes(_config, values):
    """Two rows of the table of positions are not positions."""
    return {"max_position": max(values["max_position"] - 2, 1)}


def longformer_sizes(config, values):
    """Global tokens see all others, through their own projections."""
    return {**roberta_sizes(config, values), "position_projections": 3}


def nystromformer_sizes(config, values):
    """One convolution per head in addition to attention."""
    return {"further_parameters": values["heads"] * size_of(config, "conv_kernel_size")}


def albert_sizes(_config, values):
    """Groups of layers share one block, after a matrix that exists at any width."""
    must_divide(values["layers"], values["layer_groups"], ("the number of layers", "that of their groups"))
    hidden = values["hidden"]
    return {"further_outside_parameters": (hidden + 1) * hidden if values["embedding_width"] == hidden else 0}


def layoutlm_sizes(config, values):
    """Tables of the position and size of a word on the page."""
    return {"pooler": 1, "further_outside_parameters": 4 * size_of(config, "max_2d_position_embeddings") * values["hidden"]}


def tapas_sizes(config, _values):
    """Several kinds of segments, each with its own table."""
    return {"token_types": sum(whole_number(rows, 1, "type_vocab_sizes") for rows in config["type_vocab_sizes"])}


def roc_bert_sizes(config, values):
    """Tables of pronunciation and shape, and the matrix that joins them with the embedding."""
    widths = {name: size_of(config, f"{name}_embed_dim") for name in ("pronunciation", "shape")}
    tables = sum(width * size_of(config, f"{name}_vocab_size") for name, width in widths.items())
    joined = values["hidden"] + 1 + sum(width for name, width in widths.items() if config[f"enable_{name}"])
    return {"further_outside_parameters": tables + joined * values["hidden"] * bool(config["concat_input"])}


def roformer_sizes(config, values):
    """The table of rotation angles is a parameter."""
    if config.get("embedding_size") not in (None, values["hidden"]):
        raise ConfigError("a roformer whose embedding_size is not hidden_size is not covered; choose another model.")
    must_divide(values["hidden"], values["heads"], ("the hidden size", "the number of heads"))
    return {"further_outside_parameters": values["max_position"] * (values["hidden"] // values["heads"])}


def xmod_sizes(config, values):
    """One adapter per language in each block, on the block's last norm or on its own norm."""
    hidden, languages = values["hidden"], config["languages"]
    width = hidden // size_of(config, "adapter_reduction_factor")
    adapter = 2 * hidden * width + width + hidden
    norm = 2 * hidden if config["adapter_layer_norm"] else 0
    final = {"final_norms": int(bool(config["pre_norm"]))}
    return {**roberta_sizes(config, values), **final, "further_parameters": len(languages) * adapter + norm}


def vit_sizes(config, values):
    """A whole number of patches, and the classes."""
    must_divide(values["image"], values["patch"], ("image_size", "patch_size"))
    return image_classes(config, values)


def image_classes(config, _values):
    """The number of classes."""
    return {"classes": labels_of(config)}


def dinov2_sizes(config, values):
    """The inner width is a multiple of hidden, or two thirds of that where gated."""
    ffn, gated = whole_number(int(values["hidden"] * config["mlp_ratio"]), 1, "mlp_ratio"), config["use_swiglu_ffn"]
    narrower = (int(ffn * 2 / 3) + 7) // 8 * 8
    sizes = {"ffn": narrower, "model_type": "dinov2_gated"} if gated else {"ffn": ffn}
    return {**sizes, **vit_sizes(config, values)}


def dinov3_sizes(config, values):
    """Keys without a bias, or no bias at all; a gated network is another family."""
    queries, keys, of_values = (bool(config[f"{name}_bias"]) for name in ("query", "key", "value"))
    if queries != of_values or (keys and not queries):
        raise ConfigError("a dinov3_vit needs query_bias and value_bias alike, and key_bias with them or false; correct one of them.")
    return {
        **({"model_type": "dinov3_vit_gated"} if config["use_gated_mlp"] else {}),
        "keyless_bias": int(not keys),
        **vit_sizes(config, values),
    }


# The seven convolutions of wav2vec 2.0 over a waveform: widths, strides and kernels.
WAVEFORM = {"conv_dim": [512] * 7, "conv_stride": [5, 2, 2, 2, 2, 2, 2], "conv_kernel": [10, 3, 3, 3, 3, 2, 2]}


def waves_sizes(config, values):
    """Norms among the convolutions, and a vector for masked frames where training masks some."""
    other = [field for field, usual in WAVEFORM.items() if list(config[field]) != usual]
    added = [field for field in ("add_adapter", "adapter_attn_dim", "conv_pos_batch_norm") if config.get(field)]
    if other or added:
        named, field = config["model_type"], (other + added)[0]
        raise ConfigError(f"a {named} with {field} {short_value(config[field])} is not covered; choose another model.")
    must_divide(values["hidden"], values["position_groups"], ("the hidden size", "num_conv_pos_embedding_groups"))
    normed = config["feat_extract_norm"] == "layer"
    masks = any((config.get(f"mask_{axis}_prob") or 0) > 0 for axis in ("time", "feature"))
    sizes = {"model_type": "wav2vec2_stable"} if config["do_stable_layer_norm"] else {}
    return {**sizes, "mask_tokens": int(masks), "stem_norms": 7 if normed else 1, "stem_block": "waveform_normed" if normed else "waveform"}
