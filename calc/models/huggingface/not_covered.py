"""What is said of a model_type that is not covered: why, where that is known, and the nearest one that is."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from calc.models.huggingface.parts import WRAPPERS
from calc.models.huggingface.values import shown

STATE = "its layers keep a state instead of a cache, which is not modelled yet"
SPARSE = "attention to blocks that an indexer chooses is not modelled yet"
WHY = {"deepseek_v4": "caches compressed layer by layer and several residual streams are not modelled yet"}
WHY["deepseek_ref"] = WHY["deepseek_v4"]  # as some copies of it are named
WHY |= {"minimax_m3": SPARSE, "longcat_flash": "two attentions beside experts in one layer are not modelled yet"}
WHY |= dict.fromkeys(("zamba", "zamba2"), "one block of attention whose weights many layers share is not modelled yet")
WHY |= {"hrm_text": "layers that are passed several times are not modelled yet"}
STATES = ("rwkv", "recurrent_gemma")
# A field that only such models have, and the covered type that is then the nearest.
LIKE = {
    "kv_lora_rank": "deepseek_v3",
    "shared_expert_intermediate_size": "qwen2_moe",
    "num_experts": "qwen3_moe",
    "n_routed_experts": "glm4_moe",
    "num_local_experts": "mixtral",
    "is_encoder_decoder": "t5",
    "patch_size": "vit",
    "type_vocab_size": "bert",
}


def not_covered(config: Mapping[str, Any], model_type: str, covered: Collection[str]) -> str:
    """One sentence, without the model's name."""
    lower = model_type.lower()
    if lower != model_type and lower in covered:
        return f"model_type {shown(model_type)} is not covered; did you mean {lower}? Write it in small letters."
    why = WHY.get(lower) or next((STATE for begun in STATES if lower.startswith(begun)), "")
    nearest = _nearest(config, lower, covered)
    return f"model_type {shown(model_type)} is not covered{': ' * bool(why)}{why}; the nearest that is covered is {nearest}."


def _nearest(config, lower, covered):
    alike = covered if "vision_config" in config or "audio_config" in config else {*covered} - {*WRAPPERS}
    named = get_close_matches(lower[:60], sorted(alike), n=3, cutoff=0.7)
    held = [like for field, like in LIKE.items() if config.get(field) and like in covered]
    return next((like for like in held if like in named), next(iter([*named, *held]), "llama"))
