"""The text part of a Hugging Face config of several parts, and what the parts around it settle."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from calc.models.huggingface.values import ConfigError

# Names under which a config holds its text part, the outermost first; a thinker holds one of its own.
TEXT_PARTS = ("thinker_config", "text_config", "llm_config", "language_config")
# Configs of several parts, and the model_type of a text part that does not name its own (transformers 5.23).
WRAPPERS = {
    "audioflamingo3": "qwen2",
    "aria": "aria_text",
    "aya_vision": "cohere2",
    "blip-2": "opt",
    "cohere2_vision": "cohere2",
    "cosmos3_omni": "qwen3_vl_text",
    "deepseek_vl": "llama",
    "dots3_note": "dots3_note_text",
    "emu3": "emu3_text_model",
    "exaone4_5": "exaone4",
    "fast_vlm": "qwen2",
    "florence2": "bart",
    "fuyu": "persimmon",
    "gemma3": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "gemma4_unified": "gemma4_unified_text",
    "glm46v": "glm4v_text",
    "glm4v": "glm4v_text",
    "glm_ocr": "glm_ocr_text",
    "glmasr": "llama",
    "glm4v_moe": "glm4v_moe_text",
    "got_ocr2": "qwen2",
    "granite_docling": "granite_docling_text",
    "granite_speech": "granite",
    "idefics2": "mistral",
    "idefics3": "llama",
    "instructblip": "opt",
    "instructblipvideo": "opt",
    "internvl": "qwen2",
    "kimi_k25": "deepseek_v3",
    "lfm2_vl": "lfm2",
    "lighton_ocr": "qwen3",
    "llama4": "llama4_text",
    "llava": "llama",
    "llava_next": "llama",
    "llava_next_video": "llama",
    "llava_onevision": "qwen2",
    "mistral3": "mistral",
    "minimax_m3_vl": "minimax_m3_vl_text",
    "mllama": "mllama_text_model",
    "moss_transcribe_diarize": "qwen3",
    "musicflamingo": "qwen2",
    "ovis2": "qwen2",
    "paddleocr_vl": "paddleocr_vl_text",
    "paligemma": "gemma",
    "perception_lm": "llama",
    "phi4_multimodal": "phi3",
    "pp_chart2table": "qwen2",
    "qianfan_ocr": "qwen3",
    "qwen2_5_omni_thinker": "qwen2_5_omni_text",
    "qwen2_5_vl": "qwen2_5_vl_text",
    "qwen2_audio": "qwen2",
    "qwen2_vl": "qwen2_vl_text",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
    "qwen3_asr": "qwen3",
    "qwen3_omni_moe_thinker": "qwen3_omni_moe_text",
    "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
    "shieldgemma2": "gemma3_text",
    "smolvlm": "llama",
    "video_llava": "llama",
    "vipllava": "llama",
    "voxtral": "llama",
}
# Whether head and embedding are shared is for the outer config to say, but in some the text part does, or either.
TEXT_PART_TIES = {"blip-2", "instructblip", "instructblipvideo", "llama4"}
EITHER_TIES = {"glm46v", "glm4v", "glm4v_moe", "glm_ocr", "llava", "llava_next_video", "llava_onevision", "qwen2_5_vl", "qwen2_vl"}
EITHER_TIES |= {"shieldgemma2"}
NEVER_TIED = {"audioflamingo3", "musicflamingo", "qwen2_audio", "voxtral"}
# Checkpoints with a head of their own, where the class would share it unless the config forbids that.
OWN_HEAD = {"mistral3", "kimi_k25"}


class TextPart(NamedTuple):
    """A config without the parts around its text part, its model_type, and the config around it where there is one."""

    config: dict[str, Any]
    model_type: str
    outer: Mapping[str, Any] | None


def text_part(config: dict[str, Any], model_id: str, defaults: Mapping[str, Mapping[str, Any]]) -> TextPart:
    """The config of the text part, or the config itself; sizes of early Qwen2-VL files stand beside its parts."""
    model_type = model_type_of(config, model_id)
    name = next((name for name in TEXT_PARTS if isinstance(config.get(name), dict)), None)
    if model_type == "clip" or (name is None and model_type not in WRAPPERS):
        return TextPart(config, model_type, None)
    inner = dict(config[name]) if name else {key: value for key, value in config.items() if key not in ("architectures", "auto_map")}
    usual = WRAPPERS.get(model_type)
    if not name:
        inner["model_type"] = usual
    if not inner.get("model_type"):
        inner["model_type"] = usual or f"{model_type}_text"
    if name == "thinker_config":
        part = text_part(inner, model_id, defaults)
        return part if part.outer else part._replace(outer=config)
    tied = _tied(config, inner, model_type, defaults.get(model_type, {}))
    if tied is not None:
        inner["tie_word_embeddings"] = tied
    return TextPart(inner, model_type_of(inner, model_id), config)


def _tied(outer, inner, model_type, defaults):
    """Whether head and embedding are shared: true, false, or None where the class of the text part settles it."""
    own, said = inner.get("tie_word_embeddings"), outer.get("tie_word_embeddings")
    if model_type in TEXT_PART_TIES:
        return own
    if model_type in NEVER_TIED:
        return False
    if model_type in EITHER_TIES:
        return own if said in (None, False) else said
    if said is None and model_type in OWN_HEAD:
        return bool(own)
    usual = defaults.get("tie_word_embeddings", own)
    return usual if said is None else said


def model_type_of(config: Mapping[str, Any], model_id: str) -> str:
    """The model_type that a config names; what is no config of a model is refused in the words of what it is."""
    model_type = config.get("model_type")
    if isinstance(model_type, str) and model_type:
        return model_type
    raise ConfigError(f"{model_id}: model_type is missing; {_instead(config)}.")


def _instead(config):
    if "peft_type" in config or "base_model_name_or_path" in config:
        return "this is the config of an adapter, give that of the model it adapts"
    if "_class_name" in config or "_diffusers_version" in config:
        return "this is a config of diffusers, whose models are not covered"
    if "dim" in config and "n_layers" in config:
        return "this is a params.json, give the config.json in the form of transformers"
    return "give the config.json of a model"
