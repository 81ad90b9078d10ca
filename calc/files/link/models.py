"""Added models in the link: custom.<id>.<field>, one size each."""

import json
import re
from math import inf
from typing import Any

PREFIX = "custom."
LONGEST_SIZE = 600
ID = re.compile(r"[a-z0-9.-]{1,60}")
UNSAFE = re.compile(r"[^\w .,()+/&'-]")  # characters that Markdown reads and no model's name needs


def compose_models(models: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """The query of these models."""
    return {
        f"{PREFIX}{model}.{field}": [json.dumps(value)]
        for model, entry in models.items()
        for field, value in entry.items()
        if value not in ("", None)
    }


def read_models(query: dict[str, list[str]], complaints: list[str]) -> dict[str, dict[str, Any]]:
    """The models of a query; a complaint for each value that is no size."""
    models: dict[str, dict[str, Any]] = {}
    for name, texts in query.items():
        if not name.startswith(PREFIX):
            continue
        model, _, field = name.removeprefix(PREFIX).rpartition(".")
        try:
            value = json.loads(str(texts[0])[:LONGEST_SIZE], parse_constant=_refused)
            if (
                not ID.fullmatch(model)
                or not field
                or not isinstance(value, (int, float, str, bool))
                or value in (inf, -inf)
            ):
                raise ValueError
        except (ValueError, IndexError, RecursionError):
            complaints.append(f"The link's {name[:40]} is not a size of a model; it was ignored.")
            continue
        models.setdefault(model, {})[field] = (
            UNSAFE.sub("", str(value))[:60] if field == "name" else value
        )
    return models


def _refused(word: str) -> None:
    raise ValueError(word)
