"""Repository names as ids of the catalog of models."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import Any

from calc.files.configs.fields import table

# Tuned, mirrored and quantised copies have the shapes of their base; these suffixes say only what was done to it.
COPIES = re.compile(
    r"-(instruct|chat|it|base|hf|fp8|fp16|bf16|awq|gptq|int4|int8|4bit|8bit|bnb|nf4|nvfp4|fp4|dynamic|w4a16|gguf|dequantized|\d{4})$"
)
SAME_RATIO = 0.005  # vocabularies are padded to multiples
OWNERS = re.compile(r"^(meta|nvidia)-")
STORED = {"awq": "awq-4bit", "gptq": "gptq-4bit", "fp8": "fp8", "nvfp4": "nvfp4", "mxfp4": "mxfp4", "bnb": "nf4"}


def model_id(name: str, catalogs: Any) -> str:
    """The id that a name means: an id, a repository or a copy of one; empty if ambiguous."""
    if name in catalogs.models.index:
        return name
    repositories = catalogs.models["hf_repo"].astype(str) if "hf_repo" in catalogs.models else catalogs.models.index.to_series()
    tail = PurePosixPath(name.rstrip("/")).name
    keys = ((name.lower(), str.lower), (tail.lower(), _tail), (_plain(tail), lambda text: _plain(_tail(text))))
    for key, spelling in (*keys, (_joined(tail), lambda text: _joined(_tail(text)))):
        matches = [model for model, repository in repositories.items() if repository and spelling(repository) == key]
        matches = matches or [model for model in repositories.index if spelling(str(model)) == key]
        if len(matches) == 1:
            return str(matches[0])
    same = table("copies").get(_plain(tail), "")
    return same if same in catalogs.models.index else ""


def nearest_id(name: str, catalogs: Any) -> str:
    """The id most like the name; empty where none is like it."""
    close = get_close_matches(_plain(PurePosixPath(name.rstrip("/")).name), list(map(str, catalogs.models.index)), n=1, cutoff=0.5)
    return close[0] if close else ""


def by_sizes(sizes: Mapping[str, Any], catalogs: Any, named: str = "") -> str:
    """The model of the catalog with all these sizes, or empty.

    Of several, the preferred one (`named`), else the base model, which has the shortest id. Unless the sizes say otherwise, there are
    as many key heads as heads, and no experts.
    """
    models = catalogs.models
    wide = catalogs.stacks.groupby("model")["ffn_width"].max()
    experts = catalogs.stacks.groupby("model")["experts"].max()
    has = {"ffn": wide.reindex(models.index), "experts": experts.reindex(models.index)}
    wanted = {"kv_heads": sizes.get("heads"), "experts": 0, **sizes}
    model_type = wanted.pop("model_type", "")
    same = (models["kind"] == "decoder") & ((models["model_type"] == model_type) | (model_type == ""))
    for name, value in wanted.items():
        same &= abs(has.get(name, models.get(name)).astype(float) / float(value) - 1 if value else has[name].astype(float)) <= SAME_RATIO
    return min(map(str, models.index[same]), key=lambda model: (model != named, len(model), model), default="")


def stored_as(name: str) -> str:
    """The quantised format in a repository's name; empty where there is none."""
    words = re.split(r"[-_./]", name.lower())
    return next((STORED[word] for word in words if word in STORED), "")


def _tail(repository: str) -> str:
    return PurePosixPath(repository).name.lower()


def _joined(name: str) -> str:
    return _plain(name).replace("-", "").replace("_", "")


def _plain(name: str) -> str:
    name, shorter = OWNERS.sub("", name.lower()), ""
    while (shorter := COPIES.sub("", name)) != name:
        name = shorter
    return name
