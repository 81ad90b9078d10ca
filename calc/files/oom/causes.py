"""The cause of a failure by its log alone: a tensor, a moment, a kind of memory, a program."""

import math
from collections.abc import Mapping

from calc.files.oom.errors import wanted_options
from calc.files.oom.failures import Failure
from calc.files.oom.findings import is_second_copy, named_tensor
from calc.files.oom.logs import last_named, log_patterns, silent_failures, stated_figures
from calc.say.numbers import size
from calc.units import GIB

HOST = "host memory"
OFF_CARD = (
    *(HOST, "shared memory", "disk", "system"),
    *(
        "number format",
        "division of heads",
        "number of GPUs",
        "no GPU",
        "access",
        "length",
        "network",
    ),
)  # nothing on a card ran out
OTHERS, NO_ROOM, UNKNOWN = "other processes", "no room for the cache", "any"
SECOND_COPY = "a second copy of the weights"
ENGINE = "engine"
PROGRAMS = (ENGINE, "training", "inference", UNKNOWN)
OF_PASSES = ("logits", "attention scores")  # an engine makes them smaller by its own options
SHORTER = "A shorter length"  # how the cure begins that always makes a cache hold a request
FAR_MORE_RATIO = 1.5  # of the cache: from 0.9 of a card to all of it is less, assumed
ENGINE_FIGURES = {"kv_pool", "kv_tokens", "kv_needed", "most_tokens"}


def cause_of(text: str, failure: Failure | None) -> str:
    """Return the key of the catalog's cures for what ran out.

    What is not on a card comes first where no card refused a request, then the moment where it has
    cures of its own, the tensor that a trace names, a failure without sizes, the stage of an
    engine's start, its figures, and the program.
    """
    patterns = log_patterns()
    kinds = [kind.cures for kind in silent_failures(text)]
    if failure:  # a rank that dies of its card ends the others
        kinds = [kind for kind in kinds if kind not in OFF_CARD]
    elif off_card := [kind for kind in kinds if kind in OFF_CARD]:
        return off_card[0]
    if failure and failure.others_bytes > GIB:
        return OTHERS
    if failure is None and NO_ROOM in kinds:  # what an engine says itself
        return NO_ROOM
    moment = moment_of(text)
    if moment in patterns.cures:
        return moment
    if named := named_tensor(text):
        return named[0]
    if failure and is_second_copy(failure):
        return SECOND_COPY
    if told := [kind for kind in kinds if kind not in PROGRAMS]:
        return told[0]
    if moment and "prefill" in moment:
        return "prefill"
    if (failure or kinds) and (stage := stage_of(text)):
        return stage
    if kinds and kinds[0] != UNKNOWN:
        return kinds[0]
    figures = stated_figures(text)
    if "free_at_start" in figures:
        return OTHERS
    if failure is None and ENGINE_FIGURES & figures.keys():
        return NO_ROOM
    return program_of(text)


def moment_of(text: str) -> str:
    """When it failed, by the last line of a trace that tells; empty where none does."""
    last = last_named(text, log_patterns().moments)
    return last[0] if last else ""


def stage_of(text: str) -> str:
    """Return the last stage of its start that an engine began; empty where it prints none."""
    last = last_named(text, log_patterns().stages)
    return last[0] if last else ""


def program_of(text: str) -> str:
    """Return the kind of program that a log is of: an engine, training, inference, or any."""
    programs = log_patterns().programs.items()
    return next((name for name, words in programs if any(word in text for word in words)), UNKNOWN)


def is_engines_log(text: str) -> bool:
    """Return whether a serving engine alone wrote the log, without a trainer around it."""
    programs = log_patterns().programs
    return program_of(text) == ENGINE and not any(word in text for word in programs["training"])


def cures_by_cause(text: str, failure: Failure | None, serves: bool = False) -> list[str]:
    """Return the cures of what ran out, the gentlest first; `serves`: those of a serving engine."""
    cause = cause_of(text, failure)
    serves = serves or is_engines_log(text)
    if cause not in (*PROGRAMS, *(OF_PASSES if serves else ())):
        cures = log_patterns().cures[cause]
        is_far = cause == NO_ROOM and _lacks_far_more(stated_figures(text))
        return sorted(cures, key=lambda cure: not cure.startswith(SHORTER)) if is_far else cures
    return wanted_options(text) + log_patterns().cures[ENGINE if serves else cause]


def _lacks_far_more(figures: Mapping[str, float]) -> bool:
    """Return whether a cache lacks more for one request than a larger share of the card gives."""
    return figures.get("kv_needed", 0.0) > FAR_MORE_RATIO * figures.get("kv_pool", math.inf)


def finding_of_moment(text: str) -> list[str]:
    """The moment of a failure as a sentence, or its stage; none where the log does not tell."""
    if moment := moment_of(text):
        return [f"It failed in {moment}."]
    return [] if named_tensor(text) else finding_of_stage(text)


def finding_without_size(text: str) -> list[str]:
    """The tensor that a trace of a failure without sizes names."""
    if named := named_tensor(text):
        return [f"It ran out for the {named[0]}: the trace ends in {named[1]}."]
    return finding_of_stage(text)


def finding_of_stage(text: str) -> list[str]:
    """The stage of its start in which an engine failed, by the last that its log begins."""
    stage = stage_of(text)
    if not stage:
        return []
    return [
        "It failed while it served requests, after its start."
        if stage == ENGINE
        else f"It failed at its start: the last stage in the log is that of the {stage}."
    ]


def finding_of_request(figures: Mapping[str, float]) -> list[str]:
    """The one request that failed, where a message states it outside torch's own form. [B]"""
    return [f"One request of {size(figures['request'])} failed."] if "request" in figures else []


def finding_of_host(text: str, needed_bytes: float) -> list[str]:
    """The RAM that a killed run needs by the estimate, beside what the log says. [B]"""
    if not needed_bytes > 0:
        return []
    total_bytes = stated_figures(text).get("host_total", 0.0)
    beside = f", and the machine has {size(total_bytes)}" if total_bytes else ""
    return [f"By the estimate the run needs {size(needed_bytes)} of RAM{beside}."]
