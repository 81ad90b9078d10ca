"""The pipeline: the formulas of the estimate in named stages, in order."""

from collections.abc import Callable, Iterable
from functools import cache, partial
from types import ModuleType

import numpy as np

from calc import layout
from calc.columns import ALLOCATED, COMPONENTS, SECTIONS
from calc.cost import energy, interruptions, machines, prices, spot, starts
from calc.evaluate import Columns, evaluate_all, formulas_of, parameters_of, resting
from calc.layout_place_table import needed
from calc.memory import (
    adapters,
    as_run,
    block_activations,
    block_sizes,
    components,
    fit,
    kv_cache,
    kv_pool,
    log_probabilities,
    memory_basis,
    moments,
    optimizer_step,
    other_models,
    outside_blocks,
    overhead,
    peak,
    pipeline_ends,
    rollout_engine,
    serving_engine,
    serving_share,
    serving_traits,
    serving_working_set,
    shards,
    states,
    tower,
    weights,
)
from calc.memory.backward import (
    backward_end,
    block,
    groups,
    head,
    loss,
    places,
    saved_tensors,
    waiting_gradients,
)
from calc.rules import placement
from calc.scenarios import counts, likeness, model_values
from calc.scenarios.lookups import SERVING, TRAINING, work_of
from calc.speed import (
    arrivals,
    attention,
    cache_slots,
    collectives,
    conversations,
    decode,
    decode_fixed,
    exchange,
    experts,
    first_token,
    flops,
    last_answers,
    objective_step,
    percentiles,
    prefill,
    prefill_exchange,
    prompt_passes,
    ranges,
    rates,
    rollout,
    serving,
    spread,
    step_sequences,
    traffic,
    training,
    waits,
)
from calc.table import ORIGINS, Table


class Stage:
    """Formulas that run together, in order: those of modules, and single ones.

    `work`: the only kind of work with this stage; for the other its columns are empty (NaN,
    components 0). `shared`: computed once for all rows that are equal in the columns that decide
    its results. `each_place`: memory that differs between the stages of a pipeline. `on_demand`:
    runs only if one of its columns is wanted.
    """

    def __init__(
        self,
        name: str,
        *parts: ModuleType | Callable,
        work: str = "",
        shared: bool = False,
        each_place: bool = False,
        on_demand: bool = False,
    ):
        self.name = name
        self.work = work
        self.shared = shared
        self.each_place = each_place
        self.on_demand = on_demand
        formulas: list[Callable] = []
        for part in parts:
            formulas += formulas_of(part) if isinstance(part, ModuleType) else (part,)
        self.formulas = tuple(formulas)


STAGES = (
    Stage("model-values", model_values),
    Stage("counts", counts, serving_traits, as_run),
    Stage("layout", layout, shards, *likeness.OF_MEMORY),
    Stage("blocks", adapters, block_sizes, block_activations, shared=True),
    Stage("vision-tower", tower),
    Stage("outside-blocks", outside_blocks, work=TRAINING),
    Stage("pipeline-place", pipeline_ends, each_place=True),
    Stage("weights-and-states", weights, states, each_place=True),
    Stage("log-probabilities", log_probabilities, work=TRAINING, each_place=True),
    Stage(
        "training-step",
        waiting_gradients,
        saved_tensors,
        loss,
        groups,
        head,
        places,
        block,
        backward_end,
        optimizer_step,
        work=TRAINING,
        each_place=True,
    ),
    Stage("other-models-and-rollout", other_models, rollout_engine, work=TRAINING, each_place=True),
    Stage("request", kv_cache, serving_engine, serving_working_set, work=SERVING, each_place=True),
    Stage("peak", peak, components, each_place=True),
    Stage("overhead", memory_basis, overhead, each_place=True),
    Stage("verdict", serving_share, fit, kv_pool),
    Stage("own-runs", *likeness.OF_TIME),
    Stage("conversations", conversations),
    Stage("rates", step_sequences, flops, traffic, rates, attention, collectives),
    Stage("step-time", training, exchange, rollout, objective_step, work=TRAINING),
    Stage(
        "request-time",
        cache_slots,
        experts,
        decode_fixed,
        decode,
        prompt_passes,
        prefill_exchange,
        prefill,
        first_token,
        serving,
        last_answers,
        work=SERVING,
    ),
    Stage("ranges", spread, ranges),
    Stage("random-arrivals", arrivals, waits, percentiles, work=SERVING, on_demand=True),
    Stage("machines", machines),
    Stage("start", starts),
    Stage("price", prices),
    Stage("spot", interruptions, spot),
    Stage("energy", energy),
    Stage("placement", placement),
)
NAMES = tuple(stage.name for stage in STAGES)
MEMORY = STAGES[NAMES.index("layout") : NAMES.index("verdict")]
PLACES = tuple(stage for stage in MEMORY if stage.each_place)
AFTER_MEMORY = STAGES[NAMES.index("verdict") :]
TIME = STAGES[NAMES.index("own-runs") : NAMES.index("machines")]
FORMULAS = {formula.__name__: formula for stage in STAGES for formula in stage.formulas}
# The rate of turns at given hits, from which the hits of conversations follow.
HITS = "conversation_hit_ratio"
TURNS = "turns_per_second"
TURNS_AT_HITS = "turns_per_second_at_hits"
FORMULAS_AT_HITS = needed(
    tuple(
        formula
        for stage in STAGES[NAMES.index("conversations") : NAMES.index("ranges")]
        for formula in stage.formulas
        if stage.work != TRAINING and formula.__name__ != HITS
    ),
    (TURNS,),
)
# The columns and the components of a stage for the other kind of work.
EMPTY = np.full(1, np.nan)
NOTHING = np.zeros(1)


@cache
def reads(stages: tuple[Stage, ...]) -> frozenset[str]:
    """The columns that stages read from outside."""
    formulas = [formula for stage in stages for formula in stage.formulas]
    parameters = {name for formula in formulas for name in parameters_of(formula)}
    return frozenset(parameters - {formula.__name__ for formula in formulas})


def makes(stages: tuple[Stage, ...]) -> tuple[str, ...]:
    """The columns that stages make, in order."""
    return tuple(formula.__name__ for stage in stages for formula in stage.formulas)


def _resting_on(stages: tuple[Stage, ...]) -> frozenset[str]:
    """The columns that stages make, and those that later formulas make from them."""
    own = makes(stages)
    later_stages = STAGES[STAGES.index(stages[-1]) + 1 :]
    later = (formula for stage in later_stages for formula in stage.formulas)
    return frozenset([*own, *(formula.__name__ for formula in resting(own, later))])


RESTING_ON_TIME = _resting_on(STAGES[NAMES.index("step-time") : NAMES.index("machines")])
# Columns that are made while the moments of memory are walked through.
ON_THE_WAY = {
    "stages_before",
    "moment_bytes",
    *(f"moment_{name}" for name in ALLOCATED),
}
MEMORY_MADE = frozenset(makes(MEMORY))
RESULTS = {name for section in SECTIONS if section != "others" for name in SECTIONS[section]} | {
    "peak_moment",
    "memory_run_share",
}
MEMORY_RESULTS = tuple(name for name in makes(MEMORY) if name in reads(AFTER_MEMORY) | RESULTS)


def _others_read(stage: Stage) -> frozenset[str]:
    """The columns of a stage that other work reads, that are results, or that outlive memory."""
    outlives = AFTER_MEMORY if stage in MEMORY else ()
    others = tuple(other for other in STAGES if other.work != stage.work or other in outlives)
    return frozenset(makes((stage,))) & (reads(others) | RESULTS)


OTHERS_READ = {stage.name: _others_read(stage) for stage in STAGES if stage.work}
LATER_READ = {
    stage.name: frozenset(makes((stage,)))
    & reads(tuple(other for other in STAGES if other is not stage))
    for stage in STAGES
    if stage.shared
}


@cache
def _memory_reads(work: str) -> frozenset[str]:
    """The columns that decide memory in a kind of work."""
    return (
        reads(tuple(stage for stage in MEMORY if stage.work in ("", work)))
        - MEMORY_MADE
        - ON_THE_WAY
    )


def before_memory(table: Table) -> Table:
    """The columns of a resolved table that memory reads, and the keys of its shared stages."""
    keys = {name for stage in MEMORY if stage.shared for name in _keys_of(stage, table)}
    return table.only(_memory_reads(work_of(table)) | (keys - MEMORY_MADE))


def _keys_of(stage: Stage, table: Table) -> tuple[str, ...]:
    """Return the columns that decide the results of a stage."""
    return table[ORIGINS].deciding(reads((stage,)))


def memory_keys(table: Table) -> tuple[str, ...]:
    """Return the columns of a resolved table that decide its memory."""
    return table[ORIGINS].deciding(_memory_reads(work_of(table)))


def walk(table: Table, stages: tuple[Stage, ...], result_names: Iterable[str] = ()) -> Table:
    """Add the columns of stages to a table of one kind of work, and return the table.

    Stages on demand are left out if none of their columns is wanted.
    """
    work = work_of(table)
    for stage in stages:
        if stage.on_demand and not set(makes((stage,))).intersection(result_names):
            continue
        if stage.work not in ("", work):
            table |= {
                name: NOTHING if name in COMPONENTS else EMPTY for name in OTHERS_READ[stage.name]
            }
        elif stage.shared:
            table |= table.once(_keys_of(stage, table), partial(_results_of, stage))
        else:
            if stage.name == "peak":
                moments.add_moments(table, work)
            if stage.name == "conversations":
                table |= _turns_at_hits(table, work)
            evaluate_all(stage.formulas, table)
    return table


def _turns_at_hits(table: Table, work: str) -> Columns:
    """The rate of turns at each of HIT_RATIOS, for the formula of the hits. [turns/s]"""
    if work != SERVING or not np.any(table["turns"] > 1):
        return {TURNS_AT_HITS: np.full((1, 1), np.nan)}
    rates = []
    for ratio in conversations.HIT_RATIOS:
        at_ratio = table | {HITS: np.full(1, ratio)}
        evaluate_all(FORMULAS_AT_HITS, at_ratio)
        rates.append(np.broadcast_to(at_ratio[TURNS], table["rows"]))
    return {TURNS_AT_HITS: np.stack(rates)}


def _results_of(stage: Stage, table: Table) -> Columns:
    """The columns of a stage that later stages read."""
    evaluate_all(stage.formulas, table)
    return {name: table[name] for name in LATER_READ[stage.name]}


def memory(table: Table) -> Table:
    """A resolved table with its memory, computed once for rows whose keys are equal."""
    return table | table.once(memory_keys(table), _memory_of)


def _memory_of(table: Table) -> Columns:
    """The columns of memory that later stages read or that are results."""
    fuller = fullest_place(before_memory(table))
    return {name: fuller[name] for name in (*MEMORY_RESULTS, "moment_bytes")}


def at_places(table: Table) -> list[tuple[Table, np.ndarray]]:
    """Evaluate the pipeline stages that may need the most memory. Return (table, rows) pairs.

    They are the first stage, the first stage between the ends without the dense blocks before
    routed ones, and the last stage.
    """
    table = walk(table, MEMORY[: len(MEMORY) - len(PLACES)])
    rows = np.arange(table["rows"])
    stages = np.broadcast_to(table["pipeline_parallel"], len(rows))
    between = np.broadcast_to(table["stage_between"], len(rows))
    others = [
        (np.flatnonzero(some), before[some] * 1.0)
        for some, before in ((between > 0, between), (stages > 1, stages - 1))
    ]
    places = [(walk(table | {"stages_before": np.zeros(1)}, PLACES), rows)]
    return places + [
        (walk(table.take(some) | {"stages_before": before}, PLACES), some)
        for some, before in others
        if len(some)
    ]


def fullest_place(table: Table) -> Table:
    """Return the table with the memory of the pipeline stage that needs the most.

    If a block was not read off, the range extends from the memory with the smallest known block of
    its kind to that with the largest.
    """
    before = table | {}
    fullest = _fullest_of_places(table)
    unknown = np.flatnonzero(np.broadcast_to(table["blocks_unknown"], table["rows"]))
    if not len(unknown):
        return fullest
    for name, quantile in (("memory_low_bytes", 0.0), ("memory_high_bytes", 1.0)):
        with_block = before.take(unknown) | {"block_quantile": np.full(1, quantile)}
        values = np.broadcast_to(fullest[name], table["rows"]).copy()
        values[unknown] = _fullest_of_places(with_block)[name]
        fullest[name] = values
    return fullest


def _fullest_of_places(table: Table) -> Table:
    """Return the table with the memory of the stage that needs the most, for each row."""
    (fullest, _), *others = at_places(table)
    for other, rows in others:
        fullest = _replace_place(fullest, other, rows)
    return fullest


def _replace_place(first: Table, other: Table, rows_with_stage: np.ndarray) -> Table:
    """Return the first stage's results with another's in the rows where that one needs more."""
    rows = first["rows"]
    before = np.broadcast_to(first["allocated_peak_bytes"], rows)[rows_with_stage]
    fuller = np.broadcast_to(other["allocated_peak_bytes"], len(rows_with_stage)) > before
    here = rows_with_stage[fuller]
    there = np.flatnonzero(fuller)
    table = first | {}
    for name in (name for name in MEMORY_RESULTS if name in makes(PLACES)):
        values = np.broadcast_to(first[name], rows).copy()
        values[here] = np.broadcast_to(other[name], len(rows_with_stage))[there]
        table[name] = values
    moments = [np.broadcast_to(total, rows).copy() for total in first["moment_bytes"]]
    for total, there_bytes in zip(moments, other["moment_bytes"], strict=True):
        total[rows_with_stage] = np.maximum(total[rows_with_stage], there_bytes)
    table["moment_bytes"] = tuple(moments)
    return table
