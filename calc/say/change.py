"""Changes and causes of differences in words, and the cost of a change in quality."""

from typing import Any

import numpy as np

from calc.catalogs.load import Catalogs
from calc.columns import COMPONENTS, GLOSSARY
from calc.say.numbers import counted
from calc.say.setting import WORDS, choice
from calc.scenarios.inputs import CATALOG_OF

NOT_NAMED = (("tensor_parallel", 1.0), ("pipeline_parallel", 1.0))  # on a named instance
NOTED = ("precision", "optimizer")  # their catalogs say what a value costs in quality
CAUSES = {
    "instances": "the number of instances",
    "price": "the price of each",
    "speed": "speed",
    **dict.fromkeys(("train_tokens", "tokens_total"), "the length of the run"),
    "attempts": "the attempts paid for",
    "interruptions": "interruptions",
    "start": "starting",
    "hours_per_month": "the hours in a month",
    "billing": "what is billed beyond the hours used",
}


def change_in_words(change: dict[str, Any], catalogs: Catalogs, serves: bool = False) -> str:
    """A change of choices in words: the machine, the layout, recompute, then the batch."""
    rest = {name: value for name, value in change.items() if name in WORDS}
    if "instance" in rest:
        rest = {name: value for name, value in rest.items() if (name, value) not in NOT_NAMED}
    parts = [_machine(rest.pop("instance", ""), rest.pop("gpus", None), catalogs)]
    if rest.get("tuning") == "lora" and "precision" in rest:
        parts.append(f"LoRA over {choice('precision', rest.pop('precision'), catalogs)}")
        del rest["tuning"]
    recompute, batch = rest.pop("recompute", ""), _batch(rest.pop("batch", None), rest.pop("accumulation_steps", None), serves)
    parts += [choice(name, value, catalogs) for name, value in rest.items()]
    how = ", ".join(filter(None, parts))
    if recompute:
        again = choice("recompute", recompute, catalogs)
        how = (f"{how} without recompute" if recompute == "none" else f"{how} with {again}") if how else again
    return ", ".join(filter(None, (how, batch)))


def _machine(instance: str, gpus: float | None, catalogs: Catalogs) -> str:
    """2 × p5.48xlarge, 4 of the 8 GPUs of g6e.48xlarge, 16 GPUs."""
    if not instance or gpus is None:
        return instance or ("" if gpus is None else choice("gpus", float(gpus), catalogs))
    instance_gpus = float(catalogs.instances["gpus"].get(instance, gpus))
    if gpus < instance_gpus:
        return f"{gpus:.0f} of the {instance_gpus:.0f} GPUs of {instance}"
    number = np.ceil(gpus / instance_gpus)
    idle = f", {gpus:.0f} GPUs" if gpus % instance_gpus else ""
    return (f"{number:.0f} × {instance}" if number > 1 else instance) + idle


def _batch(batch: float | None, accumulation_steps: float | None, serves: bool) -> str:
    """128 sequences at once; micro-batch 4 in 2 accumulation steps."""
    if serves and batch is not None:
        return f"{counted(int(batch), 'sequence')} at once"
    several = (accumulation_steps or 0) > 1
    steps = "" if accumulation_steps is None else f"{accumulation_steps:.0f} accumulation steps" if several else "no accumulation"
    if batch is None:
        return steps
    return f"micro-batch {batch:.0f}" + (f" in {steps}" if several else f", {steps}" if steps else "")


def cause_in_words(cause: str) -> str:
    """The cause of a difference in words: a component of the memory or a factor of the bill."""
    return GLOSSARY[cause].label.lower() if cause in COMPONENTS else CAUSES.get(cause, cause)


def is_unchanged(note: str, catalogs: Catalogs) -> bool:
    """Whether a note on quality says that nothing is lost."""
    return note in catalogs.about["quality"]["unchanged"]


def quality(change: dict[str, Any], catalogs: Catalogs, serves: bool = False) -> tuple[str, str]:
    """The cost of a change in quality and its source; both empty where nothing is recorded."""
    notes = {}
    for name, value in change.items():
        entry = {} if serves and name == "batch" else catalogs.quality.get(name, {})
        note, source = entry.get("note", ""), entry.get("source", "")
        if name in NOTED and not (value == "bf16" and change.get("tuning") == "lora"):
            table = getattr(catalogs, CATALOG_OF[name])
            trained, _, served = table["quality_note"].get(value, "").partition("; serving: ")
            note, source = (served or trained) if serves else trained, table["quality_source"].get(value, "")
        if note:
            notes[note] = source
    lost = {note: source for note, source in notes.items() if not is_unchanged(note, catalogs)}
    notes = lost or notes
    return "; ".join(notes), "; ".join(dict.fromkeys(filter(None, notes.values())))
