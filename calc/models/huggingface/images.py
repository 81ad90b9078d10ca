"""Sizes of a vision or audio tower: patches, layers, and tokens for the text part.

An image counts as one tile where a class cuts images into tiles, and as 1024 x 1024 pixels where a class takes any size,
unless the scenario sets the tokens per image. A sound is 30 seconds long, as Whisper's encoder takes it, and its frames are the
patches. Source: the classes of transformers 5.23.
"""

from collections.abc import Mapping
from typing import Any

from calc.models.huggingface.expressions import side
from calc.models.huggingface.model_types import ModelTypes, Parts, Tower
from calc.models.huggingface.parts import Config, tower_of

USUAL_PIXELS = 1024  # per side of an image, where the class does not fix it
GEMMA4_TOKENS, GEMMA4_POOLED = 280, 9  # most tokens per image; patches per token (image_processing_gemma4.py)


def image_sizes(outer: Config, model_types: ModelTypes, defaults: Mapping[str, Config]) -> dict[str, Any]:
    """Sizes of the tower and of an image or a sound; {} without a tower that can be read."""
    usual = model_types.parts.get(str(outer.get("model_type")), Parts()).tower
    sound = bool(usual) and model_types.towers[usual].frames_per_token > 0
    part = "audio_config" if sound else "vision_config"
    if not usual or not isinstance(outer.get(part), dict):
        return {}
    try:
        kind, fields = tower_of(outer, part, usual, model_types, defaults)
        return (_sound_sizes if sound else _sizes)(outer, kind, model_types.towers[kind], fields)
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return {}


def _sizes(outer: Config, kind: str, tower: Tower, fields: Config) -> dict[str, Any]:
    named = {name.removeprefix("vt_"): value for name, value in fields.items()}
    layers, hidden = named.get("num_hidden_layers") or named["depth"], named.get("embed_dim") or named["hidden_size"]
    merged = patches_per_token(outer, kind, fields)
    windowed = kind == "qwen2_5_vl_vision"
    full = len(fields["fullatt_block_indexes"]) if windowed else layers
    sizes = {
        "tower_layers": layers,
        "tower_full_layers": full if full < layers else 0,
        "tower_window_tokens": (fields["window_size"] // side(fields["patch_size"])) ** 2 if windowed else 0,
        "tower_hidden": hidden,
        "tower_heads": named.get("num_attention_heads") or named.get("num_heads"),
        "tower_ffn": _inner_width(kind, named, hidden),
        "tower_gated": int(tower.gated),
        "patches_per_image_token": int(merged) if merged == int(merged) else merged,
        "usual_image_tokens": _tokens(kind, tower, named, merged),
        "tower_block": _block(kind, tower, named),
    }
    return {name: value for name, value in sizes.items() if value}


def _sound_sizes(_outer: Config, kind: str, tower: Tower, fields: Config) -> dict[str, Any]:
    as_whisper = kind == "qwen2_audio_encoder"
    return {
        "tower_layers": fields["encoder_layers" if as_whisper else "num_hidden_layers"],
        "tower_hidden": fields["d_model" if as_whisper else "hidden_size"],
        "tower_heads": fields["encoder_attention_heads" if as_whisper else "num_attention_heads"],
        "tower_ffn": fields["encoder_ffn_dim" if as_whisper else "intermediate_size"],
        "patches_per_image_token": tower.frames_per_token,
        "usual_image_tokens": fields["max_source_positions"] // tower.frames_per_token,
        "tower_block": tower.block,
    }


def patches_per_token(outer: Config, kind: str, tower: Config) -> float:
    """Patches that become one token of the text part."""
    if kind == "gemma4_vision":
        return GEMMA4_POOLED
    if "mm_tokens_per_image" in outer or outer.get("model_type") in ("gemma3", "shieldgemma2"):
        return (side(tower["image_size"]) // side(tower["patch_size"])) ** 2 / outer.get("mm_tokens_per_image", 256)
    if "merge_kernel_size" in tower:
        rows, columns = tower["merge_kernel_size"]
        return rows * columns
    merged_by_text_part = outer.get("model_type") in ("mistral3", "lighton_ocr")
    sides: dict[str, int] = {  # of the square of patches that become one token
        "idefics3_vision": outer.get("scale_factor", 2),
        "internvl_vision": round(1 / outer.get("downsample_ratio", 0.5)),
        "llama4_vision_model": round(1 / tower.get("pixel_shuffle_ratio", 0.5)),
        "pixtral": outer.get("spatial_merge_size", 2) if merged_by_text_part else 1,
        "smolvlm_vision": outer.get("scale_factor", 2),
    }
    return (sides.get(kind) or tower.get("spatial_merge_size", 1)) ** 2


def _tokens(kind: str, tower: Tower, fields: Config, merged: float) -> int:
    if kind == "gemma4_vision":
        return GEMMA4_TOKENS
    pixels = side(fields["image_size"]) if tower.fixed_image else USUAL_PIXELS
    patches = side(fields["patch_size"]) if tower.fixed_image else side(fields["patch_size"]) * round(merged**0.5)
    tokens = (pixels // patches) ** 2
    return round(tokens / merged) if tower.fixed_image else tokens


def _block(kind: str, tower: Tower, fields: Config) -> str:
    """The kind of block of a tower's layers; "" where it was not read off."""
    if kind == "internvl_vision":
        return "internvl_vision_normed" if fields.get("use_qk_norm") or fields.get("qk_normalization") else kind
    if kind == "gemma4_vision":
        return "gemma4_vision_clipped" if fields.get("use_clipped_linears") else kind
    return tower.block


def _inner_width(kind: str, tower: Mapping[str, Any], hidden: int) -> int:
    if kind.startswith("glm4v"):
        return tower["out_hidden_size"]
    return int(hidden * tower["mlp_ratio"]) if kind == "qwen2_vl_vision" else tower["intermediate_size"]
