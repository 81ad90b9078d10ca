"""The sentences of a row's note, by the code of their remark."""

from datetime import date

from calc.remarks import Sentences
from calc.say.remarks.contexts import beyond_context

CALIBRATED = {
    "time": "Time is",
    "memory": "Memory is",
    "time-and-memory": "Time and memory are",
}


def _support(effect: str, needs: str, instead: str) -> str:
    cures = [f"install {needs}"] if needs else []
    cures += [f"choose {instead}"] if instead else []
    return f"{effect}; {', or '.join(cures)}."


def _calibrated(what: str, days: tuple[str, ...], present_year: str) -> str:
    """Name the days of the runs; a year is only named if it is not the present one.

    Example: Time is calibrated on your runs of 12 November and 3 December.
    """
    dates = [date.fromisoformat(day) for day in days]
    *first, last = [
        f"{day.day} {day:%B}" + ("" if str(day.year) == present_year else f" {day.year}")
        for day in dates
    ]
    when = f"{', '.join(first)} and {last}" if first else last
    runs = "run" if len(dates) == 1 else "runs"
    return f"{CALIBRATED[what]} calibrated on your {runs} of {when}."


NOTES: Sentences = {
    "beyond-context": beyond_context,
    "support": _support,
    "loading-unknown": (
        "Whether {software} loads on this card is not known: no rule names it; choose an NVIDIA "
        "card that is named."
    ),
    "format-unknown": (
        "Whether {software} takes {precision} was not read; nothing is known against it."
    ),
    "newer-release": (
        "{software} {release} is newer than the releases that were read ({releases}): its "
        "figures may differ."
    ),
    "no-price": (
        "{instance} has no price in {region}, so the row has no costs; choose another region or "
        "instance."
    ),
    "draft-gain": (
        "Speculative decoding is counted as {tokens:g} tokens a step. Published gains differ by "
        "a third; a full machine gains nothing."
    ),
    "draft-unknown": (
        "No published run of {method} with {model} is known: check that such a draft exists."
    ),
    "served-adapters": (
        "All served adapters are on the GPUs; the time they cost is from a paper of 2023."
    ),
    "cache-in-cpu-memory": (
        "The cache in CPU memory keeps prefixes and requests that wait; it decodes no more "
        "concurrent sequences."
    ),
    "scoring-release": (
        "Counted as {software}'s newest known release scores tokens; its earlier ones take over "
        "10 % more memory: name library_version if yours is older."
    ),
    "rollout-share-unknown": (
        "The rollout engine's share of the card is left out: no card is named."
    ),
    "gradients-whole": (
        "Gradients are counted as kept whole between micro-batches; other releases of {software} "
        "reduce them to their shards after each, which takes less."
    ),
    "gradients-reduced": (
        "Gradients are counted as reduced to their shards after each micro-batch; {software} "
        "{releases} keeps them whole, which takes more: name library_version if yours is that."
    ),
    "one-micro-batch": (
        "One micro-batch a step is counted, since none is named: with several, FSDP in "
        "{software} keeps whole gradients between them, which do not fit."
    ),
    "rough-percentiles": (
        "At random arrivals the load is over {load_percent:.0f} %: the percentiles are rough."
    ),
    "overloaded": (
        "It has no percentiles: requests that come at random at this rate are more than it "
        "answers, and wait ever longer."
    ),
    "experts-in-16-bits": (
        "bitsandbytes leaves the routed experts in 16 bits, since they are one tensor in this "
        "software (bitsandbytes issue 1849); choose implementation axolotl or unsloth, which "
        "quantize them, or LoRA in bf16."
    ),
    "calibrated": _calibrated,
}
