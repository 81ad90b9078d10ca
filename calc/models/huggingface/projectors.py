"""What stands beside the text part of a Hugging Face config: its towers, and the projectors that join them to the text part.

The projectors are those of transformers 5.23, as the towers are (towers.py). Counts of numbers, not bytes.
"""

from collections.abc import Callable, Mapping

from calc.models.huggingface.towers import TOWERS, Config, linear


def no_projector(_outer: Config, _tower: Config, _hidden: int) -> int:
    """The tower ends in the width of the text part."""
    return 0


def llava(outer: Config, tower: Config, hidden: int) -> int:
    """LLaVA's two matrices (Liu et al. 2023, arXiv 2310.03744), from one layer of the tower or several. [parameters]"""
    layers, bias = outer.get("vision_feature_layer"), outer.get("multimodal_projector_bias", True)
    width = tower["hidden_size"] * (len(layers) if isinstance(layers, list) else 1)
    return linear(width, hidden, bias) + linear(hidden, hidden, bias)


def llava_next(outer: Config, tower: Config, hidden: int) -> int:
    """The same and a vector that ends each row of patches. [parameters]"""
    return llava(outer, tower, hidden) + hidden


def gemma3(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix and a norm. [parameters]"""
    return tower["hidden_size"] * (hidden + 1)


def paligemma(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix with a bias. [parameters]"""
    return linear(tower["hidden_size"], tower.get("projection_dim") or hidden)


def llama4_projector(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix. [parameters]"""
    return tower["vision_output_dim"] * hidden


def mistral3(outer: Config, tower: Config, hidden: int) -> int:
    """A norm, the merger of patches, and two matrices. [parameters]"""
    width, bias = tower["hidden_size"], outer.get("multimodal_projector_bias", False)
    merger = (width * outer.get("spatial_merge_size", 2)) ** 2
    return width + merger + linear(width, hidden, bias) + linear(hidden, hidden, bias)


def idefics3(outer: Config, tower: Config, hidden: int) -> int:
    """One matrix from the patches shuffled together. [parameters]"""
    return tower["hidden_size"] * outer.get("scale_factor", 2) ** 2 * hidden


def qwen2_audio(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix with a bias. [parameters]"""
    return linear(tower["d_model"], hidden)


def audio_flamingo(outer: Config, tower: Config, hidden: int) -> int:
    """Two matrices (Goel et al. 2025, arXiv 2507.08128). [parameters]"""
    bias = outer.get("projector_bias", True)
    return linear(tower["hidden_size"], hidden, bias) + linear(hidden, hidden, bias)


def voxtral_projector(_outer: Config, tower: Config, hidden: int) -> int:
    """Two matrices, from four frames at a time. [parameters]"""
    return tower["intermediate_size"] * hidden + hidden**2


def merged(outer: Config, tower: Config, hidden: int) -> int:
    """A norm and two matrices, from patches shuffled together (InternVL). [parameters]"""
    width = tower["hidden_size"] * round(1 / outer.get("downsample_ratio", 0.5)) ** 2
    return 2 * width + linear(width, hidden) + linear(hidden, hidden)


def kimi_k25(outer: Config, tower: Config, hidden: int) -> int:
    """A norm and two matrices, the first as wide as the patches merged. [parameters]"""
    width = tower.get("vt_hidden_size", tower["hidden_size"])
    rows, columns = tower["merge_kernel_size"]
    normed = tower.get("mm_hidden_size", outer.get("projection_hidden_size", width))
    return 2 * normed + linear(rows * columns * width, rows * columns * width) + linear(rows * columns * width, hidden)


def gemma4_projector(_outer: Config, tower: Config, hidden: int) -> int:
    """One matrix, from the width of the tower or that of its output. [parameters]"""
    return tower.get("output_proj_dims", tower["hidden_size"]) * hidden


# model_type of a config of several parts: the usual tower, and the projector's count.
JOINED: dict[str, tuple[str, Callable[[Config, Config, int], int]]] = {
    "audioflamingo3": ("audioflamingo3_encoder", audio_flamingo),
    "fuyu": ("", no_projector),
    "gemma3": ("siglip_vision_model", gemma3),
    "gemma4": ("gemma4_vision", gemma4_projector),
    "glm46v": ("glm4v_vision", no_projector),
    "glm4v": ("glm4v_vision", no_projector),
    "glm4v_moe": ("glm4v_moe_vision", no_projector),
    "internvl": ("internvl_vision", merged),
    "internvl_chat": ("internvl_vision", merged),
    "kimi_k25": ("kimi_k25_vision", kimi_k25),
    "shieldgemma2": ("siglip_vision_model", gemma3),
    "idefics3": ("idefics3_vision", idefics3),
    "smolvlm": ("smolvlm_vision", idefics3),
    "llama4": ("llama4_vision_model", llama4_projector),
    "llava": ("clip_vision_model", llava),
    "llava_next": ("clip_vision_model", llava_next),
    "llava_next_video": ("clip_vision_model", llava_next),
    "llava_onevision": ("siglip_vision_model", llava_next),
    "mistral3": ("pixtral", mistral3),
    "musicflamingo": ("audioflamingo3_encoder", audio_flamingo),
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
AUDIO = {"gemma4": ("gemma4_audio", gemma4_projector)}  # where an audio tower stands beside that
PARTS = {"vision_config": "vision", "audio_config": "audio"}


def left_out(outer: Config, hidden: int, defaults: Mapping[str, Config]) -> tuple[str, int]:
    """What beside the text part a config holds, in words, and its parameters; 0 where no formula covers it. [parameters]"""
    named = [name for name in PARTS if isinstance(outer.get(name), dict)]
    if not named:
        return ("its vision or audio tower", 0) if outer.get("model_type") in JOINED else ("", 0)
    words = " and ".join(PARTS[name] for name in named)
    several = "s" if len(named) > 1 else ""
    found = [_tower(outer, name, several, hidden, defaults) for name in named]
    if None in found:
        return f"its {words} part", 0
    return f"its {words} tower{several} and the projector{several}", sum(filter(None, found)) if all(found) else 0


def tower_of(outer: Config, name: str, usual: str, defaults: Mapping[str, Config]) -> tuple[str, Config]:
    """The model_type of a tower, the usual one where the config names none that is known, and its fields, its class's where not said."""
    given = outer[name]
    kind = str(given.get("model_type") if given.get("model_type") in TOWERS else usual)
    return kind, {**defaults.get(kind, {}), **{field: value for field, value in given.items() if value is not None}}


def _tower(outer, name, several, hidden, defaults):
    """Parameters of one tower and its projector; None where its kind is not known, 0 where its config is faulty."""
    joined = AUDIO if several and name == "audio_config" else JOINED
    usual, projector = joined.get(str(outer.get("model_type")), ("", None))
    if projector is None:
        return None
    kind, tower = tower_of(outer, name, usual, defaults)
    try:
        return max(int(TOWERS[kind](tower) + projector(outer, tower, hidden)), 0)
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return 0
