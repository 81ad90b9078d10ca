"""A model_type that is not covered: the reason, the nearest that is, and its parameters.

The index of its weights counts them.
"""

import json
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any, NamedTuple

from calc.mappings import Cells, Json
from calc.models.huggingface.type_rules import ModelTypes
from calc.models.huggingface.values import ConfigError, short_value

DTYPE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
INDEX = ("metadata", "weight_map")


def read_documents(text: str) -> tuple[Any, Cells]:
    """The config in a text, and the safetensors index before or after it, if any."""
    documents: list[Any] = []
    rest = text.strip()
    try:
        while rest and len(documents) < 2:
            document, end = json.JSONDecoder().raw_decode(rest)
            documents.append(document)
            rest = rest[end:].lstrip()
        if rest or not documents:
            json.loads(text.strip())  # raises the error that names the line
    except (ValueError, RecursionError) as error:
        line = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ConfigError(
            f"this is not JSON{line}; give a config.json as the hub has it."
        ) from None
    configs: list[Any] = []
    indexes: list[Cells] = []
    for document in documents:
        is_index = isinstance(document, dict) and all(
            isinstance(document.get(name), dict) for name in INDEX
        )
        (indexes if is_index else configs).append(document)
    if len(configs) != 1:
        raise ConfigError("give one config.json and at most one index of its weights.")
    return configs[0], indexes[0] if indexes else {}


def total_entry(
    config: Cells, model_type: str, index: Cells, model_id: str, not_covered: Collection[str]
) -> Json | None:
    """The entry of a model of which only the total is known; None if it is not.

    None as well where `not_covered` explains the type.
    """
    total = _total_parameters(config, index)
    if not total or model_type.lower() in not_covered:
        return None
    source = {"source": "its model.safetensors.index.json", "checked_on": ""}
    return {
        "name": model_id,
        "family": "",
        "model_type": short_value(model_type),
        "total_parameters": total,
        **source,
    }


def _total_parameters(config: Cells, index: Cells) -> int:
    """Parameters as the index counts them, or from its bytes; 0 if unknown. [parameters]"""
    metadata = index.get("metadata", {})
    parameter_count = metadata.get("total_parameters")
    file_bytes = metadata.get("total_size")
    if isinstance(parameter_count, int) and 0 < parameter_count < 1e15:
        return parameter_count
    parts = [config, *(part for part in config.values() if isinstance(part, dict))]
    if any(part.get("quantization_config") or part.get("compression_config") for part in parts):
        return 0
    dtypes = [
        str(part.get("dtype") or part.get("torch_dtype") or "").removeprefix("torch.")
        for part in parts
    ]
    width = next((DTYPE_BYTES[name] for name in dtypes if name in DTYPE_BYTES), 0)
    return (
        int(file_bytes // width)
        if width and isinstance(file_bytes, int) and 0 < file_bytes < 1e15
        else 0
    )


class UncoveredType(NamedTuple):
    """A model_type that is not covered: why, and the covered type that is meant or nearest."""

    model_type: str
    why: str = ""
    meant: str = ""
    nearest: str = ""

    def error(self) -> ConfigError:
        """Return the error that refuses the type."""
        model_type = short_value(self.model_type)
        why = f": {self.why}" if self.why else ""
        if self.meant:
            return ConfigError(
                f"model_type {model_type} is not covered{why}; did you mean {self.meant}? Write "
                f"it in small letters."
            )
        return ConfigError(
            f"model_type {model_type} is not covered{why}; the nearest that is covered is "
            f"{self.nearest}."
        )


def uncovered_type(config: Cells, model_type: str, model_types: ModelTypes) -> UncoveredType:
    """Return why a type is not covered, and the type that is."""
    lower = model_type.lower()
    covered_types = model_types.covered_types()
    if lower != model_type and lower in covered_types:
        return UncoveredType(model_type, meant=lower)
    begins = (
        why
        for beginning, why in model_types.not_covered_begins.items()
        if lower.startswith(beginning)
    )
    why = model_types.not_covered.get(lower) or next(begins, "")
    return UncoveredType(
        model_type, why, nearest=_nearest(config, lower, covered_types, model_types)
    )


def _nearest(
    config: Cells, lower: str, covered_types: Collection[str], model_types: ModelTypes
) -> str:
    """The covered type that is most like another, by its name or by its fields."""
    with_text_part = {name for name, parts in model_types.parts.items() if parts.text}
    has_tower = "vision_config" in config or "audio_config" in config
    candidates = covered_types if has_tower else {*covered_types} - with_text_part
    by_name = get_close_matches(lower[:60], sorted(candidates), n=3, cutoff=0.7)
    by_field = [
        like
        for field, like in model_types.nearest.items()
        if config.get(field) and like in covered_types
    ]
    by_both = [like for like in by_field if like in by_name]
    return [*by_both, *by_name, *by_field, "llama"][0]
