"""Pairs of layouts and places that run there and may fit, with the memory of each layout.

Memory depends on the layout only. It is computed once for all layouts that need the same.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost import machines, starts
from calc.cost.job import JOB_READS
from calc.cost.spot import UNTIL_OVERHEAD
from calc.engine.stages import MEMORY, TIME, before_memory, fullest_place, makes, memory_keys, walk
from calc.evaluate import Columns, evaluate, evaluate_all, formulas_of, parameters_of
from calc.layout_place_table import PAIR, LayoutPlaceTable, needed
from calc.memory import fit, kv_pool, rollout_engine, serving_share, states
from calc.memory.serving_engine import engine_sequences
from calc.memory.serving_traits import (
    engine_batched_tokens,
    expert_tile,
    graph_sequences,
    links_without_multicast,
    memory_utilization,
    on_huge_card,
    on_large_card,
    reserve_bytes,
)
from calc.rules import objectives, placement
from calc.rules.support import RUNS, distinct_rows, verdicts_on
from calc.search import bounds
from calc.search.grid import Grid
from calc.speed.collectives import island_gpus
from calc.table import Table, distinct, take

LAYOUT_STAGES = MEMORY[:1]
FITS = tuple(fit.FITS)
STARTING = needed(
    formulas_of(starts),
    ("start_hours", "start_high_hours", "weights_read_seconds", "checkpoint_seconds"),
)
# The share of a card that a serving engine takes.
SHARE_OF_CARD = (graph_sequences, reserve_bytes, memory_utilization)
LATER_MODULES = (serving_share, fit, kv_pool, machines, placement, starts)
LATER = (  # what runs once memory is known
    *SHARE_OF_CARD,
    *(formula for module in LATER_MODULES for formula in formulas_of(module)),
    *UNTIL_OVERHEAD,
    *(rule.wrong for rule in placement.RULES),
    *(formula for stage in TIME for formula in stage.formulas),
)
LATER_READS = frozenset(name for formula in LATER for name in parameters_of(formula))
OF_LAYOUT = LATER_READS | JOB_READS | {"row_number"}  # what of a layout is read from here on
POOL = needed(formulas_of(kv_pool), ("distinct_pool_tokens",))  # what conversations may fill
MEMORY_RESULTS = tuple(
    name for name in makes(MEMORY[1:]) if name in LATER_READS
)  # what memory decides of fit, placement and time
# A serving engine's defaults on a card.
ENGINE_OF_CARD = (on_large_card, on_huge_card, engine_batched_tokens, engine_sequences)
# Memory of an engine depends on the card through these alone.
CARD_TRAITS = (on_large_card, on_huge_card, links_without_multicast, expert_tile)
PAIRS_AT_ONCE = 2**15  # of layouts and places, whose columns stay within 60 MB
LAYOUTS_AT_ONCE = 2**12  # whose memory is computed at once, within 60 MB


def pair_table_of(table: Columns, cards: Columns, grid: Grid) -> LayoutPlaceTable:
    """Return the table of the grid's pairs: columns of layouts, and of the cards of places."""
    columns = {name: values for name, values in table.items() if name not in cards}
    return LayoutPlaceTable(columns, cards, grid.layout_of_pair, grid.place_of_pair)


def able_pairs(
    grid: Grid,
    cards: Columns,
    table: Table,
    sound: np.ndarray,
    positions: Sequence[np.ndarray],
    catalogs: Catalogs,
) -> tuple[LayoutPlaceTable, list[np.ndarray]]:
    """Return the pairs that run and whose card may hold the layout, with its memory.

    `sound` is False for layouts that contradict themselves; its shape is (layouts,). `positions`
    are the pairs of each job: -1 for a pair of the grid that it does not try. They are returned
    with -1 also for pairs that do not run or whose card cannot hold the layout. If no card may hold
    any layout of a job, the pairs with its smallest layouts stay. The column `pair_number` is the
    number of the pair in the grid.
    """
    table, grid, sound = _by_card_class(table, grid, sound, cards)
    table, grid, sound = _by_card_memory(table, grid, sound, cards)
    walk(table, LAYOUT_STAGES)
    support = _support(table, cards, catalogs)
    able = np.flatnonzero(sound.take(grid.layout_of_pair) & support.may_run(grid))
    if len(able):
        positions = _positions_that_may_fit(able, grid, table, cards, positions)
        is_tried = np.any([position.take(able) >= 0 for position in positions], axis=0)
        able = able[is_tried]
    layout, place = grid.layout_of_pair.take(able), grid.place_of_pair.take(able)
    used_layouts, layout_among_used = _occurring_numbers(layout, table["rows"])
    table = take(table, used_layouts)
    if len(able):
        table = memory_once(table)
    table = table.only(name for name in OF_LAYOUT if name in table)
    able_grid = grid._replace(layout_of_pair=layout_among_used, place_of_pair=place)
    pair_table = pair_table_of(table, cards, able_grid)
    pair_table.set("pair_number", PAIR, able)
    kind = support.kind_of_layout.take(layout)
    pair_table.set("runs", PAIR, support.verdict[place, kind])
    is_timed = support.is_timed
    pair_table.set("timed", PAIR, np.ones(1, bool) if is_timed.all() else is_timed[place, kind])
    return pair_table, list(positions)


def _positions_that_may_fit(
    able: np.ndarray,
    grid: Grid,
    table: Table,
    cards: Columns,
    positions: Sequence[np.ndarray],
) -> list[np.ndarray]:
    """Return the positions of each job, with -1 for the pairs that no card may hold.

    `able` are the numbers of the pairs that run; the others get -1 too. If no card may hold any
    layout of a job, the pairs with its smallest layouts keep their positions.
    """
    least_bytes = least_memory_bytes(table).take(grid.layout_of_pair.take(able))
    card_bytes = np.broadcast_to(cards["gpu_memory_bytes"], len(cards["gpu_row"]))
    may_fit = least_bytes <= card_bytes.take(grid.place_of_pair.take(able))
    able_positions = []
    for position in positions:
        is_tried = position.take(able) >= 0
        stays = is_tried & may_fit
        if is_tried.any() and not stays.any():
            stays = is_tried & (least_bytes == least_bytes[is_tried].min())
        able_position = np.full(len(position), -1)
        able_position[able[stays]] = position[able[stays]]
        able_positions.append(able_position)
    return able_positions


def _occurring_numbers(numbers: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which of `count` numbers occur, in order, and each number's place among them."""
    is_used = np.zeros(count, dtype=bool)
    is_used[numbers] = True
    return np.flatnonzero(is_used), (np.cumsum(is_used) - 1).take(numbers)


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


def by_pair(pair_table: LayoutPlaceTable, name: str) -> np.ndarray:
    """A column with one value for each pair."""
    return np.broadcast_to(pair_table.column(name, PAIR), len(pair_table.layout_of_pair))


def keep_fitting(pair_table: LayoutPlaceTable) -> np.ndarray:
    """Drop pairs that do not fit or that placement forbids; return which ones fit.

    The result is their `pair_number`, before placement forbids any.
    """
    pair_table.evaluate_all((*SHARE_OF_CARD, *fit.VERDICT))
    pair_table.keep(np.flatnonzero(by_pair(pair_table, "fits") <= FITS.index("tight")))
    holding = by_pair(pair_table, "pair_number")
    pair_table.evaluate_all(
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
        np.broadcast_to(pair_table.value(rule.wrong, PAIR), len(pair_table.layout_of_pair))
        for rule in placement.RULES
    ]
    pair_table.keep(np.flatnonzero(~np.any(broken, axis=0)))
    return holding


def memory_once(table: Table) -> Table:
    """Return the table with its memory, computed once for all layouts that need the same.

    Without sharding, the number of replicas makes no difference once there are two.
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
        _memory_columns(alike.take(first[start : start + LAYOUTS_AT_ONCE]))
        for start in range(0, len(first), LAYOUTS_AT_ONCE)
    ]
    once = {name: np.concatenate([part[name] for part in parts]) for name in MEMORY_RESULTS}
    return table | {name: once[name].take(copies) for name in MEMORY_RESULTS}


def _memory_columns(table: Table) -> dict[str, np.ndarray]:
    """Return the columns that memory decides, one value per layout."""
    made = fullest_place(before_memory(table))
    return {name: np.broadcast_to(made[name], table["rows"]) for name in MEMORY_RESULTS}


def _by_card_class(
    table: Table, grid: Grid, sound: np.ndarray, cards: Columns
) -> tuple[Table, Grid, np.ndarray]:
    """Repeat the layouts of a serving engine for each class of card.

    Cards of one class have the same defaults of the engine, the same tiles and the same links.
    """
    if not np.any(table["is_engine"] > 0):
        return table, grid, sound
    layouts = grid.layout_count
    pair_table = pair_table_of(table, cards, grid)
    pair_table.evaluate_all((*ENGINE_OF_CARD, *CARD_TRAITS))
    traits = {
        formula.__name__: by_pair(pair_table, formula.__name__).astype(float)
        for formula in CARD_TRAITS
    }
    first_pair, class_of_pair = distinct(traits.values(), len(grid.layout_of_pair))
    classes = len(first_pair)
    repeated = take(table, np.tile(np.arange(layouts), classes))
    repeated |= {name: np.repeat(values[first_pair], layouts) for name, values in traits.items()}
    repeated |= {"engine_batched_tokens": evaluate(engine_batched_tokens, repeated)}
    layout_of_pair = grid.layout_of_pair + layouts * class_of_pair
    return repeated, grid._replace(layout_of_pair=layout_of_pair), np.tile(sound, classes)


def _by_card_memory(
    table: Table, grid: Grid, sound: np.ndarray, cards: Columns
) -> tuple[Table, Grid, np.ndarray]:
    """Repeat layouts with a colocated rollout engine for each size of card.

    The engine takes a share of the card.
    """
    if not np.any(table["colocates_engine"] > 0):
        return table, grid, sound
    layouts = grid.layout_count
    card_bytes = np.broadcast_to(cards["gpu_memory_bytes"], len(cards["gpu_row"]))
    sizes_bytes, size_of_place = np.unique(card_bytes, return_inverse=True)
    repeated = take(table, np.tile(np.arange(layouts), len(sizes_bytes)))
    repeated |= {"rollout_card_bytes": np.repeat(sizes_bytes, layouts)}
    has_room = ~evaluate(objectives.SMALL_SHARE.wrong, repeated)
    layout_of_pair = grid.layout_of_pair + layouts * size_of_place.take(grid.place_of_pair)
    return (
        repeated,
        grid._replace(layout_of_pair=layout_of_pair),
        np.tile(sound, len(sizes_bytes)) & has_room,
    )


class _Support(NamedTuple):
    """Verdicts on layouts and places; layouts of one kind are treated alike by every rule.

    `verdict` is a position in RUNS, and `is_timed` is False if the time is not known there; their
    shape is (places, kinds).
    """

    verdict: np.ndarray
    is_timed: np.ndarray
    kind_of_layout: np.ndarray

    def may_run(self, grid: Grid) -> np.ndarray:
        """Return for each pair whether its layout may run on its place."""
        kind = self.kind_of_layout.take(grid.layout_of_pair)
        return (self.verdict != RUNS.index("no"))[grid.place_of_pair, kind]


def _support(table: Columns, cards: Columns, catalogs: Catalogs) -> _Support:
    """Return whether and how each layout runs on each place."""
    kinds, kind_of_layout = distinct_rows(table, catalogs)
    verdict, is_timed = verdicts_on(kinds, cards, catalogs)
    return _Support(verdict, is_timed, np.broadcast_to(kind_of_layout, table["rows"]))
