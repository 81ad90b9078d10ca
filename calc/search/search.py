"""The cheapest ways to do a piece of work: every combination of what is allowed, on every instance, region and market.

Memory depends on the layout and the class of card, time on the layout and the instance, the price on instance, region
and market: each is computed once, and the combinations are sums and products of arrays. Of the ways that hold, those
stay that no other of the same instance, region, market and count of instances beats in time, and with it in cost.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost import placement
from calc.cost.job import Job, deployments, job, within
from calc.cost.markets import MARKETS, sold_for
from calc.cost.prices import instances_needed, spare_instances
from calc.cost.spot import UNTIL_OVERHEAD
from calc.engine.pipeline import parts, sound_rows
from calc.engine.stages import MEMORY_RESULTS, TIME, memory, reads, walk
from calc.evaluate import Columns, evaluate, evaluate_all, formulas_of, parameters_of
from calc.memory import fit
from calc.memory.serving_traits import on_huge_card, on_large_card
from calc.scenarios.join_places import band_ratios, hardware, price_rows
from calc.scenarios.lookups import numbers_of, row_numbers, words_of
from calc.scenarios.private_prices import own_prices
from calc.scenarios.support import RUNS, asks, verdicts_on
from calc.search.space import Space, instances_of, markets_of, regions_of
from calc.speed.collectives import island_gpus
from calc.table import Table, distinct, take

CHUNK_LAYOUTS = 50_000
MOST_WAYS, MOST_LAYOUTS = 100_000_000, 1_000_000  # a layout takes 10 microseconds, a way on one of them a tenth of that
PRICES = tuple(market.price for market in MARKETS.values())
PRIVATE = np.array([market.takes_private for market in MARKETS.values()])
OWN = (  # read beside what the stages of time read
    *("train_tokens", "hours_per_month", "batch", "gpus", "served_tokens_per_second"),
    *("serving_large_card_bytes", "serving_huge_card_bytes", "serving_counts_graphs", "memory_utilization", "tight_ratio", "is_engine"),
    *("usable_host_ratio", "slowest_joining_bytes_per_second", *parameters_of(spare_instances)),
)
READ = {*reads(TIME), *(name for formula in (*UNTIL_OVERHEAD, *formulas_of(placement)) for name in parameters_of(formula)), *OWN}
PLACED = ("gpus", "tensor_parallel", "replica_gpus", "offloaded_bytes", "trains")
REASONS = ("impossible", "too large", "do not run", "without a price", "outside the limits", "held")


class SearchError(ValueError):
    """The search cannot be made; the message says why and what to change."""


@dataclass(frozen=True)
class Found:
    """The ways that no other like it beats, and of all that were looked at how many hold or why they do not."""

    space: Space
    limits: object
    candidates: pd.DataFrame
    evaluated: int
    counts: dict


def search(workload, allowed, limits, catalogs, progress=None):
    """Evaluate all combinations of `allowed` (lists by scenario column; family, region, market) for a workload.

    Cost is that of the run (train_tokens) in training, and of a month of the wanted load in serving. `progress` is
    called with the share done.
    """
    space = Space(workload, allowed)
    instances, regions = instances_of(allowed, catalogs), regions_of(allowed, catalogs)
    markets = [name for name in markets_of(allowed, catalogs) if sold_for(name, workload.get("work") or "training")]
    places = len(instances) * len(regions) * len(markets)
    evaluated = space.size * places
    if evaluated > MOST_WAYS or space.size > MOST_LAYOUTS:
        widest = max(space.lists, key=lambda name: len(space.lists[name]))
        raise SearchError(
            f"These are {space.size / 1e6:,.1f} million layouts and {evaluated / 1e6:,.0f} million combinations, and at most "
            f"{MOST_LAYOUTS / 1e6:.0f} and {MOST_WAYS / 1e6:.0f} million are searched; "
            f"{widest.replace('_', ' ')} multiplies most ({len(space.lists[widest])} values): allow fewer."
        )
    if not places:
        raise SearchError("No instance of these families has a price on these markets; allow other families or markets.")
    counts, parts = dict.fromkeys(REASONS, 0), []
    starts = range(0, space.size, CHUNK_LAYOUTS)
    cards = _cards(instances, catalogs)
    offers = [_offers(catalogs, instance, regions, workload) for instance in instances]
    for chunk, start in enumerate(starts):
        layouts = _layouts(space, start, regions, catalogs)
        counts["impossible"] += layouts.impossible * places
        runs = _may_run(layouts.asks, cards, limits, catalogs) if len(layouts.numbers) else []
        for number, (one, offer) in enumerate(zip(cards, offers, strict=True)):
            if len(layouts.numbers):
                here, rows = _on_instance(layouts, one, runs[number], limits, len(regions) * len(markets), counts)
                if len(rows):
                    parts += _priced(here, layouts.numbers[rows], number, offer, markets, limits, counts)
            if progress:
                progress((chunk + (number + 1) / len(instances)) / len(starts))
    columns = ("layout", "instance", "region", "market", *Job._fields)
    candidates = pd.DataFrame(np.concatenate([np.empty((0, len(columns))), *parts]), columns=list(columns))
    for name, words in (("instance", instances), ("region", regions), ("market", markets)):
        candidates[name] = np.asarray(words, dtype=object)[candidates[name].to_numpy(dtype=int)]
    return Found(space, limits, candidates.astype({"layout": int}), evaluated, counts)


class Layouts(NamedTuple):
    """A stretch of sound layouts: numbers, columns, memory by class of card, what decides where they may stand and run."""

    numbers: np.ndarray
    impossible: int
    table: dict
    memory: list
    places: tuple
    asks: tuple


def _layouts(space: Space, start: int, regions: list[str], catalogs: Catalogs) -> Layouts:
    """The joined table of a stretch of layouts, with what time needs to know and its memory."""
    numbers = np.arange(start, min(start + CHUNK_LAYOUTS, space.size))
    part = next(parts(space.rows(numbers).assign(instance="", gpu="", region=regions[0]), catalogs))
    sound, table = sound_rows(part)
    if not len(sound):
        return Layouts(sound, len(numbers), {}, [], (), ())
    sizes = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)) if np.any(table["is_engine"] > 0) else ((0.0, 0.0),)  # an engine's defaults go by them
    held = [_memory(table | {"on_large_card": np.full(1, large), "on_huge_card": np.full(1, huge)}) for large, huge in sizes]
    known = np.flatnonzero(~np.isnan(held[0]["allocated_peak_bytes"]))
    held = [{name: values[known] for name, values in each.items()} for each in held]
    table = take(table, known)
    columns = table | held[0]
    first, copies = distinct((columns[name] for name in PLACED), len(known))
    places = {name: np.broadcast_to(columns[name], len(known))[first] for name in PLACED}, copies
    asked = asks(table, catalogs)
    short = {name: _short(table[name]) for name in READ if name in table and isinstance(table[name], np.ndarray)}
    return Layouts(numbers[sound][known], len(numbers) - len(known), short, held, places, asked)


def _memory(table: Table) -> Columns:
    """What memory leaves for fit and time, one value per row."""
    found = memory(table)
    return {name: np.broadcast_to(found[name], table["rows"]) for name in MEMORY_RESULTS}


def _short(values):
    """A column in which all rows are equal as one value, which broadcasts."""
    same = (values[..., :1] == values).all() or (values.dtype.kind == "f" and np.isnan(values).all())
    return values[..., :1] if same else values


def _rows(table, rows, chosen):
    """The chosen rows of columns that are not one value for all."""
    return {name: values.take(chosen, axis=-1) if values.shape[-1] == rows else values for name, values in table.items()}


def _cards(instances: list[str], catalogs: Catalogs) -> list[Columns]:
    """The columns of card and instance of each instance type, one value each."""
    found, rows = hardware(catalogs), row_numbers(catalogs, "instances")
    return [{name: values[rows[instance] : rows[instance] + 1] for name, values in found.items()} for instance in instances]


def _offers(catalogs: Catalogs, instance: str, regions: list[str], workload: dict) -> tuple[np.ndarray, list[tuple[str, float]]]:
    """Prices (regions x markets) and interruption bands, with their ratios, of an instance type."""
    price_of, _ = price_rows(catalogs)
    at = np.array([price_of.get((instance, region), -1) for region in regions], dtype=np.int64)
    listed = np.column_stack([numbers_of(catalogs, "prices", name)[at] for name in PRICES])
    prices = np.where(at[:, None] >= 0, own_prices(listed[None], [instance], PRIVATE, workload, catalogs)[0], np.nan)
    bands = words_of(catalogs, "prices", "interruption_band")[at]
    return prices, list(zip(bands, band_ratios(catalogs)[at], strict=True))


def _on_instance(layouts, one, runs, limits, offers, counts):
    """The layouts that run on an instance type and that it holds, with their time on it, and whether they keep the limits."""
    rows = len(layouts.numbers)
    large = {"on_large_card": evaluate(on_large_card, layouts.table | one)}
    size = int(np.any(large["on_large_card"])) + int(np.any(evaluate(on_huge_card, layouts.table | one | large)))
    held = layouts.memory[size % len(layouts.memory)]
    limit = evaluate(fit.limit_bytes, layouts.table | held | one)
    inside = held["allocated_peak_bytes"] <= limit
    surely = held["memory_high_bytes"] <= one["gpu_memory_bytes"]
    constants = {name: layouts.table[name] for name in ("usable_host_ratio", "slowest_joining_bytes_per_second")}
    stands = _may_stand(layouts.places, one, constants)
    chosen = np.flatnonzero(inside & stands & runs)
    counts["impossible"] += int(rows - np.count_nonzero(stands)) * offers
    counts["too large"] += int(np.count_nonzero(stands & ~inside)) * offers
    counts["do not run"] += int(np.count_nonzero(stands & inside & ~runs)) * offers
    if not len(chosen):
        return {}, chosen
    here = _rows(layouts.table | held, rows, chosen) | one | {"rows": len(chosen)}
    evaluate_all((instances_needed, spare_instances), here)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        walk(here, TIME)
    here["surely"] = surely[chosen]
    first, each = (here["first_token_high_ratio"], here["time_high_ratio"]) if limits.slow_end else (1.0, 1.0)
    paced = (here["time_to_first_token_seconds"] * first <= limits.first_token_seconds) & (
        here["time_per_output_token_seconds"] * each <= limits.output_token_seconds
    )
    sized = (here["step_tokens"] >= limits.step_tokens) & (here["step_tokens"] <= limits.highest_step_tokens)
    here["kept"] = np.where(here["trains"] > 0, sized, paced) & (here["surely"] | (limits.surely == 0))
    return here, chosen


def _may_run(asked, cards, limits, catalogs):
    """Whether each layout runs on each instance type, a row per type; what is emulated or not known to only if `unverified`."""
    small, copies = asked
    places = {name: np.concatenate([one[name] for one in cards]) for name in ("gpu_row", "instance_row")}
    verdict, timed = verdicts_on(small, places, catalogs)
    return ((verdict <= RUNS.index("unknown" if limits.unverified else "yes")) & timed)[:, copies]


def _may_stand(places, one, constants):
    """Whether each layout may stand on an instance type, found once for those that are alike."""
    table, copies = places
    here = table | one | constants
    evaluate_all((instances_needed, island_gpus, *formulas_of(placement)), here)
    broken = [evaluate(rule.wrong, here) for rule in placement.RULES]
    return ~np.broadcast_to(np.any(np.broadcast_arrays(*broken), axis=0), len(table["gpus"]))[copies]


def _priced(here, numbers, number, offer, markets, limits, counts):
    """The jobs of one instance type in every region and market that keep the limits, of like ones the fastest."""
    rows, parts, overheads = len(numbers), [], {}
    copies = deployments(here, limits.users)
    for region, (prices, (band, ratio)) in enumerate(zip(*offer, strict=True)):
        for at, market in enumerate(markets):
            price = prices[PRICES.index(MARKETS[market].price)]
            if np.isnan(price):
                counts["without a price"] += rows
                continue
            if MARKETS[market].interrupted and band not in overheads:
                overheads[band] = _spot_overhead(here, ratio)
            done = job(here, market, price, overheads.get(band, 0.0), copies)
            good = np.flatnonzero(np.broadcast_to(within(done, limits) & here["kept"], rows))
            counts["held"] += len(good)
            counts["outside the limits"] += rows - len(good)
            each = np.vstack([np.broadcast_to(values, rows)[good] for values in done])
            kept = _fastest(each, ~here["surely"][good])
            place = [np.full(len(kept), value) for value in (number, region, at)]
            parts.append(np.column_stack([numbers[good[kept]], *place, each[:, kept].T]))
    return parts


def _fastest(each, tight):
    """Of jobs (instances, USD per hour, ...) the fastest for each count of instances, sure fits first."""
    order = np.lexsort((tight, np.round(np.log(each[4]), 9), each[0]))
    counts = each[0][order]
    return order[np.flatnonzero(np.diff(counts, prepend=-1.0))]


def _spot_overhead(here: Columns, ratio: float) -> np.ndarray:
    """Share of time that interruptions of a band add."""
    table = here | {"band_interruption_ratio": np.array([ratio])}
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return evaluate_all(UNTIL_OVERHEAD, table)["spot_overhead_ratio"]
