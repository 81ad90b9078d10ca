"""The sentence about a model_type that is not covered: why, and the nearest that is."""

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from calc.models.huggingface.model_types import ModelTypes
from calc.models.huggingface.values import short_value


def refusal(config: Mapping[str, Any], model_type: str, model_types: ModelTypes) -> str:
    """One sentence, without the model's name."""
    lower, covered = model_type.lower(), model_types.covered()
    if lower != model_type and lower in covered:
        return f"model_type {short_value(model_type)} is not covered; did you mean {lower}? Write it in small letters."
    begins = (why for begun, why in model_types.not_covered_begins.items() if lower.startswith(begun))
    why = model_types.not_covered.get(lower) or next(begins, "")
    nearest = _nearest(config, lower, covered, model_types)
    return f"model_type {short_value(model_type)} is not covered{': ' * bool(why)}{why}; the nearest that is covered is {nearest}."


def _nearest(config: Mapping[str, Any], lower: str, covered: Collection[str], model_types: ModelTypes) -> str:
    of_text = {*covered} - {name for name, parts in model_types.parts.items() if parts.text}
    candidates = covered if "vision_config" in config or "audio_config" in config else of_text
    by_name = get_close_matches(lower[:60], sorted(candidates), n=3, cutoff=0.7)
    by_field = [like for field, like in model_types.nearest.items() if config.get(field) and like in covered]
    return next((like for like in by_field if like in by_name), next(iter([*by_name, *by_field]), "llama"))
