"""The total of a model whose type is not covered, from the index of its weights."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from calc.models.huggingface.values import ConfigError, short_value

Config = Mapping[str, Any]
DTYPE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
INDEX = ("metadata", "weight_map")


def read_documents(text: str) -> tuple[Any, Config]:
    """The config in a text, and the safetensors index that stands before or after it, if any."""
    documents: list[Any] = []
    start, text = 0, text.strip()
    try:
        while start < len(text) and len(documents) < 2:
            document, end = json.JSONDecoder().raw_decode(text, start)
            documents.append(document)
            start = end + len(text[end:]) - len(text[end:].lstrip())
        if start < len(text) or not documents:
            json.loads(text)
    except (ValueError, RecursionError) as error:
        line = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ConfigError(f"this is not JSON{line}; give a config.json as the hub has it.") from None
    indexes = [document for document in documents if is_index(document)]
    configs = [document for document in documents if not is_index(document)]
    if len(configs) != 1:
        raise ConfigError("give one config.json, and with it at most the index of its weights.")
    return configs[0], indexes[0] if indexes else {}


def is_index(document: Any) -> bool:
    """Whether this is a model.safetensors.index.json."""
    return isinstance(document, dict) and all(isinstance(document.get(name), dict) for name in INDEX)


def total_entry(config: Config, model_type: str, index: Config, model_id: str, not_covered: Collection[str]) -> dict[str, Any] | None:
    """The entry of a model of which the total alone is known.

    None where it is not known, or `not_covered` explains the type.
    """
    total = total_parameters(config, index)
    if not total or model_type.lower() in not_covered:
        return None
    source = "its model.safetensors.index.json"
    return {
        "name": model_id,
        "family": "",
        "model_type": short_value(model_type),
        "total_parameters": total,
        "source": source,
        "checked_on": "",
    }


def total_parameters(config: Config, index: Config) -> int:
    """Parameters that the index counts, or that its bytes come to; 0 if unknown. [parameters]"""
    metadata = index.get("metadata", {})
    counted, stored = metadata.get("total_parameters"), metadata.get("total_size")
    if isinstance(counted, int) and 0 < counted < 1e15:
        return counted
    parts = [config, *(part for part in config.values() if isinstance(part, dict))]
    if any(part.get("quantization_config") or part.get("compression_config") for part in parts):
        return 0
    named = [str(part.get("dtype") or part.get("torch_dtype") or "").removeprefix("torch.") for part in parts]
    width = next((DTYPE_BYTES[name] for name in named if name in DTYPE_BYTES), 0)
    return int(stored // width) if width and isinstance(stored, int) and 0 < stored < 1e15 else 0
