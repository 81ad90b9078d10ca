"""The pipeline: the formulas of the estimate in named stages, in order."""

from collections.abc import Callable
from functools import cache, partial
from types import ModuleType

import numpy as np

from calc import layout
from calc.columns import ALLOCATED, COMPONENTS, SECTIONS
from calc.cost import interruptions, machines, prices, spot, starts
from calc.evaluate import Columns, evaluate_all, formulas_of, parameters_of
from calc.memory import (
    adapters,
    basis,
    block_activations,
    block_sizes,
    ends,
    fit,
    kv_cache,
    moments,
    outside_blocks,
    overhead,
    peak,
    served,
    serving_engine,
    serving_traits,
    shards,
    states,
    step,
    tower,
    weights,
)
from calc.memory.backward import block, groups, head, last, loss, places, saved, schedule
from calc.rules import placement
from calc.scenarios import counts, settled
from calc.speed import collectives, decode, experts, flops, prefill, ranges, rates, serving, spread, training
from calc.table import ORIGINS, Table

TRAINING, SERVING = "training", "inference"


class Stage:
    """Formulas that run together, in order: those of modules, and single ones.

    `work`: the one kind of work that they are of; in the other they leave their columns empty (NaN, components 0).
    `shared`: rows that are alike in all that decides its results have them worked out once.
    `each_end`: memory that differs between the first and the last stage of a pipeline.
    """

    def __init__(self, name: str, *parts: ModuleType | Callable, work: str = "", shared: bool = False, each_end: bool = False):
        self.name, self.work, self.shared, self.each_end = name, work, shared, each_end
        self.formulas = tuple(formula for part in parts for formula in (formulas_of(part) if isinstance(part, ModuleType) else (part,)))


STAGES = (
    Stage("settled", settled),
    Stage("counts", counts, serving_traits),
    Stage("layout", layout, shards),
    Stage("blocks", adapters, block_sizes, block_activations, shared=True),
    Stage("vision tower", tower),
    Stage("outside the blocks", outside_blocks, work=TRAINING),
    Stage("ends of a pipeline", ends, each_end=True),
    Stage("weights and states", weights, states, each_end=True),
    Stage("a training step", schedule, saved, loss, groups, head, places, block, last, step, work=TRAINING, each_end=True),
    Stage("a request", kv_cache, serving_engine, served, work=SERVING, each_end=True),
    Stage("peak", peak, *moments.AT_PEAK, each_end=True),
    Stage("overhead", basis, overhead, each_end=True),
    Stage("verdict", fit),
    Stage("rates", flops, rates, collectives),
    Stage("time of a step", training, work=TRAINING),
    Stage("time of a request", experts, decode, prefill, serving, work=SERVING),
    Stage("ranges", spread, ranges),
    Stage("machines", machines),
    Stage("start", starts),
    Stage("price", prices),
    Stage("spot", interruptions, spot),
    Stage("placement", placement),
)
NAMES = tuple(stage.name for stage in STAGES)
MEMORY = STAGES[NAMES.index("layout") : NAMES.index("verdict")]
ENDS = tuple(stage for stage in MEMORY if stage.each_end)
AFTER_MEMORY = STAGES[NAMES.index("verdict") :]
TIME = STAGES[NAMES.index("rates") : NAMES.index("machines")]
FORMULAS = {formula.__name__: formula for stage in STAGES for formula in stage.formulas}
EMPTY, NOTHING = np.full(1, np.nan), np.zeros(1)  # what a stage for the other kind of work leaves; no byte of a component


@cache
def reads(stages: tuple[Stage, ...]) -> frozenset[str]:
    """The columns that stages read and do not make."""
    made = {formula.__name__ for stage in stages for formula in stage.formulas}
    read = {name for stage in stages for formula in stage.formulas for name in parameters_of(formula)}
    return frozenset(read - made)


def makes(stages: tuple[Stage, ...]) -> tuple[str, ...]:
    """The columns that stages make, in order."""
    return tuple(formula.__name__ for stage in stages for formula in stage.formulas)


def resting_on(stages: tuple[Stage, ...]) -> frozenset[str]:
    """The columns that stages make and those that later formulas make of them."""
    found = set(makes(stages))
    for formula in (formula for stage in STAGES[STAGES.index(stages[-1]) + 1 :] for formula in stage.formulas):
        if found & set(parameters_of(formula)):
            found.add(formula.__name__)
    return frozenset(found)


RESTING_ON_TIME = resting_on(STAGES[NAMES.index("time of a step") : NAMES.index("machines")])
ON_THE_WAY = {"at_last_stage", "moment_bytes", *(f"moment_{name}" for name in ALLOCATED)}  # made while memory is walked
MEMORY_MADE = frozenset(makes(MEMORY))
RESULTS = {name for section in SECTIONS if section != "others" for name in SECTIONS[section]} | {"peak_moment"}
MEMORY_RESULTS = tuple(name for name in makes(MEMORY) if name in reads(AFTER_MEMORY) | RESULTS)  # what later stages read, or results hold


def _others_read(stage: Stage) -> frozenset[str]:
    """The columns of a stage that stages for other work read, or that results hold."""
    others = tuple(other for other in STAGES if other is not stage and other.work != stage.work)
    return frozenset(makes((stage,))) & (reads(others) | RESULTS)


OTHERS_READ = {stage.name: _others_read(stage) for stage in STAGES if stage.work}
LATER_READ = {
    stage.name: frozenset(makes((stage,))) & reads(tuple(other for other in STAGES if other is not stage))
    for stage in STAGES
    if stage.shared
}


def work_of(table: Columns) -> str:
    """The kind of work that all rows of a table do."""
    return TRAINING if table["trains"][0] > 0 else SERVING


@cache
def _memory_reads(work: str) -> frozenset[str]:
    """The columns that decide memory in a kind of work."""
    return reads(tuple(stage for stage in MEMORY if stage.work in ("", work))) - MEMORY_MADE - ON_THE_WAY


def before_memory(table: Table) -> Table:
    """The columns of a settled table that memory reads, and the keys of shared stages."""
    keys = {name for stage in MEMORY if stage.shared for name in keys_of(stage, table)}
    return table.only(_memory_reads(work_of(table)) | (keys - MEMORY_MADE))


def keys_of(stage: Stage, table: Table) -> tuple[str, ...]:
    """The fewest columns that decide the results of a stage."""
    return table[ORIGINS].deciding(reads((stage,)))


def memory_keys(table: Table) -> tuple[str, ...]:
    """The fewest columns of a settled table that decide its memory."""
    return table[ORIGINS].deciding(_memory_reads(work_of(table)))


def walk(table: Table, stages: tuple[Stage, ...]) -> Table:
    """Add the columns of stages to a table whose rows do one kind of work; return it."""
    work = work_of(table)
    for stage in stages:
        if stage.work not in ("", work):
            table |= {name: NOTHING if name in COMPONENTS else EMPTY for name in OTHERS_READ[stage.name]}
        elif stage.shared:
            table |= table.once(keys_of(stage, table), partial(_results_of, stage))
        else:
            if stage.name == "peak":
                moments.add_moments(table, work)
            evaluate_all(stage.formulas, table)
    return table


def _results_of(stage: Stage, table: Table) -> Columns:
    """What later stages read of a stage."""
    evaluate_all(stage.formulas, table)
    return {name: table[name] for name in LATER_READ[stage.name]}


def memory(table: Table) -> Table:
    """A settled table with its memory, worked out once for rows that are alike in its keys."""
    return table | table.once(memory_keys(table), _memory_of)


def _memory_of(table: Table) -> Columns:
    """What memory leaves for later stages and for the results."""
    found = fuller_end(before_memory(table))
    return {name: found[name] for name in (*MEMORY_RESULTS, "moment_bytes")}


def both_ends(table: Table) -> tuple[Table, Table | None, np.ndarray]:
    """Memory at the first end of the pipeline; at the last end for staged rows; their numbers."""
    table = walk(table, MEMORY[: len(MEMORY) - len(ENDS)])
    staged = np.flatnonzero(np.broadcast_to(table["pipeline_parallel"] > 1, table["rows"]))
    first = walk(table | {"at_last_stage": np.zeros(1)}, ENDS)
    last = walk(table.take(staged) | {"at_last_stage": np.ones(1)}, ENDS) if len(staged) else None
    return first, last, staged


def fuller_end(table: Table) -> Table:
    """A settled table with its memory at the fuller end of the pipeline."""
    first, last, staged = both_ends(table)
    return first if last is None else _merged(first, last, staged)


def _merged(first: Table, last: Table, staged: np.ndarray) -> Table:
    """The first end's results with the last end's in those rows where it holds more."""
    rows = first["rows"]
    before = np.broadcast_to(first["allocated_peak_bytes"], rows)[staged]
    fuller = np.broadcast_to(last["allocated_peak_bytes"], len(staged)) > before
    here, there = staged[fuller], np.flatnonzero(fuller)
    merged = first | {}
    for name in (name for name in MEMORY_RESULTS if name in makes(ENDS)):
        values = np.broadcast_to(first[name], rows).copy()
        values[here] = np.broadcast_to(last[name], len(staged))[there]
        merged[name] = values
    moments = [np.broadcast_to(total, rows).copy() for total in first["moment_bytes"]]
    for total, other in zip(moments, last["moment_bytes"], strict=True):
        total[staged] = np.maximum(total[staged], other)
    merged["moment_bytes"] = tuple(moments)
    return merged
