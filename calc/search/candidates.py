"""The candidates of layouts on places: accumulations, and money and time on each offer."""

import numpy as np

from calc.cost.job import deployments
from calc.cost.job import job as cost_of
from calc.cost.markets import MARKETS
from calc.evaluate import Columns
from calc.job.columns import TIE_RATIO
from calc.job.job import Job
from calc.layout_place_table import PAIR, WAY, LayoutPlaceTable
from calc.search.batch_for_rate import first_token_column, request_seconds
from calc.search.grid import Grid
from calc.search.limit_percentiles import limited_columns, limited_seconds
from calc.search.places import Offer
from calc.search.timing import STEPPED, TIMED, add_time, spot_overhead

SHOWN = (
    "runs",
    "fits",
    "headroom_bytes",
    "fit_probability",
    "batch",
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
)


def add_time_of_candidates(crossed: LayoutPlaceTable, grid: Grid, job: Job) -> None:
    """Add the accumulations of pairs, and the columns of time that decide between candidates."""
    _accumulate(crossed, grid)
    add_time(crossed, job.work, (*TIMED, *limited_columns(job).values()))


def sold_on(crossed: LayoutPlaceTable, sold: list[Offer], job: Job) -> list[Columns]:
    """A table of figures for each offer of pairs that have their accumulations and time."""
    tables = [_candidates_of_offer(crossed, offer, job) for offer in sold]
    return [_near_steps(table, job) for table in tables] if job.work == "training" else tables


def _accumulate(crossed: LayoutPlaceTable, grid: Grid) -> None:
    """A way for each accumulation of every pair."""
    layout = np.broadcast_to(crossed.column("row_number", PAIR), len(crossed.layout))
    count = grid.steps_count[layout]
    pair = np.repeat(np.arange(len(layout)), count)
    first = grid.first_step.take(layout) - (
        np.cumsum(count) - count
    )  # of each pair's ways in `steps`, less its place among the ways
    crossed.multiply(pair)
    crossed.set(
        "accumulation_steps",
        WAY,
        grid.steps.take(np.arange(len(pair)) + first.take(pair)).astype(float),
    )


def _candidates_of_offer(crossed: LayoutPlaceTable, offer: Offer, job: Job) -> Columns:
    """The candidates that an offer sells, with the figures that decide between them."""
    market = job.markets[offer.market]
    place = crossed.place.take(crossed.pair)
    price = offer.usd_per_hour.take(place)
    interrupted = (
        spot_overhead(crossed, offer.band_interruption_ratio)
        if MARKETS[market].interrupted
        else np.zeros(1)
    )
    table = {name: crossed.column(name, WAY) for name in STEPPED}
    table |= {
        name: np.nan_to_num(table[name], nan=1.0)
        for name in ("instances_needed", "spare_instances")
    }  # cards without an instance
    copies = deployments(table, 0) if np.any(table["served_tokens_per_second"] > 0) else np.ones(1)
    figures = cost_of(table, market, price, interrupted, copies, offer.sizes)._asdict()
    figures |= {
        name: crossed.column(name, WAY)
        for name in (*SHOWN, "gpus", "step_tokens", "accumulation_steps", "start_hours")
    }
    many = (figures["instances"] >= offer.several.take(place)) & job.ends
    figures |= {
        "first_token_seconds": crossed.column(first_token_column(job), WAY),
        "token_seconds": table["time_per_output_token_seconds"],
        "slow_first_token_ratio": table["first_token_high_ratio"],
        "slow_token_ratio": table["time_high_ratio"],
        "layout": crossed.column("row_number", WAY),
        "pair_number": crossed.column("pair_number", WAY),
        "instance_gpus": table["instance_gpus"],
        "place": place,
        "region": offer.region.take(place),
        "market": np.full(1, offer.market),
        "price_age_days": offer.price_age_days.take(place),
        "single_hard": offer.hard.take(place),
        "hard": np.where(many, offer.several_hard.take(place), offer.hard.take(place)),
    }
    figures |= limited_seconds(job, lambda name: crossed.column(name, WAY))
    figures |= {"load_ratio": _load_ratio(figures, table["data_parallel"], job)}
    figures = {name: np.broadcast_to(values, len(place)) for name, values in figures.items()}
    timed = np.broadcast_to(crossed.column("timed", WAY), len(place))
    figures = figures if timed.all() else figures | _without_time(figures, timed, job.ends)
    sold = ~np.isnan(price) & ~(
        np.isnan(figures["usd"]) & ~np.isnan(figures["hours"])
    )  # a run beyond the longest block is not sold as one
    figures |= (
        {"usd": figures["seconds"]} if job.have else {}
    )  # nothing is paid: the fastest is the best
    return (
        figures
        if sold.all()
        else {name: values.take(np.flatnonzero(sold)) for name, values in figures.items()}
    )


def _without_time(figures: Columns, timed: np.ndarray, ends: bool) -> Columns:
    """The figures that rest on time, empty where no time is known; a month's money needs none."""
    names = (
        "seconds",
        *(name for name in figures if name.endswith("token_seconds")),
        *(("hours", "usd", "slow_hours", "billed_hours", "billed_gpu_hours") if ends else ()),
    )
    empty = {name: np.where(timed, figures[name], np.nan) for name in names}
    return empty | {"load_ratio": np.where(timed, figures["load_ratio"], 0)}


def _near_steps(candidates: Columns, job: Job) -> Columns:
    """The accumulation nearest to the job's step; another where it saves more than a tie.

    Chosen before any limit, so that a looser limit only ever adds to what there is to choose from.
    """
    changes = (np.diff(candidates["layout"], prepend=-1) != 0) | (
        np.diff(candidates["place"], prepend=-1) != 0
    )
    first, group = np.flatnonzero(changes), np.cumsum(changes) - 1
    if not len(first) or len(job.fixed.get("accumulation_steps", ())) > 1:  # compared: all stay
        return candidates
    cost = np.where(np.isnan(candidates["usd"]), np.inf, candidates["usd"])
    far = np.abs(np.log(candidates["step_tokens"] / job.step_tokens))
    nearest = far == np.minimum.reduceat(far, first)[group]
    least = np.minimum.reduceat(cost, first)[group]
    near_cost = np.minimum.reduceat(np.where(nearest, cost, np.inf), first)[group]
    chosen = np.flatnonzero(np.where(near_cost <= least * TIE_RATIO, nearest, cost == least))
    return {name: values.take(chosen) for name, values in candidates.items()}


def _load_ratio(figures: Columns, data_parallel: np.ndarray, job: Job) -> np.ndarray:
    """The load of the job over what each candidate carries; 0 of work that ends. [ratio]

    Concurrent sequences are the users, or by Little's law the requests per second times the seconds
    of a request.
    """
    if job.ends:
        return np.zeros(1)
    sequences = figures["batch"] * data_parallel
    if not job.requests_per_second:
        return np.asarray(job.users / sequences)
    request = request_seconds(figures["first_token_seconds"], figures["token_seconds"], job)
    return np.asarray(job.requests_per_second * request / sequences)
