"""Added models in the link: custom.<id>.<field>, one size each."""

import json
from collections.abc import Container
from typing import Any

from calc.mappings import Json
from calc.models.foreign import MODEL_ID, left_out_fields, visible

PREFIX = "custom."
LONGEST_SIZE = 600


def compose_models(models: dict[str, Json]) -> dict[str, list[str]]:
    """The query of these models."""
    return {
        f"{PREFIX}{model}.{field}": [json.dumps(value)]
        for model, entry in models.items()
        for field, value in entry.items()
        if value not in ("", None)
    }


def read_models(
    query: dict[str, list[str]], taken: Container[str], complaints: list[str]
) -> dict[str, Json]:
    """Return the models of a query, without those whose ids are `taken` by the catalog.

    A complaint names each value that is not a size of a model, and each model that is left out.
    """
    models: dict[str, Json] = {}
    for name, texts in query.items():
        if not name.startswith(PREFIX):
            continue
        model, _, field = name.removeprefix(PREFIX).rpartition(".")
        value = _value(texts)
        if not MODEL_ID.fullmatch(model) or value is None or left_out_fields({field: value}):
            complaints.append(f"Ignored {visible(name, 40)} from the link: not a size of a model.")
            continue
        models.setdefault(model, {})[field] = value
    for model in [model for model in models if model in taken]:
        del models[model]
        complaints.append(
            f"Ignored the link's own model {model}: the catalog has a model of that name, and that "
            f"one is used."
        )
    return models


def _value(texts: list[str]) -> Any:
    """The first text as JSON: a number, a flag or a text; None for anything else."""
    try:
        value = json.loads(str(texts[0])[:LONGEST_SIZE], parse_constant=_refusal)
    except (ValueError, IndexError, RecursionError):
        return None
    return value if isinstance(value, int | float | str | bool) else None


def _refusal(word: str) -> None:
    raise ValueError(word)
