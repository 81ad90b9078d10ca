"""Choices and changes of a scenario in words, and what a change costs in quality where that is known, with who says so."""

from typing import Any

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.scenarios.inputs import CATALOG_OF

WORDS = {
    "model": "{0}",
    "work": "{0}",
    "tuning": "{0} tuning",
    "precision": "{0}",
    "optimizer": "{0}",
    "recompute": "{0} recompute",
    "attention": "{0} attention",
    "loss": "{0} loss",
    "compile": "compile {0}",
    "implementation": "{0}",
    "kv_precision": "{0}",
    "sharding": "{0}",
    "offload": "{0} in CPU memory",
    "tensor_parallel": "tensor parallel {0:.0f}",
    "pipeline_parallel": "{0:.0f} pipeline stages",
    "context_parallel": "context parallel {0:.0f}",
    "gpus": "{0:.0f} GPUs",
    "batch": "micro-batch {0:.0f}",
    "accumulation_steps": "{0:.0f} accumulation steps",
    "instance": "{0}",
    "region": "{0}",
    "market": "{0}",
}
SPOKEN = {
    ("recompute", "none"): "no recompute",
    ("sharding", "none"): "no sharding",
    ("offload", "none"): "nothing offloaded",
    ("offload", "all"): "all offloaded to CPU memory",
    ("offload", "optimizer"): "optimizer state in CPU memory",
    ("offload", "states"): "weights and optimizer state in CPU memory",
    ("compile", "yes"): "compiled blocks",
    ("compile", "no"): "blocks not compiled",
    ("tuning", "full"): "all weights trained",
    ("tuning", "lora"): "LoRA",
    ("pipeline_parallel", 1.0): "no pipeline",
    ("tensor_parallel", 1.0): "no tensor parallel",
    ("context_parallel", 1.0): "no context parallel",
    ("gpus", 1.0): "1 GPU",
    ("accumulation_steps", 1.0): "no accumulation",
}
PLAIN = (("tensor_parallel", 1.0), ("pipeline_parallel", 1.0))
KNOWN_BY_ID = ("implementation", "gpu", "instance", "region")  # as people call them
NOTED = ("precision", "optimizer")  # whose catalog says what a value costs in quality


def name_of(column: str, value: Any, catalogs: Catalogs) -> str:
    """A choice in the words of its catalog; the value itself where no catalog names it."""
    if column == "kv_precision":
        return f"KV {value or '16-bit'}"
    if column in CATALOG_OF and column not in KNOWN_BY_ID:
        return str(getattr(catalogs, CATALOG_OF[column])["name"].get(value, value))
    return f"{column} {value:g}" if isinstance(value, float) else str(value)


def card_name(gpu: str, catalogs: Catalogs) -> str:
    """The card without its vendor: H100 SXM5 80GB."""
    return catalogs.gpus["name"].get(gpu, gpu).split(" ", 1)[-1] if gpu else ""


def said(name: str, value: Any, catalogs: Catalogs) -> str:
    """One choice as people say it."""
    if name == "market":
        return MARKETS[value].label
    if name == "implementation":
        return str(catalogs.implementations["name"].get(value, value))
    if (name, value) in SPOKEN:
        return SPOKEN[name, value]
    if name == "sharding":
        return name_of(name, value, catalogs).partition(" / ")[0]
    if name == "recompute":
        kind, _, how = name_of(name, value, catalogs).partition(", ")
        return f"{kind} recompute {how}".strip()
    number = isinstance(value, int | float | np.integer | np.floating)
    return WORDS[name].format(value if number else name_of(name, value, catalogs))


def in_words(change: dict[str, Any], catalogs: Catalogs, serves: bool = False) -> str:
    """A change of choices as people say it: where, then how, "with" its recompute, then the batch."""
    left = {name: value for name, value in change.items() if name in WORDS}
    if "instance" in left:  # what one GPU does not need is not worth a word
        left = {name: value for name, value in left.items() if (name, value) not in PLAIN}
    parts = [_place(left.pop("instance", ""), left.pop("gpus", None), catalogs)]
    if left.get("tuning") == "lora" and "precision" in left:
        parts.append(f"LoRA over {said('precision', left.pop('precision'), catalogs)}")
        del left["tuning"]
    recompute, batch = left.pop("recompute", ""), _batch(left.pop("batch", None), left.pop("accumulation_steps", None), serves)
    parts += [said(name, value, catalogs) for name, value in left.items()]
    how = ", ".join(filter(None, parts))
    if recompute:
        again = said("recompute", recompute, catalogs)
        how = (f"{how} without recompute" if recompute == "none" else f"{how} with {again}") if how else again
    return ", ".join(filter(None, (how, batch)))


def _place(instance: str, gpus: float | None, catalogs: Catalogs) -> str:
    """2 × p5.48xlarge, 4 of the 8 GPUs of g6e.48xlarge, 16 GPUs."""
    if not instance or gpus is None:
        return instance or ("" if gpus is None else said("gpus", float(gpus), catalogs))
    own = float(catalogs.instances["gpus"].get(instance, gpus))
    if gpus < own:
        return f"{gpus:.0f} of the {own:.0f} GPUs of {instance}"
    count = np.ceil(gpus / own)
    idle = f", {gpus:.0f} GPUs" if gpus % own else ""
    return (f"{count:.0f} × {instance}" if count > 1 else instance) + idle


def _batch(batch: float | None, accumulation_steps: float | None, serves: bool) -> str:
    """128 sequences at once; micro-batch 4 in 2 accumulation steps."""
    if serves and batch is not None:
        return f"{batch:.0f} sequence{'s' if batch > 1 else ''} at once"
    steps = (
        ""
        if accumulation_steps is None
        else f"{accumulation_steps:.0f} accumulation steps"
        if accumulation_steps > 1
        else "no accumulation"
    )
    if batch is None:
        return steps
    return f"micro-batch {batch:.0f}" + (f" in {steps}" if (accumulation_steps or 0) > 1 else f", {steps}" if steps else "")


def is_unchanged(note: str, catalogs: Catalogs) -> bool:
    """Whether a note says that nothing is lost."""
    return note in catalogs.about["quality"]["unchanged"]


def quality(change: dict[str, Any], catalogs: Catalogs, serves: bool = False) -> tuple[str, str]:
    """What a change costs in quality, and who says so; both empty where nothing is known."""
    notes = {}
    for name, value in change.items():
        known = {} if serves and name == "batch" else catalogs.quality.get(name, {})
        note, source = known.get("note", ""), known.get("source", "")
        if name in NOTED and not (value == "bf16" and change.get("tuning") == "lora"):
            table = getattr(catalogs, CATALOG_OF[name])
            trained, _, served = table["quality_note"].get(value, "").partition("; serving: ")
            note, source = (served or trained) if serves else trained, table["quality_source"].get(value, "")
        if note:
            notes[note] = source
    lost = {note: source for note, source in notes.items() if not is_unchanged(note, catalogs)}
    notes = lost or notes
    return "; ".join(notes), "; ".join(dict.fromkeys(filter(None, notes.values())))
