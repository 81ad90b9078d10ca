"""Parameters of the vision or audio tower of a config. Counts of numbers, not bytes.

Source: transformers 5.23.
"""

from calc.models.huggingface.rules.shapes import Config, linear, patches, side


def _plain_layer(hidden: int, ffn: int) -> int:
    """Attention and two matrices with biases, and two LayerNorms. [parameters]

    Source: Dosovitskiy et al. 2020, arXiv 2010.11929.
    """
    return 4 * linear(hidden, hidden) + linear(hidden, ffn) + linear(ffn, hidden) + 4 * hidden


def clip_tower(config: Config) -> int:
    """CLIP's vision side: a class token, and norms at both ends. [parameters]"""
    hidden = config["hidden_size"]
    stem = hidden * (config["num_channels"] * config["patch_size"] ** 2 + 1 + patches(config) + 1)
    return stem + 4 * hidden + config["num_hidden_layers"] * _plain_layer(hidden, config["intermediate_size"])


def siglip_tower(config: Config) -> int:
    """SigLIP's vision side, with a pooling head unless switched off. [parameters]

    Source: Zhai et al. 2023, arXiv 2303.15343.
    """
    hidden, ffn = config["hidden_size"], config["intermediate_size"]
    pooled = hidden + 4 * linear(hidden, hidden) + 2 * hidden + linear(hidden, ffn) + linear(ffn, hidden)
    return headless_siglip_tower(config) + pooled * bool(config.get("vision_use_head", True))


def headless_siglip_tower(config: Config) -> int:
    """SigLIP's vision side without a pooling head (Idefics 3, SmolVLM). [parameters]"""
    hidden = config["hidden_size"]
    stem = hidden * (config["num_channels"] * config["patch_size"] ** 2 + 1 + patches(config))
    return stem + 2 * hidden + config["num_hidden_layers"] * _plain_layer(hidden, config["intermediate_size"])


def pixtral_tower(config: Config) -> int:
    """Pixtral: RMSNorms, a gated network, no biases. [parameters]

    Source: Agrawal et al. 2024, arXiv 2410.07073.
    """
    hidden = config["hidden_size"]
    layer = 4 * hidden**2 + 3 * hidden * config["intermediate_size"] + 2 * hidden
    return hidden * (config["num_channels"] * config["patch_size"] ** 2 + 1) + config["num_hidden_layers"] * layer


def qwen2_vl_tower(config: Config) -> int:
    """Qwen2-VL: frames in pairs, and a merger of patches. [parameters]

    Source: Wang et al. 2024, arXiv 2409.12191.
    """
    hidden, merged = config["embed_dim"], config["embed_dim"] * config["spatial_merge_size"] ** 2
    stem = config["in_channels"] * config["temporal_patch_size"] * config["patch_size"] ** 2 * hidden
    merger = 2 * hidden + linear(merged, merged) + linear(merged, config["hidden_size"])
    return stem + merger + config["depth"] * _plain_layer(hidden, int(hidden * config["mlp_ratio"]))


def qwen2_5_vl_tower(config: Config) -> int:
    """Qwen2.5-VL: Qwen2-VL's tower with RMSNorms and a gated network. [parameters]

    Source: Bai et al. 2025, arXiv 2502.13923.
    """
    hidden, ffn = config["hidden_size"], config["intermediate_size"]
    merged = hidden * config["spatial_merge_size"] ** 2
    stem = config["in_channels"] * config["temporal_patch_size"] * config["patch_size"] ** 2 * hidden
    layer = 4 * linear(hidden, hidden) + 2 * linear(hidden, ffn) + linear(ffn, hidden) + 2 * hidden
    merger = hidden + linear(merged, merged) + linear(merged, config["out_hidden_size"])
    return stem + merger + config["depth"] * layer


def qwen3_vl_tower(config: Config) -> int:
    """Qwen3-VL and Qwen3.5: learned positions, one merger per deepstack layer. [parameters]"""
    hidden = config["hidden_size"]
    merged = hidden * config["spatial_merge_size"] ** 2
    stem = linear(config["in_channels"] * config["temporal_patch_size"] * config["patch_size"] ** 2, hidden)
    merger = linear(merged, merged) + linear(merged, config["out_hidden_size"])
    mergers = 2 * hidden + merger + len(config.get("deepstack_visual_indexes", ())) * (2 * merged + merger)
    positions = config["num_position_embeddings"] * hidden
    return stem + positions + mergers + config["depth"] * _plain_layer(hidden, config["intermediate_size"])


def whisper_tower(config: Config) -> int:
    """Whisper's encoder: two convolutions and positions. [parameters]

    Source: Radford et al. 2022, arXiv 2212.04356.
    """
    hidden, ffn = config["d_model"], config["encoder_ffn_dim"]
    stem = linear(3 * config["num_mel_bins"], hidden) + linear(3 * hidden, hidden) + config["max_source_positions"] * hidden
    return stem + 2 * hidden + config["encoder_layers"] * (_plain_layer(hidden, ffn) - hidden)


def voxtral_tower(config: Config) -> int:
    """Whisper's encoder under other names. [parameters]"""
    names = {"d_model": "hidden_size", "encoder_ffn_dim": "intermediate_size", "encoder_layers": "num_hidden_layers"}
    return whisper_tower({**config, **{whisper_name: config[name] for whisper_name, name in names.items()}})


def intern_vit_tower(config: Config) -> int:
    """InternVL's vision side: CLIP's stem, and scaled residuals. [parameters]

    Source: Chen et al. 2023, arXiv 2312.14238.
    """
    hidden = config["hidden_size"]
    unbiased = not (config.get("attention_bias") or config.get("qkv_bias"))
    normed = bool(config.get("use_qk_norm") or config.get("qk_normalization"))
    stem = hidden * (config["num_channels"] * side(config["patch_size"]) ** 2 + 1 + patches(config) + 2)
    layer = _plain_layer(hidden, config["intermediate_size"]) + (2 + 2 * normed - 3 * unbiased) * hidden
    return stem + config["num_hidden_layers"] * layer + 2 * hidden * (not config.get("use_mean_pooling", True))


def moonvit_tower(config: Config) -> int:
    """MoonViT of Kimi K2.5, with a grid of positions. [parameters]

    Source: Kimi-VL, 2025, arXiv 2504.07491; its files have names of their own.
    """
    names = {name.removeprefix("vt_").removeprefix("init_").replace("pos_emb_", ""): size for name, size in config.items()}
    hidden = names["hidden_size"]
    stem = linear(3 * names["patch_size"] ** 2, hidden) + names["height"] * names["width"] * hidden
    return stem + 2 * hidden + names["num_hidden_layers"] * _plain_layer(hidden, names["intermediate_size"])


def glm4v_tower(config: Config) -> int:
    """GLM-4.1V: gated networks as wide as the text part, and another in the merger. [parameters]

    Source: GLM-4.1V, 2025, arXiv 2507.01006.
    """
    hidden, out = config["hidden_size"], config["out_hidden_size"]
    stem = linear(config["in_channels"] * config["temporal_patch_size"] * config["patch_size"] ** 2, hidden) + patches(config) * hidden
    layer = 4 * hidden**2 + 3 * hidden * out + 2 * hidden
    merger = linear(hidden * config["spatial_merge_size"] ** 2, out) + out**2 + 2 * out + 3 * out * config["intermediate_size"]
    return stem + 2 * hidden + config["depth"] * layer + merger


def gemma4_tower(config: Config) -> int:
    """Gemma 4's vision side: Gemma's block, and positions per axis. [parameters]"""
    hidden, width = config["hidden_size"], config["head_dim"]
    attention = 2 * hidden * width * (config["num_attention_heads"] + config["num_key_value_heads"]) + 2 * width
    layer = attention + 3 * hidden * config["intermediate_size"] + 4 * hidden
    return hidden * (2 * config["position_embedding_size"] + 3 * config["patch_size"] ** 2) + config["num_hidden_layers"] * layer


def gemma4_audio_tower(config: Config) -> int:
    """Gemma 4's audio side: a Conformer after two convolutions. [parameters]

    Source: Gulati et al. 2020, arXiv 2005.08100.
    """
    hidden, (first, second) = config["hidden_size"], config["subsampling_conv_channels"]
    stem = 10 * first + (9 * first + 1) * second + first // 4 * second * hidden
    layer = 24 * hidden**2 + (9 + config["conv_kernel_size"]) * hidden + hidden // config["num_attention_heads"]
    return stem + config["num_hidden_layers"] * layer + linear(hidden, config["output_proj_dims"])


def llama4_tower(config: Config) -> int:
    """Llama 4's vision side: CLIP's stem, and an adapter on shuffled patches. [parameters]"""
    hidden, shuffled = config["hidden_size"], config["projector_output_dim"]
    stem = hidden * (config["num_channels"] * config["patch_size"] ** 2 + 1 + patches(config) + 1)
    adapter = config["intermediate_size"] * config["projector_input_dim"] + shuffled**2
    return stem + 4 * hidden + adapter + config["num_hidden_layers"] * _plain_layer(hidden, config["intermediate_size"])
