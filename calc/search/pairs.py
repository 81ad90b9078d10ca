"""Pairs of layouts and places that run there and may fit, with the memory of each layout.

Memory depends on the layout, and is worked out once for layouts that are alike.
"""

from collections.abc import Callable, Sequence

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost import machines, starts
from calc.cost.spot import UNTIL_OVERHEAD
from calc.engine.stages import MEMORY, TIME, before_memory, fullest_place, makes, memory_keys, walk
from calc.evaluate import Columns, evaluate, evaluate_all, formulas_of, parameters_of
from calc.layout_place_table import PAIR, LayoutPlaceTable, needed
from calc.memory import fit, kv_pool, rollout_engine, serving_share, states
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
from calc.search.timing import STEPPED
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
POOL = needed(formulas_of(kv_pool), ("distinct_pool_tokens",))  # what conversations may fill
MEMORY_MADE = tuple(
    name for name in makes(MEMORY[1:]) if name in LATER_READS
)  # what memory decides of fit, placement and time
# A serving engine's defaults on a card.
ENGINE_OF_CARD = (on_large_card, on_huge_card, engine_batched_tokens)
LAYOUTS_AT_ONCE = 2**12  # whose memory is worked out at once, within 60 MB


def pair_table_of(table: Columns, cards: Columns, grid: Grid) -> LayoutPlaceTable:
    """Layouts pair_table with the cards of their places."""
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

    `positions`: of each job, -1 for each pair of the grid that it does not try; they are returned
    with -1 also for those that its card cannot hold. A job of which no card may hold any layout
    keeps the pairs of its smallest layouts. The column `pair_number` says which pair of the grid
    each is.
    """
    table, grid, sound = _by_card_memory(*_by_card_class(table, grid, sound, cards), cards)
    walk(table, LAYOUT_STAGES)
    verdict, timed, kind = _support(table, cards, catalogs)
    may_run = sound[:, None] & (verdict != RUNS.index("no")).T[kind]
    able = np.flatnonzero(may_run[grid.layout_of_pair, grid.place_of_pair])
    if len(able):
        least_bytes = least_memory_bytes(table).take(grid.layout_of_pair.take(able))
        card_bytes = np.broadcast_to(cards["gpu_memory_bytes"], len(cards["gpu_row"]))
        small = least_bytes <= card_bytes.take(grid.place_of_pair.take(able))
        positions = [_of_small(able, small, least_bytes, position) for position in positions]
        able = able[np.any([position.take(able) >= 0 for position in positions], axis=0)]
    layout, place = grid.layout_of_pair.take(able), grid.place_of_pair.take(able)
    is_used = np.zeros(table["rows"], dtype=bool)
    is_used[layout] = True
    table = take(table, np.flatnonzero(is_used))
    table = memory_once(table) if len(able) else table
    table = table.only(name for name in LATER_READS.union(STEPPED, ["row_number"]) if name in table)
    layout_among_used = (np.cumsum(is_used) - 1).take(layout)
    pair_table = pair_table_of(
        table, cards, grid._replace(layout_of_pair=layout_among_used, place_of_pair=place)
    )
    of_pair = place, kind.take(layout)
    pair_table.set("pair_number", PAIR, able)
    pair_table.set("runs", PAIR, verdict[of_pair])
    pair_table.set("timed", PAIR, timed[of_pair] if not timed.all() else np.ones(1, dtype=bool))
    return pair_table, list(positions)


def _of_small(
    able: np.ndarray, small: np.ndarray, least_bytes: np.ndarray, position: np.ndarray
) -> np.ndarray:
    """The positions of a job, -1 of the pairs that no card may hold; some of its pairs stay.

    `able`: the pairs that run; of these, whether the card may hold them, and their least memory.
    """
    is_tried = position.take(able) >= 0
    stays = is_tried & small
    if is_tried.any() and not stays.any():
        stays = is_tried & (least_bytes == least_bytes[is_tried].min())
    new_places = np.full(len(position), -1)
    new_places[able[stays]] = position[able[stays]]
    return new_places


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
    """Return the columns that memory decides, one value per layout."""
    made = fullest_place(before_memory(table))
    return {name: np.broadcast_to(made[name], table["rows"]) for name in MEMORY_MADE}


def _by_card_class(
    table: Table, grid: Grid, sound: np.ndarray, cards: Columns
) -> tuple[Table, Grid, np.ndarray]:
    """Layouts of a serving engine for each kind of card: defaults, tiles and links differ."""
    if not np.any(table["is_engine"] > 0):
        return table, grid, sound
    size = grid.layout_count
    pair_table = pair_table_of(table, cards, grid)
    pair_table.evaluate_all((*ENGINE_OF_CARD, links_without_multicast, expert_tile))
    names = ("on_large_card", "on_huge_card", "links_without_multicast", "expert_tile")
    large, huge, plain, tile = (by_pair(pair_table, name).astype(int) for name in names)
    kind = large + huge + 3 * plain + 6 * tile
    kinds = np.flatnonzero(np.bincount(kind))
    every = take(table, np.tile(np.arange(size), len(kinds)))
    values = (kinds % 3 > 0, kinds % 3 > 1, kinds // 3 % 2, kinds // 6)
    every |= {
        name: np.repeat(value.astype(float), size)
        for name, value in zip(names, values, strict=True)
    }
    every |= {"engine_batched_tokens": evaluate(engine_batched_tokens, every)}
    return (
        every,
        grid._replace(layout_of_pair=grid.layout_of_pair + size * np.searchsorted(kinds, kind)),
        np.tile(sound, len(kinds)),
    )


def _by_card_memory(
    table: Table, grid: Grid, sound: np.ndarray, cards: Columns
) -> tuple[Table, Grid, np.ndarray]:
    """Layouts with a colocated rollout engine for each size of card, of which it takes a share."""
    if not np.any(table["colocates_engine"] > 0):
        return table, grid, sound
    size = grid.layout_count
    sizes, kind = np.unique(
        np.broadcast_to(cards["gpu_memory_bytes"], len(cards["gpu_row"])), return_inverse=True
    )
    every = take(table, np.tile(np.arange(size), len(sizes)))
    every |= {"rollout_card_bytes": np.repeat(sizes, size)}
    able = np.tile(sound, len(sizes)) & ~evaluate(objectives.SMALL_SHARE.wrong, every)
    return (
        every,
        grid._replace(layout_of_pair=grid.layout_of_pair + size * kind.take(grid.place_of_pair)),
        able,
    )


def _support(
    table: Columns, cards: Columns, catalogs: Catalogs
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each kind of layout's verdict on each place, whether its time is known, and the kinds."""
    small, kind = distinct_rows(table, catalogs)
    verdict, timed = verdicts_on(small, cards, catalogs)
    return verdict, timed, np.broadcast_to(kind, table["rows"])
