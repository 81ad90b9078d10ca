"""The goal of a text, to serve, to tune or to train: by its evidence, never by a default."""

from collections.abc import Iterable, Mapping

from calc.files.words.frames import Claim
from calc.files.words.items import Item
from calc.files.words.vocabulary import vocabulary
from calc.mappings import Cells

SERVED = frozenset(
    {"int8", "int4", "awq-4bit", "gptq-4bit", "gguf-q4-k-m", "gguf-q8-0", "nvfp4"}
)  # nobody trains in these
ADAPTERS = frozenset({"lora", "qlora"})
METHOD, LOAD = 3.0, 2.0  # the weights of a method and of a load
LOADS = frozenset({"user", "people", "concurrent", "session"})
MANY_TOKENS = 5e9  # a run of more that is only called training begins from scratch


def goal_of(
    claims: Iterable[Claim],
    items: Iterable[Item],
    columns: Cells,
    trains: Mapping[str, bool],
) -> str:
    """The goal that the evidence says; empty where nothing or as much speaks for another."""
    claims = list(claims)
    tags = {tag for item in items for tag in item.tags}
    roles = {claim.role for claim in claims if claim.role != "epochs" or "pass" not in claim.cues}
    score = {goal: 0.0 for goal in vocabulary().evidence}
    for goal, weights in vocabulary().evidence.items():
        score[goal] = sum(
            float(weight)
            for name, weight in weights.items()
            if name in tags | roles | columns.keys()
        )
    if "how_many" in tags and tags & LOADS:  # how many users can it take
        score["serve"] += 2
    if columns.get("method") == "full":
        score["tune"] -= 1.5  # full may be of anything
    if implementation := columns.get("implementation"):
        score["tune" if trains.get(implementation) else "serve"] += 3
    if columns.get("precision") in SERVED or "kv_precision" in columns:
        score["serve"] += 2
    if columns.get("precision") == "fp8":
        score["serve"] += 1
    if "adapters" in roles and columns.get("method") == "lora":
        score["tune"] -= 3
    only_method = columns.get("method") in ADAPTERS and 0 < score["tune"] <= METHOD
    if only_method and score["serve"] >= LOAD and "adapters" not in roles:
        return ""  # LoRA of what is served, or a run of it
    if "continued" in tags:
        return "tune"
    if score["train"] and score["train"] + score["tune"] > score["serve"]:
        return (
            "train"
            if not columns.keys() & {"objective"} and columns.get("method") in (None, "full")
            else "tune"
        )
    if score["serve"] == score["tune"]:
        return ""
    if score["serve"] > score["tune"]:
        return "serve"
    tokens = max((claim.item.value for claim in claims if claim.role == "tokens"), default=0.0)
    only_training = (
        "train" in tags and "tune" not in tags and not columns.keys() & {"method", "objective"}
    )
    if (
        only_training
        and not roles & {"examples", "epochs"}
        and (tokens >= MANY_TOKENS or "how_many" in tags)
    ):
        return "train"
    return "tune"
