"""The phase of a step of preference or reward training that failed, and what helps there."""

from calc.catalogs.load import Catalogs
from calc.engine.one_scenario import phases_table
from calc.evaluate import Row
from calc.files.oom.logs import last_named, log_patterns
from calc.files.oom.memory_parts import estimate_with
from calc.mappings import Json
from calc.say.numbers import size
from calc.scenarios.join_objectives import SUPERVISED
from calc.search.row_status import scenario_of
from calc.units import GIB

# Phase of a step -> the phases of memory in it.
PHASES = {
    "generation": ("rollout",),
    "scoring": ("log-probs",),
    "update": ("forward", "backward", "step"),
}
PHASE_WORDS = {
    "generation": "while answers were generated",
    "scoring": "while log-probabilities were taken",
    "update": "in the update",
}
CURES: dict[str, Json] = {  # what is tried, by the columns that it sets
    "the newest release": {"library_version": ""},
    "fused log-probabilities": {"loss": "fused"},
    "a precomputed reference": {"reference": "precomputed"},
    "an engine that sleeps outside the rollout": {"rollout_sleep": "yes"},
    "half the share for the rollout engine": {"rollout_share": 0.5},
    "weights and states in CPU memory while it generates": {"phase_offload": "all"},
    "fewer tokens scored in a pass, one sequence": {"log_prob_batch": 1},
    "a smaller micro-batch": {"batch": 0.5},
}
HALVED = ("rollout_share", "batch")
LEAST_BYTES = 0.25 * GIB  # less is not worth a change


def phase_of(text: str) -> str:
    """The phase that the last line of a trace names; empty where none is named."""
    last = last_named(text, log_patterns().phases)
    return last[0] if last else ""


def findings_of_phase(text: str, row: Row, catalogs: Catalogs) -> list[str]:
    """The phase that failed, or that holds most by the estimate, and what helps there."""
    if row.get("objective", SUPERVISED) in ("", SUPERVISED) or row["work"] != "training":
        return []
    used = allocated_by_phase(row, catalogs)
    largest = max(used, key=used.__getitem__)
    phase = phase_of(text)
    sentences = [
        f"It failed {PHASE_WORDS[phase]}."
        if phase
        else f"The trace names no phase; by the estimate most is held {PHASE_WORDS[largest]}."
    ]
    if phase and phase != largest:
        sentences.append(
            f"By the estimate most is held {PHASE_WORDS[largest]}: {size(used[largest])}, and "
            f"{size(used.get(phase, 0.0))} here."
        )
    phase = phase or largest
    saved = {
        words: used[phase] - after.get(phase, 0.0)
        for words, after in _after(row, catalogs)
        if phase in used
    }
    helps = sorted(
        (words for words in saved if saved[words] > LEAST_BYTES),
        key=saved.__getitem__,
        reverse=True,
    )
    words = ", ".join(f"{name} ({size(saved[name])} less)" for name in helps)
    sentences.append(
        f"What helps there: {words}."
        if helps
        else "Nothing of the objective's own helps there; see the changes below."
    )
    return sentences


def allocated_by_phase(row: Row, catalogs: Catalogs) -> dict[str, float]:
    """Allocated bytes at the largest moment of each phase that the run has."""
    total = phases_table(scenario_of(row), catalogs).groupby("phase")["bytes"].sum()
    present = {
        phase: [name for name in names if name in total.index] for phase, names in PHASES.items()
    }
    return {phase: float(total[names].max()) for phase, names in present.items() if names}


def _after(row: Row, catalogs: Catalogs) -> list[tuple[str, dict[str, float]]]:
    """Return each phase's memory with each cure that the run lacks and that is not refused."""
    tried = []
    for words, change in CURES.items():
        change = {
            name: _half(name, row[name]) if name in HALVED else value
            for name, value in change.items()
        }
        if any(row.get(name) != value for name, value in change.items()):
            after = estimate_with(row, change, catalogs)
            if not after["problem"]:
                tried.append((words, allocated_by_phase(after, catalogs)))
    return tried


def _half(name: str, value: float) -> float:
    """Half of a share; half of a count, at least one."""
    return value / 2 if name == "rollout_share" else max(value // 2, 1)
