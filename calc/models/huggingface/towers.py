"""How many parameters the vision or audio tower of a Hugging Face config has, its projector into the text part included.

The towers are those of transformers 5.23; what a class fills in stands in the config already. Counts of numbers, not bytes.
"""

from collections.abc import Callable, Mapping
from typing import Any

Config = Mapping[str, Any]


def _linear(inside: int, outside: int, bias: bool = True) -> int:
    return inside * outside + bias * outside


def _plain_layer(hidden: int, ffn: int) -> int:
    """Attention and two matrices, all with biases, and two LayerNorms (Dosovitskiy et al. 2020, arXiv 2010.11929). [parameters]"""
    return 4 * _linear(hidden, hidden) + _linear(hidden, ffn) + _linear(ffn, hidden) + 4 * hidden


def _patches(config: Config) -> int:
    return (config["image_size"] // config["patch_size"]) ** 2


def clip(config: Config) -> int:
    """CLIP's vision side: a class token, positions, a norm before the layers and one after. [parameters]"""
    hidden = config["hidden_size"]
    stem = hidden * (config["num_channels"] * config["patch_size"] ** 2 + 1 + _patches(config) + 1)
    return stem + 4 * hidden + config["num_hidden_layers"] * _plain_layer(hidden, config["intermediate_size"])


def siglip(config: Config) -> int:
    """SigLIP's vision side (Zhai et al. 2023, arXiv 2303.15343): no class token, and a head that pools unless left out. [parameters]"""
    hidden, ffn = config["hidden_size"], config["intermediate_size"]
    pooled = hidden + 4 * _linear(hidden, hidden) + 2 * hidden + _linear(hidden, ffn) + _linear(ffn, hidden)
    return headless_siglip(config) + pooled * bool(config.get("vision_use_head", True))


def headless_siglip(config: Config) -> int:
    """The same without that head (Idefics 3, SmolVLM). [parameters]"""
    hidden = config["hidden_size"]
    stem = hidden * (config["num_channels"] * config["patch_size"] ** 2 + 1 + _patches(config))
    return stem + 2 * hidden + config["num_hidden_layers"] * _plain_layer(hidden, config["intermediate_size"])


def pixtral(config: Config) -> int:
    """Pixtral (Agrawal et al. 2024, arXiv 2410.07073): RMSNorms, a gated network, no biases. [parameters]"""
    hidden = config["hidden_size"]
    layer = 4 * hidden**2 + 3 * hidden * config["intermediate_size"] + 2 * hidden
    return hidden * (config["num_channels"] * config["patch_size"] ** 2 + 1) + config["num_hidden_layers"] * layer


def qwen2_vl(config: Config) -> int:
    """Qwen2-VL (Wang et al. 2024, arXiv 2409.12191): frames in pairs, and a merger of patches. [parameters]"""
    hidden, merged = config["embed_dim"], config["embed_dim"] * config["spatial_merge_size"] ** 2
    stem = config["in_channels"] * config["temporal_patch_size"] * config["patch_size"] ** 2 * hidden
    merger = 2 * hidden + _linear(merged, merged) + _linear(merged, config["hidden_size"])
    return stem + merger + config["depth"] * _plain_layer(hidden, int(hidden * config["mlp_ratio"]))


def qwen2_5_vl(config: Config) -> int:
    """Qwen2.5-VL (Bai et al. 2025, arXiv 2502.13923): the same with RMSNorms and a gated network. [parameters]"""
    hidden, ffn = config["hidden_size"], config["intermediate_size"]
    merged = hidden * config["spatial_merge_size"] ** 2
    stem = config["in_channels"] * config["temporal_patch_size"] * config["patch_size"] ** 2 * hidden
    layer = 4 * _linear(hidden, hidden) + 2 * _linear(hidden, ffn) + _linear(ffn, hidden) + 2 * hidden
    merger = hidden + _linear(merged, merged) + _linear(merged, config["out_hidden_size"])
    return stem + merger + config["depth"] * layer


def qwen3_vl(config: Config) -> int:
    """Qwen3-VL and Qwen3.5: learned positions, and a merger more for each layer that the text part sees (deepstack). [parameters]"""
    hidden = config["hidden_size"]
    merged = hidden * config["spatial_merge_size"] ** 2
    stem = _linear(config["in_channels"] * config["temporal_patch_size"] * config["patch_size"] ** 2, hidden)
    merger = _linear(merged, merged) + _linear(merged, config["out_hidden_size"])
    mergers = 2 * hidden + merger + len(config.get("deepstack_visual_indexes", ())) * (2 * merged + merger)
    positions = config["num_position_embeddings"] * hidden
    return stem + positions + mergers + config["depth"] * _plain_layer(hidden, config["intermediate_size"])


def whisper(config: Config) -> int:
    """Whisper's encoder (Radford et al. 2022, arXiv 2212.04356): two convolutions and positions. [parameters]"""
    hidden, ffn = config["d_model"], config["encoder_ffn_dim"]
    stem = _linear(3 * config["num_mel_bins"], hidden) + _linear(3 * hidden, hidden) + config["max_source_positions"] * hidden
    return stem + 2 * hidden + config["encoder_layers"] * (_plain_layer(hidden, ffn) - hidden)


def voxtral(config: Config) -> int:
    """Whisper's encoder under other names. [parameters]"""
    names = {"d_model": "hidden_size", "encoder_ffn_dim": "intermediate_size", "encoder_layers": "num_hidden_layers"}
    return whisper({**config, **{whisper_name: config[name] for whisper_name, name in names.items()}})


def llama4(config: Config) -> int:
    """Llama 4: SigLIP-like layers behind CLIP's stem, and an adapter of patches shuffled together. [parameters]"""
    hidden, shuffled = config["hidden_size"], config["projector_output_dim"]
    stem = hidden * (config["num_channels"] * config["patch_size"] ** 2 + 1 + _patches(config) + 1)
    adapter = config["intermediate_size"] * config["projector_input_dim"] + shuffled**2
    return stem + 4 * hidden + adapter + config["num_hidden_layers"] * _plain_layer(hidden, config["intermediate_size"])


def no_projector(_outer: Config, _tower: Config, _hidden: int) -> int:
    """The tower ends in the width of the text part."""
    return 0


def llava(outer: Config, tower: Config, hidden: int) -> int:
    """LLaVA's two matrices (Liu et al. 2023, arXiv 2310.03744), from one layer of the tower or several. [parameters]"""
    layers, bias = outer.get("vision_feature_layer"), outer.get("multimodal_projector_bias", True)
    width = tower["hidden_size"] * (len(layers) if isinstance(layers, list) else 1)
    return _linear(width, hidden, bias) + _linear(hidden, hidden, bias)


def llava_next(outer: Config, tower: Config, hidden: int) -> int:
    """The same and a vector that ends each row of patches. [parameters]"""
    return llava(outer, tower, hidden) + hidden


def gemma3(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix and a norm. [parameters]"""
    return tower["hidden_size"] * (hidden + 1)


def paligemma(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix with a bias. [parameters]"""
    return _linear(tower["hidden_size"], tower.get("projection_dim") or hidden)


def llama4_projector(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix. [parameters]"""
    return tower["vision_output_dim"] * hidden


def mistral3(outer: Config, tower: Config, hidden: int) -> int:
    """A norm, the merger of patches, and two matrices. [parameters]"""
    width, bias = tower["hidden_size"], outer.get("multimodal_projector_bias", False)
    merger = (width * outer.get("spatial_merge_size", 2)) ** 2
    return width + merger + _linear(width, hidden, bias) + _linear(hidden, hidden, bias)


def idefics3(outer: Config, tower: Config, hidden: int) -> int:
    """One matrix from the patches shuffled together. [parameters]"""
    return tower["hidden_size"] * outer.get("scale_factor", 2) ** 2 * hidden


def qwen2_audio(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix with a bias. [parameters]"""
    return _linear(tower["d_model"], hidden)


def voxtral_projector(_outer: Config, tower: Config, hidden: int) -> int:
    """Two matrices, from four frames at a time. [parameters]"""
    return tower["intermediate_size"] * hidden + hidden**2


# model_type of a tower: its count. Some published configs name the whole model there.
TOWERS: dict[str, Callable[[Config], int]] = {
    "clip_vision_model": clip,
    "llama4_vision_model": llama4,
    "siglip_vision_model": siglip,
    "idefics3_vision": headless_siglip,
    "smolvlm_vision": headless_siglip,
    "pixtral": pixtral,
    "qwen2_vl_vision": qwen2_vl,
    "qwen2_5_vl_vision": qwen2_5_vl,
    "qwen3_5_vision": qwen3_vl,
    "qwen3_5_moe_vision": qwen3_vl,
    "qwen3_vl_vision": qwen3_vl,
    "qwen3_vl_moe_vision": qwen3_vl,
    "qwen2_audio_encoder": whisper,
    "voxtral_encoder": voxtral,
}
# model_type of a config of several parts: the usual tower, and the projector's count.
JOINED: dict[str, tuple[str, Callable[[Config, Config, int], int]]] = {
    "gemma3": ("siglip_vision_model", gemma3),
    "shieldgemma2": ("siglip_vision_model", gemma3),
    "idefics3": ("idefics3_vision", idefics3),
    "smolvlm": ("smolvlm_vision", idefics3),
    "llama4": ("llama4_vision_model", llama4_projector),
    "llava": ("clip_vision_model", llava),
    "llava_next": ("clip_vision_model", llava_next),
    "llava_next_video": ("clip_vision_model", llava_next),
    "llava_onevision": ("siglip_vision_model", llava_next),
    "mistral3": ("pixtral", mistral3),
    "lighton_ocr": ("pixtral", mistral3),
    "paligemma": ("siglip_vision_model", paligemma),
    "qwen2_vl": ("qwen2_vl_vision", no_projector),
    "qwen2_5_vl": ("qwen2_5_vl_vision", no_projector),
    "qwen3_5": ("qwen3_5_vision", no_projector),
    "qwen3_5_moe": ("qwen3_5_moe_vision", no_projector),
    "qwen3_vl": ("qwen3_vl_vision", no_projector),
    "qwen3_vl_moe": ("qwen3_vl_moe_vision", no_projector),
    "qwen2_audio": ("qwen2_audio_encoder", qwen2_audio),
    "voxtral": ("voxtral_encoder", voxtral_projector),
}
TOWER_FIELDS = (
    *("hidden_size", "intermediate_size", "num_hidden_layers", "num_channels", "image_size", "patch_size", "vision_use_head"),
    *("embed_dim", "depth", "mlp_ratio", "in_channels", "temporal_patch_size", "spatial_merge_size", "out_hidden_size"),
    *("deepstack_visual_indexes", "num_position_embeddings", "projector_input_dim", "projector_output_dim", "vision_output_dim"),
    *("d_model", "encoder_ffn_dim", "encoder_layers", "num_mel_bins", "max_source_positions"),
)
PARTS = {"vision_config": "vision", "audio_config": "audio"}


def left_out(outer: Config, hidden: int, defaults: Mapping[str, Config]) -> tuple[str, int]:
    """What beside the text part a config holds, in words, and its parameters; 0 where no formula covers it. [parameters]"""
    named = [(name, words) for name, words in PARTS.items() if isinstance(outer.get(name), dict)]
    if not named:
        return ("its vision or audio tower", 0) if outer.get("model_type") in JOINED else ("", 0)
    words = " and ".join(words for _, words in named)
    usual, projector = JOINED.get(str(outer.get("model_type")), ("", None))
    if projector is None or len(named) > 1:
        return f"its {words} part", 0
    given = outer[named[0][0]]
    kind = given.get("model_type") if given.get("model_type") in TOWERS else usual
    tower = {**defaults.get(str(kind), {}), **{name: value for name, value in given.items() if value is not None}}
    try:
        count = int(TOWERS[str(kind)](tower) + projector(outer, tower, hidden))
    except (LookupError, TypeError, ValueError, ArithmeticError):
        count = 0
    return f"its {words} tower and the projector", max(count, 0)
