"""Every combination of a grid with its verdicts, time and money: arrays of equal length, one entry per way to rent it.

Memory depends on the layout, time on layout and instance type, the price on instance type, region and market: each formula
runs at its own level (calc/crossed.py). Of like ways in several regions the one of least price counts,
and where that price is old also the least that is not.
"""

from typing import Any, NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost import placement, prices
from calc.cost.job import deployments, job
from calc.cost.markets import MARKETS
from calc.cost.spot import UNTIL_OVERHEAD
from calc.crossed import PAIR, WAY, Crossed
from calc.engine.pipeline import not_covered, settled_table
from calc.engine.stages import MEMORY, MEMORY_KEYS, MEMORY_READS, TIME, fuller_end, reads, walk
from calc.evaluate import Columns, evaluate, formulas_of, parameters_of
from calc.memory import fit
from calc.memory.serving_traits import on_huge_card, on_large_card
from calc.scenarios.join_places import HARDWARE, hardware
from calc.scenarios.lookups import row_numbers
from calc.scenarios.problems import Problems
from calc.scenarios.read import known_inputs
from calc.scenarios.support import RUNS, asks, verdicts_on
from calc.search.bounds import least_bytes
from calc.search.grid import Grid
from calc.search.inputs import TIE_RATIO
from calc.search.load import loaded
from calc.search.places import Offer, Place, offers
from calc.search.timing import STEPPED, add_time, spot_overhead
from calc.speed.collectives import island_gpus
from calc.table import Table, distinct, gathered, take

LAYOUT_STAGES = MEMORY[:1]
READ = frozenset(  # of a layout, by what comes after its shards are known
    [
        *(*MEMORY_READS, *MEMORY_KEYS, *reads(TIME), *STEPPED, "row_number", "is_engine", "tight_ratio", "memory_utilization"),
        *(name for formula in (*formulas_of(fit), *formulas_of(placement), *UNTIL_OVERHEAD) for name in parameters_of(formula)),
        *parameters_of(prices.spare_instances),
        *(name for rule in placement.RULES for name in parameters_of(rule.wrong)),
    ]
)
FITS = tuple(fit.FITS)
PAIRS_AT_ONCE = 2**17  # of layouts and places, so that the figures of a large job stay in 100 MB and in the processor's cache
HELD = (  # what memory decides of fit, placement and money
    *("allocated_peak_bytes", "memory_bytes", "memory_high_bytes", "context_bytes", "graphs_bytes", "offloaded_bytes"),
    "state_width_bytes_each",
)
SHOWN = ("runs", "fits", "headroom_bytes", "batch", "gpus", "tensor_parallel", "pipeline_parallel", "context_parallel")


class Combinations(NamedTuple):
    """What was found: the layouts; `ways` with a column per figure; how many were tried; what is wrong with all.

    And the least memory where all take too much; else NaN.
    """

    grid: Grid
    ways: Columns
    tried: int
    smallest_bytes: float
    problem: str


def combinations(grid: Grid, places: list[Place], whole: dict[str, Any], catalogs: Catalogs) -> Combinations:
    """All combinations that live on their cards and are not refused. `layout` and `place` are their numbers in the grid."""
    sold = offers(whole, places, catalogs)
    count = np.sum([~np.isnan(offer.usd_per_hour) for offer in sold], axis=0)
    tried = int((grid.steps_count[grid.layout] * count[grid.place]).sum())
    table, problems = layouts_table(grid, whole, catalogs)
    if not problems.sound.any():
        return Combinations(grid, {}, tried, np.nan, str(problems.text[0]) if grid.size else "")
    at = np.array([row_numbers(catalogs, "instances")[place.instance] for place in places])
    cards = {name: values[at] if len(values) > 1 else values for name, values in hardware(catalogs).items()}
    if whole["requests_per_second"]:
        grid = loaded(grid, crossed_with(walk(table | {}, LAYOUT_STAGES), cards, grid), whole)
        table, problems = layouts_table(grid, whole, catalogs)
    crossed, held = _able(grid, cards, table, problems.sound, catalogs)
    if not len(held):
        return Combinations(grid, {}, tried, np.nan, "")
    if np.isnan(held).all():
        return Combinations(grid, {}, tried, np.nan, not_covered(table, int(np.flatnonzero(problems.sound)[0]), catalogs))
    fitting, parts = 0, []
    for part in crossed.parts(PAIRS_AT_ONCE):
        fitting += _keep_fitting(part)
        parts += _ways(part, grid, sold, whole)
    ways = parts[0] if len(parts) == 1 else {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return Combinations(grid, ways, tried, np.nan if fitting else float(np.nanmin(held)), "")


def _ways(crossed: Crossed, grid: Grid, sold: list[Offer], whole: dict[str, Any]) -> list[Columns]:
    """The ways to rent some pairs: of each offer with its figures."""
    _accumulate(crossed, grid)
    add_time(crossed, whole["work"])
    found = [_sold(crossed, offer, whole) for offer in sold]
    return [_near_steps(each, whole) for each in found] if whole["work"] == "training" else found


def layouts_table(grid: Grid, whole: dict[str, Any], catalogs: Catalogs) -> tuple[Table, Problems]:
    """The settled table of all layouts, and what is wrong with each."""
    problems = Problems(grid.size)
    inputs = inputs_of(whole, grid.layouts | {"rows": grid.size, "row_number": np.arange(grid.size)})
    return settled_table(inputs, catalogs, problems), problems


def inputs_of(whole: dict[str, Any], columns: Columns) -> Columns:
    """The inputs (scenarios.read) of scenarios with these columns, all else as the job has it."""
    names = ("work", "model", "sequence_tokens", "hours_per_month", "train_tokens" if whole["work"] == "training" else "prompt_tokens")
    row = {name: whole[name] for name in names} | whole["assumed"]
    row |= {"tuning": "full" if whole["method"] == "full" else "lora", "implementation": whole["implementation"]}
    return known_inputs(row, columns)


def crossed_with(table: Columns, cards: Columns, grid: Grid) -> Crossed:
    """Layouts crossed with the cards of places, as the grid pairs them."""
    own = {name: values for name, values in table.items() if not name.startswith(HARDWARE)}
    return Crossed(own, cards, grid.layout, grid.place)


def _able(grid: Grid, cards: Columns, table: Table, sound: np.ndarray, catalogs: Catalogs) -> tuple[Crossed, np.ndarray]:
    """Layouts crossed with places, as far as they run and are not far too large; the memory of each layout, of none where none runs."""
    table, grid, sound = _by_card_class(table, grid, sound, cards)
    walk(table, LAYOUT_STAGES)
    verdict, timed, kind = _support(table, cards, catalogs)
    able = (sound[:, None] & (verdict != RUNS.index("no")).T[kind])[grid.layout, grid.place]
    if not able.any():
        return crossed_with(table, cards, grid), np.empty(0)
    least = np.broadcast_to(evaluate(least_bytes, table), table["rows"])
    card_bytes = np.broadcast_to(cards["gpu_memory_bytes"], len(cards["gpu_row"]))
    small = able & (least.take(grid.layout) <= card_bytes.take(grid.place))
    able = np.flatnonzero(small if small.any() else able & (least.take(grid.layout) == np.min(least.take(grid.layout[able]))))
    layout, place = grid.layout.take(able), grid.place.take(able)
    used = np.zeros(table["rows"], dtype=bool)
    used[layout] = True
    of_pair = place, kind.take(layout)
    table = memory_once(take(table, np.flatnonzero(used), READ))
    crossed = crossed_with(table, cards, grid._replace(layout=(np.cumsum(used) - 1).take(layout), place=place))
    crossed.set("runs", PAIR, verdict[of_pair])
    crossed.set("timed", PAIR, timed[of_pair] if not timed.all() else np.ones(1, dtype=bool))
    return crossed, np.atleast_1d(table["memory_bytes"])


def _keep_fitting(crossed: Crossed) -> int:
    """Leave the pairs that fit or are tight and may stand there; how many fit or are tight."""
    crossed.evaluate_all((fit.limit_bytes, fit.fits))
    fitting = np.flatnonzero(np.broadcast_to(crossed.at("fits", PAIR), len(crossed.layout)) <= FITS.index("tight"))
    crossed.keep(fitting)
    crossed.evaluate_all((fit.headroom_bytes, prices.instances_needed, prices.spare_instances, island_gpus, *formulas_of(placement)))
    broken = [np.broadcast_to(crossed.value(rule.wrong, PAIR), len(crossed.layout)) for rule in placement.RULES]
    crossed.keep(np.flatnonzero(~np.any(broken, axis=0)))
    return len(fitting)


def memory_once(table: Table) -> Table:
    """The table with what its memory decides; layouts without sharding differ in no byte by their replicas, if there are several."""
    degrees = table["tensor_parallel"] * table["pipeline_parallel"] * table["context_parallel"]
    unsharded = (table["shards_optimizer"] == 0) & (table["shards_gradients"] == 0) & (table["shards_weights"] == 0)
    alike = table | {"gpus": np.where(unsharded, np.minimum(table["gpus"], 2 * degrees), table["gpus"])}
    first, copies = distinct([alike[name] for name in MEMORY_KEYS], table["rows"])
    held = fuller_end(take(alike, first, MEMORY_READS))
    return table | {name: gathered(held[name], len(first), copies) for name in HELD}


def _by_card_class(table: Table, grid: Grid, sound: np.ndarray, cards: Columns) -> tuple[Table, Grid, np.ndarray]:
    """Layouts of an engine once for small, for large and for huge cards: it has other defaults on each."""
    if not np.any(table["is_engine"] > 0):
        return table, grid, sound
    size = grid.size
    crossed = crossed_with(table, cards, grid)
    crossed.evaluate_all((on_large_card, on_huge_card))
    large, huge = (np.broadcast_to(crossed.at(name, PAIR), len(grid.layout)) > 0 for name in ("on_large_card", "on_huge_card"))
    every = take(table, np.tile(np.arange(size), 3))
    every |= {"on_large_card": np.repeat([0.0, 1.0, 1.0], size), "on_huge_card": np.repeat([0.0, 0.0, 1.0], size)}
    return every, grid._replace(layout=grid.layout + size * (large.astype(int) + huge)), np.tile(sound, 3)


def _support(table: Columns, cards: Columns, catalogs: Catalogs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What runs, as its place in RUNS, and whether its time is known, of every kind of layout on every place; each layout's kind."""
    small, kind = asks(table, catalogs)
    verdict, timed = verdicts_on(small, cards, catalogs)
    return verdict, timed, np.broadcast_to(kind, table["rows"])


def _accumulate(crossed: Crossed, grid: Grid) -> None:
    """A way for each accumulation of every pair."""
    layout = np.broadcast_to(crossed.at("row_number", PAIR), len(crossed.layout))
    count = grid.steps_count[layout]
    pair = np.repeat(np.arange(len(layout)), count)
    first = grid.first_step.take(layout) - (np.cumsum(count) - count)  # of each pair's ways in `steps`, less its place among the ways
    crossed.multiply(pair)
    crossed.set("accumulation_steps", WAY, grid.steps.take(np.arange(len(pair)) + first.take(pair)).astype(float))


def _sold(crossed: Crossed, offer: Offer, whole: dict[str, Any]) -> Columns:
    """The figures that decide of every way that is sold so, with its money."""
    market = whole["markets"][offer.market]
    place = crossed.place.take(crossed.pair)
    price = offer.usd_per_hour.take(place)
    sold = ~np.isnan(price)
    interrupted = spot_overhead(crossed, offer.band_interruption_ratio) if MARKETS[market].interrupted else np.zeros(1)
    table = {name: crossed.at(name, WAY) for name in STEPPED}
    copies = deployments(table, 0) if np.any(table["served_tokens_per_second"] > 0) else np.ones(1)
    done = job(table, market, price, interrupted, copies)
    found = {name: getattr(done, name) for name in done._fields}
    found |= {name: crossed.at(name, WAY) for name in (*SHOWN, "step_tokens", "accumulation_steps")}
    found |= {
        "first_token_seconds": crossed.at("time_to_first_token_seconds", WAY),
        "token_seconds": table["time_per_output_token_seconds"],
        "slow_first_token_ratio": table["first_token_high_ratio"],
        "slow_token_ratio": table["time_high_ratio"],
    }
    found |= {"layout": crossed.at("row_number", WAY), "place": place, "load_ratio": _load(found, whole)}
    found |= {"region": offer.region.take(place), "market": np.full(1, offer.market), "price_age_days": offer.price_age_days.take(place)}
    timed = np.broadcast_to(crossed.at("timed", WAY), len(place))
    found = {name: np.broadcast_to(values, len(place)) for name, values in found.items()}
    for name in ("hours", "usd", "seconds", "slow_hours", "first_token_seconds", "token_seconds", "load_ratio") if not timed.all() else ():
        if name == "load_ratio" or whole["work"] == "training" or "seconds" in name:
            found[name] = np.where(timed, found[name], 0 if name == "load_ratio" else np.nan)
    return found if sold.all() else {name: values.take(np.flatnonzero(sold)) for name, values in found.items()}


def _near_steps(found: Columns, whole: dict[str, Any]) -> Columns:
    """Of the accumulations of each layout on a place the one nearest to the asked step; another where it saves more than a tie.

    Chosen before any limit, so that a looser limit only ever adds to what there is to choose from.
    """
    changes = (np.diff(found["layout"], prepend=-1) != 0) | (np.diff(found["place"], prepend=-1) != 0)
    first, group = np.flatnonzero(changes), np.cumsum(changes) - 1
    if not len(first) or len(whole["fixed"].get("accumulation_steps", ())) > 1:  # compared with one another: all stay
        return found
    cost = np.where(np.isnan(found["usd"]), np.inf, found["usd"])
    far = np.abs(np.log(found["step_tokens"] / whole["step_tokens"]))
    nearest = far == np.minimum.reduceat(far, first)[group]
    least = np.minimum.reduceat(cost, first)[group]
    near_cost = np.minimum.reduceat(np.where(nearest, cost, np.inf), first)[group]
    chosen = np.flatnonzero(np.where(near_cost <= least * TIE_RATIO, nearest, cost == least))
    return {name: values.take(chosen) for name, values in found.items()}


def _load(found: Columns, whole: dict[str, Any]) -> np.ndarray:
    """The wanted load over what an arrangement carries: requests a second by Little's law, else users at once; 0 in training."""
    if whole["work"] == "training":
        return np.zeros(1)
    at_once = found["batch"] * found["gpus"] / (found["tensor_parallel"] * found["pipeline_parallel"])
    if not whole["requests_per_second"]:
        return whole["users"] / at_once
    request = found["first_token_seconds"] + whole["answer_tokens"] * found["token_seconds"]
    return whole["requests_per_second"] * request / at_once
