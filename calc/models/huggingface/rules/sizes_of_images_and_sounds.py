"""What encoders of images and sounds derive, as in transformers 5.23."""

from calc.models.huggingface.values import ConfigError, must_divide, short_value, whole_number


def vit_sizes(config, values):
    """Whole patches, and classes."""
    must_divide(values["image"], values["patch"], ("image_size", "patch_size"))
    return image_classes(config, values)


def image_classes(config, _values):
    """Classes that it tells apart, two where none are named."""
    labels = config.get("num_labels") or len(config.get("id2label") or ()) or 2
    return {"classes": whole_number(labels, 1, "num_labels")}


def dinov2_sizes(config, values):
    """The inner width as a multiple of the hidden one, two thirds of it where gated."""
    ffn, gated = whole_number(int(values["hidden"] * config["mlp_ratio"]), 1, "mlp_ratio"), config["use_swiglu_ffn"]
    narrower = (int(ffn * 2 / 3) + 7) // 8 * 8
    sizes = {"ffn": narrower, "model_type": "dinov2_gated"} if gated else {"ffn": ffn}
    return {**sizes, **vit_sizes(config, values)}


def dinov3_sizes(config, values):
    """Keys without a bias, or no bias at all; a gated network is another family's."""
    queries, keys, of_values = (bool(config[f"{name}_bias"]) for name in ("query", "key", "value"))
    if queries != of_values or (keys and not queries):
        raise ConfigError("a dinov3_vit needs query_bias and value_bias alike, and key_bias with them or false; mend one.")
    return {
        **({"model_type": "dinov3_vit_gated"} if config["use_gated_mlp"] else {}),
        "keyless_bias": int(not keys),
        **vit_sizes(config, values),
    }


# Of wav2vec 2.0's seven convolutions over a waveform: their widths, their strides and their lengths.
WAVEFORM = {"conv_dim": [512] * 7, "conv_stride": [5, 2, 2, 2, 2, 2, 2], "conv_kernel": [10, 3, 3, 3, 3, 2, 2]}


def waves_sizes(config, values):
    """Norms among its convolutions, and a vector for hidden frames where training hides some."""
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
