"""Changes and causes of differences in words, and the cost of a change in quality."""

from collections.abc import Iterable

import numpy as np

from calc.catalogs.load import Catalogs
from calc.columns import COMPONENTS, GLOSSARY
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.memory.fit import HOLDS
from calc.say.limits import old_price_month
from calc.say.numbers import (
    about,
    changed_by,
    gib,
    is_missing,
    more,
    percent,
    span,
    usd,
    with_capital,
    with_noun,
)
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
OTHER_WORK = {
    "training": "Other training: check the quality",
    "inference": "Other serving: check the quality",
}
# Whether a change keeps the machine -> the words for it.
MACHINES = {
    True: "On the machine you have",
    False: "On another machine",
}
WHAT_HELPS = "What helps there, the smallest change first"
ENGINE_OPTIONS = "With options of the engine, on the machine you have"
NOTHING_FITS = "None of the changes tried makes it fit. Use a smaller model, LoRA or more GPUs."
NOTHING_SAVES = "None of the changes tried saves money or memory worth mentioning."
NOTHING_MEETS = "None of the changes tried meets every limit."
TELLING_RATIO = 0.005  # nobody can tell half a per cent apart
TELLING_GIB = 0.05


def change_in_words(change: Row, catalogs: Catalogs, serves: bool = False) -> str:
    """A change of choices in words: the machine, the layout, recompute, then the batch."""
    rest = {name: value for name, value in change.items() if name in WORDS}
    if "instance" in rest:
        rest = {name: value for name, value in rest.items() if (name, value) not in NOT_NAMED}
    parts = [_machine(rest.pop("instance", ""), rest.pop("gpus", None), catalogs)]
    if rest.get("tuning") == "lora" and "precision" in rest:
        parts.append(f"LoRA over {choice('precision', rest.pop('precision'), catalogs)}")
        del rest["tuning"]
    recompute = rest.pop("recompute", "")
    batch = _batch(rest.pop("batch", None), rest.pop("accumulation_steps", None), serves)
    parts += [choice(name, value, catalogs) for name, value in rest.items()]
    how = ", ".join(filter(None, parts))
    if recompute:
        again = choice("recompute", recompute, catalogs)
        if not how:
            how = again
        elif recompute == "none":
            how = f"{how} without recompute"
        else:
            how = f"{how} with {again}"
    return ", ".join(filter(None, (how, batch)))


def _machine(instance: str, gpus: float | None, catalogs: Catalogs) -> str:
    """The machines of a row: 2 × p5.48xlarge, 4 of the 8 GPUs of g6e.48xlarge, 16 GPUs."""
    if not instance or gpus is None:
        return instance or ("" if gpus is None else choice("gpus", float(gpus), catalogs))
    instance_gpus = float(catalogs.instances["gpus"].get(instance, gpus))
    if gpus < instance_gpus:
        return f"{gpus:.0f} of the {instance_gpus:.0f} GPUs of {instance}"
    number = np.ceil(gpus / instance_gpus)
    idle = f", {gpus:.0f} GPUs" if gpus % instance_gpus else ""
    return (f"{number:.0f} × {instance}" if number > 1 else instance) + idle


def _batch(batch: float | None, accumulation_steps: float | None, serves: bool) -> str:
    """The batch of a row: 128 concurrent sequences; micro-batch 4 in 2 accumulation steps."""
    if serves and batch is not None:
        return with_noun(int(batch), "concurrent sequence")
    micro_batch = "" if batch is None else f"micro-batch {batch:.0f}"
    if accumulation_steps is None:
        return micro_batch
    if accumulation_steps <= 1:
        return ", ".join(filter(None, (micro_batch, "no accumulation")))
    return " in ".join(filter(None, (micro_batch, f"{accumulation_steps:.0f} accumulation steps")))


def cause_in_words(cause: str) -> str:
    """The cause of a difference in words: a component of the memory or a factor of the bill."""
    return GLOSSARY[cause].label.lower() if cause in COMPONENTS else CAUSES.get(cause, cause)


def quality(change: Row, catalogs: Catalogs, serves: bool = False) -> tuple[str, str]:
    """Return the note on the quality that a change costs, and its source.

    It says what is lost, or else that nothing is; both are empty if nothing is recorded.
    """
    notes = _quality_notes(change, catalogs, serves)
    notes = {note: notes[note] for note in _notes_of_a_loss(notes, catalogs)} or notes
    return "; ".join(notes), "; ".join(dict.fromkeys(filter(None, notes.values())))


def loses_quality(change: Row, catalogs: Catalogs, serves: bool) -> bool:
    """Return whether a change is known to cost quality."""
    return bool(_notes_of_a_loss(_quality_notes(change, catalogs, serves), catalogs))


def _quality_notes(change: Row, catalogs: Catalogs, serves: bool) -> dict[str, str]:
    """The source of each note on the quality of what a change sets."""
    notes = {}
    for name, value in change.items():
        entry = {} if serves and name == "batch" else catalogs.quality.get(name, {})
        note = entry.get("note", "")
        source = entry.get("source", "")
        if name in NOTED and not (value == "bf16" and change.get("tuning") == "lora"):
            table = getattr(catalogs, CATALOG_OF[name])
            note = table["quality_note"].get(value, "")
            if serves and name == "precision":
                note = table["serving_quality_note"].get(value, "") or note
            source = table["quality_source"].get(value, "")
        if note:
            notes[note] = source
    return notes


def _notes_of_a_loss(notes: Iterable[str], catalogs: Catalogs) -> list[str]:
    """The notes that name a loss: all but those that say that quality is unchanged."""
    return [note for note in notes if note not in catalogs.about["quality"]["unchanged"]]


def effect(change: Row, row: Row, catalogs: Catalogs, mends: bool = False) -> str:
    """The effect of a change (a row of advice) as a sentence; `mends`: of memory first."""
    say = _effect_on_memory if mends or row["fits"] not in HOLDS else _effect_on_bill
    quality = _cost_in_quality(change)
    parts = [say(change, bool(ends_of(row))), old_price_month(change["old_price_days"], catalogs)]
    parts.append(quality if change["same_work"] else "")
    effects = f"{'; '.join(filter(None, parts))}."
    if change["same_work"]:
        return effects
    return f"{effects} {OTHER_WORK[row['work']]}.{f' {with_capital(quality)}.' if quality else ''}"


def nothing_helps(row: Row) -> str:
    """Return what was tried in vain: to make a row fit, to meet its limits, or to save."""
    if row["fits"] not in HOLDS:
        return NOTHING_FITS
    return NOTHING_MEETS if row["missed_limits"] else NOTHING_SAVES


def meets_limits(change: Row, row: Row, catalogs: Catalogs) -> str:
    """Return that a change meets the limits which the nearest plan exceeds, and its effect."""
    return f"The change to {change['change']} meets the limits: {effect(change, row, catalogs)}"


def _effect_on_bill(change: Row, ends: bool) -> str:
    """The effect on a job that fits: $42 in 36 min, 21 % less; room for 25 % more requests.

    Percentages are shares of the bill. If the bill of a service stays the same, the same money
    answers more requests.
    """
    saved_ratio = change["saved_work_ratio"]
    same_bill = abs(change["saved_usd_per_hour"]) < TELLING_RATIO * change["usd_per_hour"]
    memory = f"{_memory(change)} on each GPU" if abs(change["saved_gib"]) >= TELLING_GIB else ""
    if ends or not same_bill:
        parts = ["" if saved_ratio > TELLING_RATIO else memory, money(change, ends)]
    else:
        gain = _room_for_requests(saved_ratio) or memory
        parts = [f"{gain}, for the same bill"] if gain else []
    return "; ".join(filter(None, (*parts, _tight(change))))


def _room_for_requests(saved_ratio: float) -> str:
    """Return the room that is saved: room for 25 % more requests; empty if hardly any."""
    room = 1 / (1 - saved_ratio) if saved_ratio < 1 else 1
    if room <= 1 + TELLING_RATIO:
        return ""
    more = f"{percent(room - 1)} more" if room < 2 else f"{room:.1f} times the"
    return f"room for {more} requests"


def _effect_on_memory(change: Row, ends: bool) -> str:
    """The effect on a run out of memory: 129 GiB less, 2 % faster, fits; elsewhere the price."""
    slow = change["slowdown_ratio"]
    speed = "" if is_missing(slow) or abs(slow - 1) < TELLING_RATIO else _speed(1 / slow)
    if change["same_machine"]:
        parts = [_memory(change), speed, _tight(change) or "fits"]
    else:
        parts = [money(change, ends), speed, _tight(change) or "fits"]
    return ", ".join(filter(None, parts))


def money(change: Row, ends: bool) -> str:
    """The bill and its change: $42 in 36 min, 21 % less; per hour if the job has no length."""
    saved_ratio = change["saved_work_ratio"]
    telling = not is_missing(saved_ratio) and abs(saved_ratio) >= TELLING_RATIO
    if is_missing(change["usd"]):
        if is_missing(change["usd_per_hour"]):
            return ""
        return f"{usd(change['usd_per_hour'])} an hour"
    time = f" in {span(change['hours'])}" if ends else " a month"
    if not telling:
        share = ""
    elif saved_ratio > -1:
        share = f", {changed_by(-saved_ratio)}"
    else:
        share = f", {more(1 - saved_ratio)}"
    return f"{about(change['usd'])}{time}{share}"


def _cost_in_quality(change: Row) -> str:
    """The known loss of quality of a change, with its source; empty without one."""
    if not change["loses_quality"]:
        return ""
    return change["quality"] + (f" ({change['source']})" if change["source"] else "")


def _memory(change: Row) -> str:
    return f"{gib(abs(change['saved_gib']))} {'less' if change['saved_gib'] > 0 else 'more'}"


def _speed(ratio: float) -> str:
    """The change of speed: 2 % faster, 21 % slower, 2.1 times as fast."""
    if ratio >= 2:
        return f"{ratio:.1f} times as fast"
    return f"{percent(abs(ratio - 1))} {'faster' if ratio > 1 else 'slower'}"


def _tight(change: Row) -> str:
    return "tight: it may run out of memory" if change["fits"] == "tight" else ""
