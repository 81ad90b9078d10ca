"""Repository names as ids of the catalog of models."""

import re
from collections import defaultdict
from difflib import SequenceMatcher, get_close_matches
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.files.configs.fields import field_catalog
from calc.mappings import Json

# Tuned, mirrored and quantized copies have the shapes of their base; these suffixes say only what
# was done to it.
COPIES = re.compile(
    r"[-_.](instruct|chat|sft|dpo|it|base|hf|fp8|fp16|bf16|awq|gptq|int4|int8|4bit|8bit|bnb|nf4"
    r"|nvfp4|fp4|dynamic|static|w4a16|w8a16|w8a8|w4a8|w4afp8|g128|gs128|sym|asym|autoround"
    r"|auto-round|round|auto|marlin|mxfp4|quantized|quant|block|tensorwise|torchao"
    r"|unsloth|mlx|gguf|dequantized|kv|\d{4}|abliterated|uncensored|thinking|tp\d)$"
)
TUNED = re.compile(
    r"-(?:instruct|chat|it|base|thinking)(?=-v?\d)"
)  # before a release: Mistral-7B-Instruct-v0.3
OF_FORMAT = re.compile(r"(?<=fp4|fp8|awq)-v\d$", re.I)  # which issue of a quantized copy
OF_VERSION = re.compile(r"(?<=-)v(\d)-(\d)(?=-|$)")  # v0-3 for v0.3
LONGEST_NAME = 500  # characters, the folders before it included
SAME_RATIO = 0.005  # vocabularies are padded to multiples
TRAITS = {
    "ffn": "ffn_width",
    "experts": "experts",
    "expert_ffn": "expert_ffn_width",
    "shared_ffn": "shared_ffn_width",
}
TRAITS |= {"top_experts": "experts_per_token", "gated": "gated_ffn_width", "rms": "rms_norm_width"}
CACHED = re.compile(r"models--([\w.-]+?)--([\w.-]+)(?:/|$)")  # a folder of the hub's cache
RELEASE = re.compile(r"(\d)-(\d)(?=-)")  # 3-1 for 3.1, before a size
JUMPSTART = re.compile(
    r"(?P<maker>[a-z]+-)?(?:textgeneration|llm|vlm|reasoning|text2text)[a-z0-9]*-"
    r"(?P<name>[a-z][\w.-]+)"
)  # meta-textgeneration-llama-3-1-8b
SIZE = re.compile(r"\d{1,4}(?:\.\d{1,2})?b")  # of a model, in its name
NIM = re.compile(
    r"(?:nvcr\.io/nim/[\w.-]+/|nvidia-nim-)([a-z][\w.-]*?)(?:-\d+\.\d+\.\d+)?(?::.*)?$"
)  # an image or a runtime of NVIDIA's that is named after its model
REVISION = re.compile(r"(?<=[\w.-])@[\w./-]+$")
SIZED = re.compile(r"\d[bm](?:-a\d+b)?$")  # an id that ends in the size of its model
OTHER_SHAPES = frozenset(
    {
        *("draft", "eagle", "eagle3", "medusa", "speculator", "assistant", "mtp", "dflash"),
        *("vl", "vision", "omni", "audio", "embedding", "embed", "reranker", "reward", "rm"),
        *("moe", "pruned", "minitron", "depth", "width", "merge", "frankenmerge", "e5", "tts"),
        *("pro", "upscaled", "expanded", "passthrough"),
    }
)  # words of names that have other layers than the model they begin from
OWNERS = re.compile(r"^(meta|nvidia)-")
STORED = {"bf16": "bf16", "fp16": "fp16", "awq": "awq-4bit", "gptq": "gptq-4bit"}
STORED |= {"w4a16": "gptq-4bit", "autoround": "gptq-4bit", "w8a8": "int8", "w8a16": "int8"}
STORED |= {"int4": "gptq-4bit", "int8": "int8", "fp4": "nvfp4"}
STORED |= {"fp8": "fp8", "nvfp4": "nvfp4", "mxfp4": "mxfp4", "bnb": "nf4"}
EIGHT_BITS, BY_GROUPS = {"int8", "8bit", "w8a16", "8bits"}, {"gptq", "awq", "autoround"}


def model_id(name: str, catalogs: Any) -> str:
    """The id that a name means: an id, a repository or a copy of one; empty if ambiguous."""
    if name in catalogs.models.index:
        return name
    if len(name) > LONGEST_NAME:
        return ""
    name = OF_VERSION.sub(r"v\1.\2", OF_FORMAT.sub("", _of_jumpstart(name)))
    cached = CACHED.search(name)
    name = "/".join(cached.groups()) if cached else REVISION.sub("", name)
    tail = PurePosixPath(name.rstrip("/")).name.removesuffix(".nemo")
    for key, several in zip(
        (name.lower(), tail.lower(), _released(tail), _plain(tail), _without_separators(tail)),
        _spellings(catalogs),
        strict=True,
    ):
        if len(matches := several.get(key, [])) == 1:
            return matches[0]
    copies = field_catalog().copies
    same = copies.get(name.lower()) or copies.get(_plain(tail), "")
    same = same or copies.get(RELEASE.sub(r"\1.\2", _plain(tail)), "")
    if same in catalogs.models.index:
        return same
    return _tuned_from(_plain(tail), catalogs) if "/" in name else ""


def _of_jumpstart(name: str) -> str:
    """The usual name of a model of SageMaker JumpStart: 3.1 for 3-1, and no -f for chat."""
    match = JUMPSTART.fullmatch(name)
    if not match:
        return name
    maker = match["maker"] if match["maker"] == "deepseek-" else ""
    released = RELEASE.sub(r"\1.\2", match["name"])
    return f"jumpstart/{maker}{released.removesuffix('-f')}"


def _tuned_from(name: str, catalogs: Any) -> str:
    """The model whose id with its size begins or ends a name: hermes-3-llama-3.1-8b; else empty."""
    if OTHER_SHAPES & set(re.split(r"[-_.]", name)):
        return ""
    spelled = name.replace("_", "-")
    within = [model for model, pattern in _id_patterns(catalogs).items() if pattern.search(spelled)]
    return max(within, key=len, default="")


@cached_per_catalogs("models")
def _id_patterns(catalogs: Catalogs) -> dict[str, re.Pattern[str]]:
    """For each id that ends in a size, an expression for it at either end of a longer name.

    The point of a release may be a hyphen or left out: llama-3.2-3b is llama-3-2-3b and llama32-3b.
    """
    patterns = {}
    for model in (str(one) for one in catalogs.models.index if SIZED.search(str(one))):
        parts = re.split(r"(?<=[a-z])-(?=\d)", model)  # where letters meet a number
        spelled = "-?".join(re.escape(part) for part in parts)
        spelled = spelled.replace(r"\.", r"(?:\.|-(?=\d-)|(?=\d-))").replace(r"\-", "-")
        patterns[model] = re.compile(rf"(?:^|-){spelled}$|^{spelled}(?:-|$)")
    return patterns


@cached_per_catalogs("models")
def _spellings(catalogs: Any) -> list[dict[str, list[str]]]:
    """For each way to spell a name, its models: by repository, else by id."""
    ids = [str(model) for model in catalogs.models.index]
    repositories = catalogs.models["hf_repo"].astype(str) if "hf_repo" in catalogs.models else ids
    spellings = []
    for spelling in (
        str.lower,
        _tail,
        lambda text: _released(_tail(text)),
        lambda text: _plain(_tail(text)),
        lambda text: _without_separators(_tail(text)),
    ):
        by_repository, by_id = defaultdict(list), defaultdict(list)
        for model, repository in zip(ids, repositories, strict=True):
            by_id[spelling(model)].append(model)
            if repository:
                by_repository[spelling(repository)].append(model)
        spellings.append({**by_id, **by_repository})
    return spellings


def nearest_id(name: str, catalogs: Any) -> str:
    """The id most like the name; empty where none is like it."""
    if len(name) > LONGEST_NAME:
        return ""
    plain, ids = _plain(PurePosixPath(name.rstrip("/")).name), list(map(str, catalogs.models.index))
    if of_family := _of_family(plain, ids):
        return of_family
    close = get_close_matches(plain, ids, n=1, cutoff=0.5)
    return close[0] if close else ""


def _of_family(name: str, ids: list[str]) -> str:
    """The id that shares the size and most words with a name: mistral-7b of hermes-mistral-7b."""
    words = set(name.split("-"))
    sizes = {word for word in words if SIZE.fullmatch(word)}
    shared = {
        one: words.intersection(one.split("-"))
        for one in ids
        if sizes and sizes.intersection(one.split("-"))
    }
    named = [one for one, common in shared.items() if any(map(str.isalpha, common))]
    return max(
        named,
        key=lambda one: (len(shared[one]), SequenceMatcher(None, name, one).ratio()),
        default="",
    )


def by_sizes(sizes: Json, catalogs: Any, named: str = "") -> tuple[list[str], str]:
    """The models with all these sizes and traits, one of each shape, and the closest of all.

    Of models of one shape, the preferred one (`named`), else the base model, which has the shortest
    id. Unless the sizes say otherwise, there are as many key heads as heads, no experts, and a
    network without a gate is four times as wide as the model.
    """
    models = catalogs.models
    wanted = _wanted_sizes(sizes)
    model_type = str(wanted.pop("model_type", ""))
    kind = models["kind"] == "decoder"
    if model_type:
        kind &= models["model_type"].isin(model_type.split("|"))
    traits = _traits_of_models(catalogs)
    apart = pd.DataFrame(
        {
            name: _apart(traits.get(name, models.get(name)).astype(float), float(value))
            for name, value in wanted.items()
        }
    )
    if "ffn" in apart and float(wanted["experts"]):  # no block of some models is dense
        apart["ffn"] = apart["ffn"].where(traits["ffn"] > 0, 0.0)
    same = kind & (apart <= SAME_RATIO).all(axis=1)
    if (exact := kind & (apart == 0).all(axis=1)).any():
        same = exact  # before those whose vocabulary is padded
    shapes = models.index[same].to_series().groupby(models.loc[same, "parameters"]).agg(list)
    fits = [
        min(map(str, shape), key=lambda model: (model != named, len(model), model))
        for shape in shapes
    ]
    closest = str(apart.sum(axis=1)[kind].idxmin()) if kind.any() else ""
    return [named] if named in fits else fits, closest


def _wanted_sizes(sizes: Json) -> Json:
    """The sizes that a config gives, with those that follow where it gives none."""
    wanted = {"kv_heads": sizes.get("heads"), "experts": 0, **sizes}
    is_gated = bool(float(wanted.get("gated", 0)))
    if float(wanted["experts"]):
        wanted.pop("gated", None)  # of the dense network
        if "ffn" in wanted and "expert_ffn" not in wanted:
            wanted["expert_ffn"] = wanted.pop("ffn")
    elif "ffn" not in wanted and not is_gated:
        wanted["ffn"] = 4 * int(wanted["hidden"])
    return wanted


def _traits_of_models(catalogs: Any) -> dict[str, pd.Series]:
    """The traits of every model that sizes may name, by the names that configs give them."""
    models = catalogs.models
    columns = [*TRAITS.values()]
    of_stacks = catalogs.stacks.groupby("model")[columns].max().reindex(models.index).fillna(0)
    traits = {name: of_stacks[column].astype(float) for name, column in TRAITS.items()}
    traits["learned"] = models["longest_sequence_tokens"] < np.inf
    return traits | {name: (traits[name] > 0).astype(float) for name in ("gated", "rms", "learned")}


def _apart(values: pd.Series, wanted: float) -> pd.Series:
    """Return the distance of values from one, as a share of it; 1 if just one of both is 0."""
    return abs(values / wanted - 1) if wanted else (values != 0).astype(float)


def stored_as(name: str) -> str:
    """The number format in a repository's name; empty where there is none."""
    words = re.split(r"[-_./]", name.lower())
    if EIGHT_BITS.intersection(words) and BY_GROUPS.intersection(words):
        return "gptq-8bit"
    return next((STORED[word] for word in words if word in STORED), "")


def _tail(repository: str) -> str:
    return PurePosixPath(repository).name.lower()


def _without_separators(name: str) -> str:
    return _plain(name).replace("-", "").replace("_", "")


def _released(name: str) -> str:
    """A name without what was done to the release that it ends in."""
    name = OWNERS.sub("", name.lower())
    while (copy := COPIES.search(name)) and not copy[1].isdigit():
        name = name[: copy.start()]
    return TUNED.sub("", name)


def _plain(name: str) -> str:
    """A name without its release and the words of tunings and formats."""
    name, shorter = _released(name), ""
    while (shorter := COPIES.sub("", name)) != name:
        name = shorter
    return name
