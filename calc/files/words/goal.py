"""The goal of a text, to serve, to tune or to train: by its evidence, never by a default."""

from collections.abc import Iterable, Mapping
from itertools import pairwise

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
SPEED = "tps"  # the tag of tok/s and of tokens per second
TO = frozenset({"to", "zu", "à", "para", "must", "should", "please"})  # before a verb
LEAST_CORPUS = 1e11  # tokens that nothing but a run from scratch takes
MANY_TOKENS = 5e9  # a run of more that is only called training begins from scratch


def goal_of(
    claims: Iterable[Claim],
    items: Iterable[Item],
    columns: Cells,
    trains: Mapping[str, bool],
) -> str:
    """The goal that the evidence says; empty where nothing or as much speaks for another."""
    claims, items = list(claims), list(items)
    tags = {tag for item in items for tag in item.tags}
    if any("token" in one.tags and "RATE" in other.tags for one, other in pairwise(items)):
        tags.add(SPEED)
    roles = {claim.role for claim in claims if claim.role != "epochs" or "pass" not in claim.cues}
    score = _scores(tags, roles, columns, trains)
    only_method = columns.get("method") in ADAPTERS and 0 < score["tune"] <= METHOD
    if only_method and score["serve"] >= LOAD and "adapters" not in roles:
        return ""  # LoRA of what is served, or a run of it
    if "continued" in tags:
        return "tune"
    if score["train"] and score["train"] + score["tune"] > score["serve"]:
        from_scratch = "objective" not in columns and columns.get("method") in (None, "full")
        return "train" if from_scratch else "tune"
    if not any(score.values()) and _most_tokens(claims) >= LEAST_CORPUS:
        return "train"
    if score["serve"] == score["tune"]:
        return "serve" if _orders_work(items) and "examples" in roles else ""
    if score["serve"] > score["tune"]:
        return "serve"
    return "train" if _is_called_training_alone(claims, tags, roles, columns) else "tune"


def _most_tokens(claims: list[Claim]) -> float:
    """The largest number of tokens that a text names; 0 for none."""
    return max((claim.item.value for claim in claims if claim.role == "tokens"), default=0.0)


def _scores(
    tags: set[str], roles: set[str], columns: Cells, trains: Mapping[str, bool]
) -> dict[str, float]:
    """The evidence for each goal: the words by their weights, and the columns that are set."""
    said = tags | roles | columns.keys()
    score = {
        goal: sum((float(weight) for name, weight in weights.items() if name in said), 0.0)
        for goal, weights in vocabulary().evidence.items()
    }
    if "how_many" in tags and tags & {*LOADS, SPEED}:  # how many users can it take
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
    return score


def _orders_work(items: list[Item]) -> bool:
    """Return whether a verb says what is done with what is counted: 9k tickets to classify."""
    return any(
        "batch_work" in item.tags and (before.text in TO or before.tags & {"end"})
        for before, item in pairwise([Item(0, 0, "", frozenset({"end"})), *items])
    )


def _is_called_training_alone(
    claims: list[Claim], tags: set[str], roles: set[str], columns: Cells
) -> bool:
    """Return whether a run is only called training, and is of very many tokens or asks how many.

    Such a run begins from scratch.
    """
    is_only_training = "train" in tags and "tune" not in tags
    says_tuning = columns.keys() & {"method", "objective"} or roles & {"examples", "epochs"}
    is_large = _most_tokens(claims) >= MANY_TOKENS or "how_many" in tags
    return is_only_training and not says_tuning and is_large
