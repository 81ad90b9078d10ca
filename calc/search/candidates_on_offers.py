"""The candidates of layouts on places: their accumulations, and cost and time on each offer."""

from dataclasses import replace

import numpy as np

from calc.cost.job import JOB_READS, deployments
from calc.cost.job import Job as JobCost
from calc.cost.job import job as cost_of
from calc.cost.markets import MARKETS
from calc.engine.stages import EMPTY
from calc.evaluate import evaluate
from calc.job.columns import TIE_RATIO
from calc.job.job import Job
from calc.layout_place_table import ONE, PAIR, WAY, LayoutPlaceTable
from calc.search.batch_for_rate import (
    first_token_column,
    load_columns,
    load_ratio,
)
from calc.search.candidates import Candidates
from calc.search.free_choices import COUNTS
from calc.search.grid import Grid
from calc.search.limit_percentiles import limited_columns, limited_seconds
from calc.search.pairs import POOL
from calc.search.places import Offer
from calc.search.timing import TIMED, add_time, has_turns, spot_overhead

COPIED = (  # columns of the pairs that a candidate has as they are
    *COUNTS,
    "step_tokens",
    "pair_number",
    "runs",
    "fits",
    "headroom_bytes",
    "fit_probability",
)
COST_COPIED = (  # figures of its job that a candidate has as they are
    "instances",
    "usd",
    "usd_per_hour",
    "hours",
    "slow_hours",
    "billed_hours",
    "billed_gpu_hours",
    "seconds",
)
TIMES = (  # figures that rest on time; of work that ends also the hours and what they cost
    "seconds",
    "first_token_seconds",
    "token_seconds",
    "limited_first_token_seconds",
    "limited_token_seconds",
)
TIMES_OF_RUNS = ("hours", "usd", "slow_hours", "billed_hours", "billed_gpu_hours")


def add_time_of_candidates(pair_table: LayoutPlaceTable, grid: Grid, job: Job) -> None:
    """Add the accumulations of pairs, and the columns of time that decide between candidates."""
    _add_accumulations(pair_table, grid)
    if has_turns(pair_table):
        pair_table.evaluate_all(POOL)
    else:
        pair_table.set(POOL[-1].__name__, ONE, EMPTY)
    add_time(pair_table, job.work, (*TIMED, *load_columns(job), *limited_columns(job).values()))


def candidates_on_offers(
    pair_table: LayoutPlaceTable, offers: list[Offer], job: Job
) -> list[Candidates]:
    """Return the candidates on each offer of pairs that have their accumulations and time."""
    several = [_candidates_on(pair_table, offer, job) for offer in offers]
    return [_near_steps(one, job) for one in several] if job.trains else several


def _add_accumulations(pair_table: LayoutPlaceTable, grid: Grid) -> None:
    """Add a way for each accumulation of every pair."""
    layout = np.broadcast_to(pair_table.column("row_number", PAIR), len(pair_table.layout_of_pair))
    ways = grid.steps_count[layout]
    pair = np.repeat(np.arange(len(layout)), ways)
    first_way = np.cumsum(ways) - ways
    first_step = grid.first_step.take(layout)
    step = np.arange(len(pair)) + (first_step - first_way).take(pair)
    pair_table.multiply(pair)
    pair_table.set("accumulation_steps", WAY, grid.steps.take(step).astype(float))


def _candidates_on(pair_table: LayoutPlaceTable, offer: Offer, job: Job) -> Candidates:
    """Return the candidates that an offer sells."""
    place = pair_table.place_of_pair.take(pair_table.pair_of_way)
    usd_per_hour = offer.usd_per_hour.take(place)
    cost = _cost(pair_table, offer, usd_per_hour, job)
    columns = {
        **{name: pair_table.column(name, WAY) for name in COPIED},
        "layout_number": pair_table.column("row_number", WAY),
        "instance_gpus": pair_table.column("instance_gpus", WAY),
        **{name: getattr(cost, name) for name in COST_COPIED},
        **_time_columns(pair_table, job),
        **_place_columns(offer, place, cost, job),
    }
    candidates = Candidates(
        **{name: np.broadcast_to(values, len(place)) for name, values in columns.items()}
    )
    is_timed = np.broadcast_to(pair_table.column("timed", WAY), len(place))
    if not is_timed.all():
        candidates = _without_unknown_times(candidates, is_timed, job.ends)
    # The hours of a run beyond the longest block are known, but AWS sells no such block.
    has_no_block = np.isnan(candidates.usd) & ~np.isnan(candidates.hours)
    is_sold = ~np.isnan(usd_per_hour) & ~has_no_block
    if job.have:  # nothing is paid: the fastest is the best
        candidates = replace(candidates, usd=candidates.seconds)
    return candidates if is_sold.all() else candidates.take(np.flatnonzero(is_sold))


def _time_columns(pair_table: LayoutPlaceTable, job: Job) -> dict[str, np.ndarray]:
    """Return the times of a service, their slow ends, and its load over what it carries."""

    def column(name: str) -> np.ndarray:
        return np.asarray(pair_table.column(name, WAY))

    first_token_seconds = column(first_token_column(job))
    token_seconds = column("time_per_output_token_seconds")
    limited = limited_seconds(job, column)
    return {
        "first_token_seconds": first_token_seconds,
        "token_seconds": token_seconds,
        "limited_first_token_seconds": limited.first_token,
        "limited_token_seconds": limited.token,
        "slow_first_token_ratio": column("first_token_high_ratio"),
        "slow_token_ratio": column("time_high_ratio"),
        "load_ratio": load_ratio(column, first_token_seconds, token_seconds, job),
    }


def _place_columns(
    offer: Offer, place: np.ndarray, cost: JobCost, job: Job
) -> dict[str, np.ndarray]:
    """Return where each candidate is rented, how old its price is, and how hard it is to get."""
    single_rank = offer.obtainability_rank.take(place)
    many_rank = offer.many_obtainability_rank.take(place)
    is_many = (cost.instances >= offer.many_instances.take(place)) & job.ends
    return {
        "place_number": place,
        "market_number": np.full(1, offer.market_number),
        "region_number": offer.region_number.take(place),
        "price_age_days": offer.price_age_days.take(place),
        "obtainability_rank": np.where(is_many, many_rank, single_rank),
        "single_obtainability_rank": single_rank,
    }


def _cost(
    pair_table: LayoutPlaceTable, offer: Offer, usd_per_hour: np.ndarray, job: Job
) -> JobCost:
    """Return the cost and the duration of the job on every way of the pairs."""
    market = job.markets[offer.market_number]
    table = {name: pair_table.column(name, WAY) for name in JOB_READS}
    for name in ("instances_needed", "spare_instances"):  # NaN for cards without an instance
        table[name] = np.nan_to_num(table[name], nan=1.0)
    interruptions = (
        spot_overhead(pair_table, offer.band_interruption_ratio)
        if MARKETS[market].interrupted
        else np.zeros(1)
    )
    has_load = np.any(table["served_tokens_per_second"] > 0)
    copies = evaluate(deployments, table | {"users": 0}) if has_load else np.ones(1)
    return cost_of(table, market, usd_per_hour, interruptions, copies, offer.sizes)


def _without_unknown_times(candidates: Candidates, is_timed: np.ndarray, ends: bool) -> Candidates:
    """Empty the figures that rest on time if none is known; a month's cost needs no time."""
    names = (*TIMES, *(TIMES_OF_RUNS if ends else ()))
    known = {name: np.where(is_timed, getattr(candidates, name), np.nan) for name in names}
    return replace(candidates, **known, load_ratio=np.where(is_timed, candidates.load_ratio, 0))


def _near_steps(candidates: Candidates, job: Job) -> Candidates:
    """Keep the accumulation nearest to the job's step, or another that saves more than a tie.

    It is chosen before any limit applies, so that a looser limit only adds candidates.
    """
    is_new = (np.diff(candidates.layout_number, prepend=-1) != 0) | (
        np.diff(candidates.place_number, prepend=-1) != 0
    )
    first, group = np.flatnonzero(is_new), np.cumsum(is_new) - 1
    compares_steps = len(job.fixed.get("accumulation_steps", ())) > 1
    if not len(first) or compares_steps:
        return candidates
    cost = np.where(np.isnan(candidates.usd), np.inf, candidates.usd)
    distance = np.abs(np.log(candidates.step_tokens / job.step_tokens))
    is_nearest = distance == np.minimum.reduceat(distance, first)[group]
    least = np.minimum.reduceat(cost, first)[group]
    nearest_cost = np.minimum.reduceat(np.where(is_nearest, cost, np.inf), first)[group]
    is_tie = nearest_cost <= least * TIE_RATIO
    return candidates.take(np.flatnonzero(np.where(is_tie, is_nearest, cost == least)))
