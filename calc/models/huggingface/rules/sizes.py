"""Sizes that take more than an expression, as the classes of transformers 5.23 derive them.

A rule reads a config, which already holds the defaults of its class, and our sizes so far; it
returns further sizes.
"""

from calc.models.huggingface.rules.layer_kinds import nemotron_pattern, zamba_pattern
from calc.models.huggingface.values import (
    ConfigError,
    labels_of,
    must_divide,
    short_value,
    whole_number,
)

NO_EXPERTS = dict.fromkeys(("experts", "experts_per_token", "expert_ffn", "shared_ffn"), 0)
STREAMS_READ = 4  # residual streams for which Gemma 3n's blocks were read off


def glm_moe_dsa_sizes(config, values):
    """Return the number of layers with an indexer of their own.

    The others reuse the tokens that another layer's indexer has chosen.
    """
    kinds = config.get("indexer_types")
    pattern = config.get("index_topk_pattern")
    layers = values["layers"]
    if kinds is None and pattern is not None:
        kinds = list(pattern)
    if kinds is None:
        every = max(whole_number(config.get("index_topk_freq", 1), 0, "index_topk_freq"), 1)
        offset = whole_number(config.get("index_skip_topk_offset", 2), 0, "index_skip_topk_offset")
        kinds = ["F" if max(index - offset + 1, 0) % every == 0 else "S" for index in range(layers)]
    if not isinstance(kinds, list) or len(kinds) != layers:
        raise ConfigError(f"indexer_types must name one kind for each of the {layers} layers.")
    return {"indexed_layers": sum(kind in ("full", "F") for kind in kinds)}


def hy_v4_sizes(config, values):
    """Residual streams are mixed around attention and network, and at the end.

    Source: hyper-connections, Zhu et al. 2024, arXiv 2409.19606.
    """
    layers, streams, hidden = values["layers"], config["hc_mult"], values["hidden"]
    kinds = config.get("indexer_types") or [
        "full" if index == 0 or (index - 1) % 4 == 0 else "shared" for index in range(layers)
    ]
    mixing = 2 * (2 * streams**2 * hidden + 2 * streams + 2)
    sizes = {
        "further_parameters": mixing,
        "further_outside_parameters": streams**2 * hidden + streams + 1,
    }
    return sizes | {"indexed_layers": kinds.count("full")}


def minimax_m3_sizes(config, _values):
    """The number of layers with an indexer, which are those of sparse attention."""
    flags = (config.get("sparse_attention_config") or {}).get("sparse_attention_freq")
    kinds = config.get("layer_types") or flags or []
    index_layers = sum(kind in (1, "minimax_m3_sparse") for kind in kinds)
    return {"indexed_layers": index_layers} if index_layers else {"index_heads": 0}


def gemma3n_sizes(config, values):
    """The largest inner width of the layers; blocks were read off with four streams."""
    widths = config.get("intermediate_size")
    width_by_layer = widths if isinstance(widths, list) and widths else [widths]
    unread = (
        {}
        if values.get("residual_streams") == STREAMS_READ
        else dict.fromkeys(("block", "sparse_block", "shared_block"), "")
    )
    return {
        "ffn": max(whole_number(width, 1, "intermediate_size") for width in width_by_layer),
        **unread,
    }


def nemotron_sizes(config, values):
    """The pattern determines the number of layers."""
    layers = nemotron_pattern(config)
    none = {} if {"E", "moe"} & set(layers) else NO_EXPERTS
    latent = {"model_type": "nemotron_h_latent"} if values.get("expert_latent") else {}
    wide = (
        config.get("mamba_ssm_dtype") or config.get("mamba_ssm_cache_dtype", "float32")
    ) == "float32"
    return {
        "layers": len(layers),
        "tied": 0,
        **({"recurrent_bytes_each": 4} if wide else {}),
        **none,
        **latent,
    }


def falcon_h1_sizes(config, values):
    """Sizes of a mixer of Mamba-2 in Falcon-H1, with or without a norm."""
    if bool(config.get("projectors_bias")) != bool(config.get("mamba_proj_bias")):
        raise ConfigError(
            "a falcon_h1 with one of projectors_bias and mamba_proj_bias is not covered; "
            "give both or none."
        )
    inner = config.get("mamba_d_ssm") or config["mamba_expand"] * values["hidden"]
    must_divide(inner, values["state_heads"], ("the width of the mixer", "the number of its heads"))
    return {
        "state_head_dim": inner // values["state_heads"],
        "mixer_norm": int(bool(config.get("mamba_rms_norm"))),
    }


def deberta_sizes(config, values):
    """Learned positions, relative positions shared by all blocks, and a newer or older head."""
    for field in ("conv_kernel_size", "embedding_size"):
        if config.get(field) not in (0, None, values["hidden"]):
            raise ConfigError(
                f"a deberta-v2 with {field} {config[field]} is not covered; leave it out."
            )
    has_norm = "layer_norm" in str(config.get("norm_rel_ebd", "none")).lower()
    sizes = {
        "learned_positions": int(config["position_biased_input"]),
        "final_norms": int(has_norm),
    }
    if not config["legacy"]:
        sizes["tied"] = 1  # the newer head reads the embedding table
    if not config["relative_attention"]:
        return sizes
    limits = (config.get("position_buckets", -1), config["max_relative_positions"])
    distances = next((limit for limit in limits if limit > 0), values["max_position"])
    kinds = config.get("pos_att_type") or ""
    projections = 0 if config.get("share_att_key", False) else ("c2p" in kinds) + ("p2c" in kinds)
    return {**sizes, "relative_positions": 2 * distances, "position_projections": projections}


def albert_sizes(_config, values):
    """Groups of layers share one block, after a matrix that exists at any width."""
    must_divide(
        values["layers"], values["layer_groups"], ("the number of layers", "that of their groups")
    )
    hidden = values["hidden"]
    return {
        "further_outside_parameters": (hidden + 1) * hidden
        if values["embedding_width"] == hidden
        else 0
    }


def zamba_sizes(config, values):
    """Shared attention before a hybrid layer is a layer too; a mixer of Mamba or of Mamba-2."""
    inner = int((config.get("mamba_expand") or 2) * values["hidden"])
    pattern = zamba_pattern(config)
    layers = {"layers": values["layers"] + pattern.count("hybrid")}
    if len(pattern) != values["layers"]:
        raise ConfigError("layers_block_type must name one kind for each of its layers.")
    if config.get("model_type") == "zamba":
        return layers | {
            "state_heads": 1,
            "state_head_dim": inner,
            "time_rank": -(-values["hidden"] // 16)
            if config.get("mamba_dt_rank") in (None, "auto")
            else config["mamba_dt_rank"],
        }
    return layers | {
        "ffn": values.get("ffn") or 4 * values["hidden"],
        "state_head_dim": inner // values["state_heads"],
    }


def tapas_sizes(config, _values):
    """Several kinds of segments, each with its own table."""
    return {
        "token_types": sum(
            whole_number(rows, 1, "type_vocab_sizes") for rows in config["type_vocab_sizes"]
        )
    }


def roformer_sizes(config, values):
    """The table of rotation angles is a parameter."""
    if config.get("embedding_size") not in (None, values["hidden"]):
        raise ConfigError(
            "a roformer whose embedding_size is not hidden_size is not covered; choose "
            "another model."
        )
    must_divide(values["hidden"], values["heads"], ("the hidden size", "the number of heads"))
    return {
        "further_outside_parameters": values["max_position"] * (values["hidden"] // values["heads"])
    }


def vit_sizes(config, values):
    """A whole number of patches, and the classes."""
    must_divide(values["image"], values["patch"], ("image_size", "patch_size"))
    return image_classes(config, values)


def image_classes(config, _values):
    """The number of classes."""
    return {"classes": labels_of(config)}


def dinov2_sizes(config, values):
    """The inner width is a multiple of hidden, or two thirds of that where gated."""
    ffn = whole_number(int(values["hidden"] * config["mlp_ratio"]), 1, "mlp_ratio")
    gated = config["use_swiglu_ffn"]
    narrower = (int(ffn * 2 / 3) + 7) // 8 * 8
    sizes = {"ffn": narrower, "model_type": "dinov2_gated"} if gated else {"ffn": ffn}
    return {**sizes, **vit_sizes(config, values)}


def dinov3_sizes(config, values):
    """Keys without a bias, or no bias at all; a gated network is another family."""
    has_query_bias = bool(config["query_bias"])
    has_key_bias = bool(config["key_bias"])
    has_value_bias = bool(config["value_bias"])
    if has_query_bias != has_value_bias or (has_key_bias and not has_query_bias):
        raise ConfigError(
            "a dinov3_vit is estimated with query_bias equal to value_bias, and with key_bias only "
            "beside them; correct these fields."
        )
    sizes = {"keyless_bias": int(not has_key_bias), **vit_sizes(config, values)}
    if config["use_gated_mlp"]:
        sizes["model_type"] = "dinov3_vit_gated"
    return sizes


# The seven convolutions of wav2vec 2.0 over a waveform: widths, strides and kernels.
WAVEFORM = {
    "conv_dim": [512] * 7,
    "conv_stride": [5, 2, 2, 2, 2, 2, 2],
    "conv_kernel": [10, 3, 3, 3, 3, 2, 2],
}


def waves_sizes(config, values):
    """Norms among the convolutions, and a vector for masked frames if training masks any."""
    other = [field for field, default in WAVEFORM.items() if list(config[field]) != default]
    extra_fields = [
        field
        for field in ("add_adapter", "adapter_attn_dim", "conv_pos_batch_norm")
        if config.get(field)
    ]
    if other or extra_fields:
        model_type, field = config["model_type"], (other + extra_fields)[0]
        raise ConfigError(
            f"a {model_type} with {field} {short_value(config[field])} is not covered; choose "
            f"another model."
        )
    must_divide(
        values["hidden"],
        values["position_groups"],
        ("the hidden size", "num_conv_pos_embedding_groups"),
    )
    has_norms = config["feat_extract_norm"] == "layer"
    masks = any((config.get(f"mask_{axis}_prob") or 0) > 0 for axis in ("time", "feature"))
    sizes = {"model_type": "wav2vec2_stable"} if config["do_stable_layer_norm"] else {}
    return {
        **sizes,
        "mask_tokens": int(masks),
        "stem_norms": 7 if has_norms else 1,
        "stem_block": "waveform_normed" if has_norms else "waveform",
    }


def switch_transformers_sizes(config, values):
    """The second layer of each period has experts; a token uses one of them."""
    sizes = {"experts_per_token": 1}
    for side, layers in (
        ("encoder", values["encoder_layers"]),
        ("decoder", values["decoder_layers"]),
    ):
        sparse = whole_number(config[f"num_sparse_{side}_layers"], 0, f"num_sparse_{side}_layers")
        step = max(layers // sparse, 1) if sparse else layers
        sizes[f"{side}_routed_layers"] = sum(
            step == 1 or index % step == 1 for index in range(layers)
        )
    return sizes


def nllb_moe_sizes(config, values):
    """The last layer of each period has experts; a token uses two of them."""
    sizes = {"experts_per_token": 2, "encoder_sizes": {"expert_ffn": values["encoder_ffn"]}}
    for side, layers in (
        ("encoder", values["encoder_layers"]),
        ("decoder", values["decoder_layers"]),
    ):
        step = whole_number(config[f"{side}_sparse_step"], 0, f"{side}_sparse_step")
        sizes[f"{side}_routed_layers"] = layers // step if step else 0
    return sizes
