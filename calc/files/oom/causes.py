"""The cause of a failure by its log alone: a tensor, a moment, a kind of memory, a program."""

from calc.files.oom.failures import Failure
from calc.files.oom.findings import named_tensor
from calc.files.oom.logs import last_named, log_patterns, logged_figures, silent_failures
from calc.say.numbers import size
from calc.units import GIB

HOST = "host memory"
OFF_CARD = (HOST, "shared memory", "disk", "system")  # nothing on a card ran out
OTHERS, NO_ROOM, UNKNOWN = "other processes", "no room for the cache", "any"
ENGINE = "engine"
PROGRAMS = (ENGINE, "training", "inference", UNKNOWN)
ENGINE_FIGURES = {"kv_pool", "kv_tokens", "kv_needed", "most_tokens"}


def cause_of(text: str, failure: Failure | None = None) -> str:
    """Return the key of the catalog's cures for what ran out.

    What is not on a card comes first, then the moment where it has cures of its own, the tensor
    that a trace names, a failure without sizes, an engine's figures, and the program.
    """
    patterns, kinds = log_patterns(), [kind.cures for kind in silent_failures(text)]
    if off_card := [kind for kind in kinds if kind in OFF_CARD]:
        return off_card[0]
    if failure and failure.others_bytes > GIB:
        return OTHERS
    moment = moment_of(text)
    if moment in patterns.cures:
        return moment
    if named := named_tensor(text):
        return named[0]
    if told := [kind for kind in kinds if kind != UNKNOWN]:
        return told[0]
    if moment and "prefill" in moment:
        return "prefill"
    figures = logged_figures(text)
    if "free_at_start" in figures:
        return OTHERS
    if failure is None and ENGINE_FIGURES & figures.keys():
        return NO_ROOM
    return program_of(text)


def moment_of(text: str) -> str:
    """When it failed, by the last line of a trace that tells; empty where none does."""
    last = last_named(text, log_patterns().moments)
    return last[0] if last else ""


def program_of(text: str) -> str:
    """Return the kind of program that a log is of: an engine, training, inference, or any."""
    programs = log_patterns().programs.items()
    return next((name for name, words in programs if any(word in text for word in words)), UNKNOWN)


def cures_by_cause(text: str, failure: Failure | None = None, serves: bool = False) -> list[str]:
    """Return the cures of what ran out, the gentlest first; `serves`: those of a serving engine."""
    cause = cause_of(text, failure)
    return log_patterns().cures[ENGINE if serves and cause in PROGRAMS else cause]


def finding_of_moment(text: str) -> list[str]:
    """The moment of a failure as a sentence; none where the log does not tell."""
    moment = moment_of(text)
    return [f"It failed in {moment}."] if moment else []


def finding_without_size(text: str) -> list[str]:
    """The tensor that a trace of a failure without sizes names."""
    named = named_tensor(text)
    return [f"It ran out for the {named[0]}: the trace ends in {named[1]}."] if named else []


def finding_of_host(text: str, needed_bytes: float) -> list[str]:
    """The RAM that a killed run needs by the estimate, beside what the log says. [B]"""
    if not needed_bytes > 0:
        return []
    total_bytes = logged_figures(text).get("host_total", 0.0)
    beside = f", and the machine has {size(total_bytes)}" if total_bytes else ""
    return [f"By the estimate the run needs {size(needed_bytes)} of RAM{beside}."]
