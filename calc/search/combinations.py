"""All candidates of a grid with their verdicts, time and money: one entry each.

Memory depends on the layout, time on layout and instance type, the price on instance type, region
and market: each formula runs at its own level (calc/crossed.py). Of candidates that differ in their
region alone the one of least price counts, and where that price is old also the least that is not.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost import machines, starts
from calc.cost.spot import UNTIL_OVERHEAD
from calc.crossed import ONE, PAIR, Crossed, needed
from calc.engine.pipeline import not_covered, settled_table
from calc.engine.stages import (
    EMPTY,
    MEMORY,
    TIME,
    before_memory,
    fullest_place,
    makes,
    memory_keys,
    walk,
)
from calc.evaluate import Columns, evaluate, evaluate_all, formulas_of, parameters_of
from calc.job.job import Job
from calc.memory import fit, rollout_engine, states
from calc.memory.serving_traits import (
    engine_batched_tokens,
    expert_tile,
    on_huge_card,
    on_large_card,
)
from calc.rules import objectives, placement
from calc.rules.support import RUNS, distinguished, verdicts_on
from calc.scenarios.problems import Problems
from calc.scenarios.read import known_inputs
from calc.search import bounds
from calc.search.batch_for_rate import loaded
from calc.search.candidates import candidates_of
from calc.search.grid import Grid
from calc.search.places import offers, place_columns
from calc.search.timing import STEPPED
from calc.speed.collectives import island_gpus
from calc.speed.slots import cache_pool_bytes
from calc.table import Table, distinct, take

LAYOUT_STAGES = MEMORY[:1]
LATER = (  # what runs once memory is known
    *(formula for module in (fit, machines, placement, starts) for formula in formulas_of(module)),
    *UNTIL_OVERHEAD,
    *(rule.wrong for rule in placement.RULES),
    *(formula for stage in TIME for formula in stage.formulas),
)
STARTING = needed(
    formulas_of(starts),
    ("start_hours", "start_high_hours", "weights_read_seconds", "checkpoint_seconds"),
)
LATER_READS = frozenset(name for formula in LATER for name in parameters_of(formula))
MEMORY_MADE = tuple(
    name for name in makes(MEMORY[1:]) if name in LATER_READS
)  # what memory decides of fit, placement and time
ENGINE_OF_CARD = (
    on_large_card,
    on_huge_card,
    engine_batched_tokens,
)  # a serving engine's defaults on a card
FITS = tuple(fit.FITS)
# Of layouts, and of their pairs with places: what is worked out at once stays within 60 MB.
LAYOUTS_AT_ONCE, PAIRS_AT_ONCE = 2**12, 2**15


class Combinations(NamedTuple):
    """The candidates, a column per figure; how many were tried; the fault that all share.

    `smallest_bytes`: the least memory of a layout where none fits; else NaN.
    """

    grid: Grid
    candidates: Columns
    tried: int
    smallest_bytes: float
    problem: str

    @property
    def size(self) -> int:
        """How many candidates there are."""
        return len(self.candidates["usd"]) if self.candidates else 0


def combinations(grid: Grid, job: Job, catalogs: Catalogs) -> Combinations:
    """Return all candidates of a grid that fit on their cards and are not refused.

    A candidate's `layout` and `place` are numbers in the grid.
    """
    sold = offers(job, grid.places, catalogs)
    count = np.sum([~np.isnan(offer.usd_per_hour) for offer in sold], axis=0)
    tried = int((grid.steps_count[grid.layout] * count[grid.place]).sum())
    table, problems = layouts_table(grid, job, catalogs)
    if not problems.sound.any():
        return Combinations(grid, {}, tried, np.nan, str(problems.text[0]) if grid.size else "")
    cards = place_columns(grid.places, catalogs)
    if job.requests_per_second:
        crossed = crossed_with(walk(table | {}, LAYOUT_STAGES), cards, grid)
        crossed.evaluate_all(ENGINE_OF_CARD)
        for name in parameters_of(
            cache_pool_bytes
        ):  # nobody waits for a slot where all that are needed must fit
            crossed.set(name, ONE, EMPTY)
        grid = loaded(grid, crossed, job)
        table, problems = layouts_table(grid, job, catalogs)
    crossed, memory = _able(grid, cards, table, problems.sound, catalogs)
    if not len(memory):
        return Combinations(grid, {}, tried, np.nan, "")
    if np.isnan(memory).all():
        return Combinations(
            grid,
            {},
            tried,
            np.nan,
            not_covered(table, int(np.flatnonzero(problems.sound)[0]), catalogs),
        )
    fitting = 0
    parts: list[Columns] = []
    for part in crossed.parts(PAIRS_AT_ONCE):
        fitting += _keep_fitting(part)
        parts += candidates_of(part, grid, sold, job)
    smallest_bytes = np.nan if fitting else float(np.nanmin(memory))
    return Combinations(grid, together(parts), tried, smallest_bytes, "")


def together(parts: list[Columns]) -> Columns:
    """The candidates of all parts as one table."""
    return (
        parts[0]
        if len(parts) == 1
        else {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    )


def layouts_table(grid: Grid, job: Job, catalogs: Catalogs) -> tuple[Table, Problems]:
    """The settled table of all layouts, and what is wrong with each."""
    problems = Problems(grid.size)
    inputs = inputs_of(job, grid.layouts | {"rows": grid.size, "row_number": np.arange(grid.size)})
    return settled_table(inputs, catalogs, problems), problems


def inputs_of(job: Job, columns: Columns) -> Columns:
    """The inputs (scenarios.read) of scenarios with these columns; the job sets the others."""
    of_work = "train_tokens" if job.work == "training" else "tokens_total"
    names = ("work", "model", "sequence_tokens", "prompt_tokens", "hours_per_month", of_work)
    running = {"start_seconds": 0.0} if job.have else {}  # machines that are there run already
    set_by_job = {name: value for name in names if (value := getattr(job, name)) is not None}
    row = set_by_job | running | job.assumed
    row |= {
        "tuning": "full" if job.method == "full" else "lora",
        "implementation": job.implementation,
    }
    return known_inputs(row, columns)


def crossed_with(table: Columns, cards: Columns, grid: Grid) -> Crossed:
    """Layouts crossed with the cards of their places."""
    columns = {name: values for name, values in table.items() if name not in cards}
    return Crossed(columns, cards, grid.layout, grid.place)


def _able(
    grid: Grid, cards: Columns, table: Table, sound: np.ndarray, catalogs: Catalogs
) -> tuple[Crossed, np.ndarray]:
    """Layouts crossed with the places that run and may hold them, and their memory. [B]"""
    table, grid, sound = _by_card_memory(*_by_card_class(table, grid, sound, cards), cards)
    walk(table, LAYOUT_STAGES)
    verdict, timed, kind = _support(table, cards, catalogs)
    able = (sound[:, None] & (verdict != RUNS.index("no")).T[kind])[grid.layout, grid.place]
    if not able.any():
        return crossed_with(table, cards, grid), np.empty(0)
    least = least_memory_bytes(table)
    card_bytes = np.broadcast_to(cards["gpu_memory_bytes"], len(cards["gpu_row"]))
    small = able & (least.take(grid.layout) <= card_bytes.take(grid.place))
    able = np.flatnonzero(
        small
        if small.any()
        else able & (least.take(grid.layout) == np.min(least.take(grid.layout[able])))
    )
    layout, place = grid.layout.take(able), grid.place.take(able)
    used = np.zeros(table["rows"], dtype=bool)
    used[layout] = True
    of_pair = place, kind.take(layout)
    table = memory_once(take(table, np.flatnonzero(used)))
    table = table.only(name for name in LATER_READS.union(STEPPED, ["row_number"]) if name in table)
    crossed = crossed_with(
        table, cards, grid._replace(layout=(np.cumsum(used) - 1).take(layout), place=place)
    )
    crossed.set("runs", PAIR, verdict[of_pair])
    crossed.set("timed", PAIR, timed[of_pair] if not timed.all() else np.ones(1, dtype=bool))
    return crossed, np.atleast_1d(table["memory_bytes"])


def least_memory_bytes(table: Table) -> np.ndarray:
    """A lower bound of the memory of each laid out row. [B]"""
    formulas: tuple[Callable, ...] = (
        states.gradient_width_bytes_each,
        states.state_width_bytes_each,
    )
    formulas += (
        rollout_engine.engine_share_bytes,
        rollout_engine.awake_engine_bytes,
        *formulas_of(bounds),
    )
    made = {formula.__name__ for formula in formulas}
    read = {name for formula in formulas for name in parameters_of(formula)} - made
    columns = evaluate_all(formulas, {name: table[name] for name in read})
    return np.broadcast_to(columns["least_bytes"], table["rows"])


def _keep_fitting(crossed: Crossed) -> int:
    """Drop pairs that do not fit or that placement forbids; return how many fit."""
    crossed.evaluate_all(fit.VERDICT)
    fitting = np.flatnonzero(
        np.broadcast_to(crossed.column("fits", PAIR), len(crossed.layout)) <= FITS.index("tight")
    )
    crossed.keep(fitting)
    crossed.evaluate_all(
        (
            fit.headroom_bytes,
            fit.fit_probability,
            *formulas_of(machines),
            island_gpus,
            *formulas_of(placement),
            *STARTING,
        )
    )
    broken = [
        np.broadcast_to(crossed.value(rule.wrong, PAIR), len(crossed.layout))
        for rule in placement.RULES
    ]
    crossed.keep(np.flatnonzero(~np.any(broken, axis=0)))
    return len(fitting)


def memory_once(table: Table) -> Table:
    """The table with what memory decides, worked out once for layouts that are alike.

    Without sharding the number of replicas changes no byte, once there are two.
    """
    degrees = table["tensor_parallel"] * table["pipeline_parallel"] * table["context_parallel"]
    unsharded = (
        (table["shards_optimizer"] == 0)
        & (table["shards_gradients"] == 0)
        & (table["shards_weights"] == 0)
    )
    gpus = table["training_gpus"]
    alike = table | {"training_gpus": np.where(unsharded, np.minimum(gpus, 2 * degrees), gpus)}
    first, copies = distinct([alike[name] for name in memory_keys(alike)], table["rows"])
    parts = [
        _memory_made(alike.take(first[start : start + LAYOUTS_AT_ONCE]))
        for start in range(0, len(first), LAYOUTS_AT_ONCE)
    ]
    once = {name: np.concatenate([part[name] for part in parts]) for name in MEMORY_MADE}
    return table | {name: once[name].take(copies) for name in MEMORY_MADE}


def _memory_made(table: Table) -> dict[str, np.ndarray]:
    """What memory decides of layouts, a value for each."""
    made = fullest_place(before_memory(table))
    return {name: np.broadcast_to(made[name], table["rows"]) for name in MEMORY_MADE}


def _by_card_class(
    table: Table, grid: Grid, sound: np.ndarray, cards: Columns
) -> tuple[Table, Grid, np.ndarray]:
    """Layouts of a serving engine for each kind of card: its defaults and its tiles differ."""
    if not np.any(table["is_engine"] > 0):
        return table, grid, sound
    size = grid.size
    crossed = crossed_with(table, cards, grid)
    crossed.evaluate_all((*ENGINE_OF_CARD, expert_tile))
    names = ("on_large_card", "on_huge_card", "expert_tile")
    large, huge, tile = (
        np.broadcast_to(crossed.column(name, PAIR), len(grid.layout)).astype(int) for name in names
    )
    kind = large + huge + 3 * tile
    kinds = np.flatnonzero(np.bincount(kind))
    every = take(table, np.tile(np.arange(size), len(kinds)))
    values = (kinds % 3 > 0, kinds % 3 > 1, kinds // 3)
    every |= {
        name: np.repeat(value.astype(float), size)
        for name, value in zip(names, values, strict=True)
    }
    every |= {"engine_batched_tokens": evaluate(engine_batched_tokens, every)}
    return (
        every,
        grid._replace(layout=grid.layout + size * np.searchsorted(kinds, kind)),
        np.tile(sound, len(kinds)),
    )


def _by_card_memory(
    table: Table, grid: Grid, sound: np.ndarray, cards: Columns
) -> tuple[Table, Grid, np.ndarray]:
    """Layouts with a colocated rollout engine for each size of card, of which it takes a share."""
    if not np.any(table["colocates_engine"] > 0):
        return table, grid, sound
    size = grid.size
    sizes, kind = np.unique(
        np.broadcast_to(cards["gpu_memory_bytes"], len(cards["gpu_row"])), return_inverse=True
    )
    every = take(table, np.tile(np.arange(size), len(sizes)))
    every |= {"rollout_card_bytes": np.repeat(sizes, size)}
    able = np.tile(sound, len(sizes)) & ~evaluate(objectives.SMALL_SHARE.wrong, every)
    return every, grid._replace(layout=grid.layout + size * kind.take(grid.place)), able


def _support(
    table: Columns, cards: Columns, catalogs: Catalogs
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each kind of layout's verdict on each place, whether its time is known, and the kinds."""
    small, kind = distinguished(table, catalogs)
    verdict, timed = verdicts_on(small, cards, catalogs)
    return verdict, timed, np.broadcast_to(kind, table["rows"])
