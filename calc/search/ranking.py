"""The ranking of candidates: which qualify, which limits others miss, what breaks ties."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from calc.cost.markets import MARKETS
from calc.cost.obtainability import CLASSES, WAIT
from calc.job.columns import CONFIDENCE_REACH, JUDGED, LIMITS, SHARDINGS
from calc.job.job import Job
from calc.rules.support import RUNS
from calc.search.candidates import Candidates, LimitedFigures
from calc.search.free_choices import RECOMPUTES
from calc.search.grid import Grid
from calc.search.pairs import FITS
from calc.table import Words
from calc.units import DAY_HOURS, HOUR_SECONDS

# Columns of a job that change no candidate, only which of them qualify.
SORTING = {*LIMITS, "confidence", "obtainable", *JUDGED} - {"instances_most"}
QUALIFIES, STALE_PRICE, NEEDS_AGREEMENT, TIGHT, EMULATED, UNKNOWN, EXCEEDS_LIMIT, EXCLUDED = range(
    8
)
FEW = 1e-9
ONE_GROUP = np.zeros(1, dtype=int)
# Of an encoder: batch_size of SentenceTransformer.encode by default, and --max-batch-tokens of Text
# Embeddings Inference, which long texts reach first.
USUAL_BATCH, USUAL_BATCH_TOKENS = 32, 16_384


@dataclass(frozen=True, eq=False)
class Limit:
    """A limit of the job: its column, the most that it allows, and the value of each candidate."""

    name: str
    most: float
    values: np.ndarray

    @cached_property
    def excess(self) -> np.ndarray:
        """The value of each candidate over the limit; 0 within the limit. [ratio]"""
        ratio = np.nan_to_num(self.values / self.most)
        return np.where(ratio > 1 + FEW, ratio, 0.0)


class Ranking(NamedTuple):
    """The candidates of a grid, the class of each, the job's limits, and what breaks ties.

    `classes`: QUALIFIES to EXCLUDED. `ties`: keys of the candidates, the most important first.
    """

    job: Job
    grid: Grid
    candidates: Candidates
    limits: list[Limit]
    classes: np.ndarray
    ties: list[np.ndarray]

    @property
    def qualifying(self) -> np.ndarray:
        """The numbers of the candidates that qualify."""
        return np.flatnonzero(self.classes == QUALIFIES)

    @property
    def is_possible(self) -> np.ndarray:
        """Return whether the job may run so, even if others rank first. Shape (candidates,)."""
        return self.classes <= NEEDS_AGREEMENT

    @property
    def possible(self) -> int:
        """The number of candidates that the job may run as."""
        return int(np.count_nonzero(self.is_possible))

    def has_old_price(self, number: int) -> bool:
        """Return whether a candidate's price is older than what its market relies on."""
        market = MARKETS[self.job.markets[self.candidates.market_number[number]]]
        return bool(self.candidates.price_age_days[number] > market.old_days)

    def only(self, numbers: np.ndarray) -> "Ranking":
        """Some candidates alone, given by number."""
        return self._replace(
            candidates=self.candidates.take(numbers),
            limits=[replace(limit, values=limit.values[numbers]) for limit in self.limits],
            classes=self.classes[numbers],
            ties=[key[numbers] for key in self.ties],
        )


def ranking(candidates: Candidates, grid: Grid, job: Job) -> Ranking:
    """Return the candidates ranked under the limits of a job; nothing is estimated again."""
    limits = limits_of_candidates(candidates, job)
    return Ranking(
        job,
        grid,
        candidates,
        limits,
        classes(candidates, job, limits),
        plainness(candidates, grid, job),
    )


def limits_of(figures: LimitedFigures, job: Job) -> list[Limit]:
    """Return the limits that a job sets on time, load and cost.

    Limits on time hold at the job's confidence.
    """
    return [*_limits_on_time(figures, job), *_limits_on_cost(figures, job)]


def limits_of_candidates(candidates: Candidates, job: Job) -> list[Limit]:
    """Return every limit that a job sets, also on what it rents and how hard that is to get."""
    return [
        *_limits_on_time(candidates, job),
        *_limits_on_availability(candidates, job),
        *_limits_on_cost(candidates, job),
        *_limit_on_instances(candidates, job),
    ]


def _limits_on_time(figures: LimitedFigures, job: Job) -> list[Limit]:
    """Return the limits on the hours of a run, or on the times and the load of a service."""
    reach = CONFIDENCE_REACH[job.confidence]
    if job.ends:
        hours = figures.hours * (figures.slow_hours / figures.hours) ** reach
        limits = _set_limits(("hours_most", job.hours_most, hours))
        if job.trains:
            distance = np.exp(np.abs(np.log(figures.step_tokens / job.step_tokens)))
            limits += _set_limits(("step_tokens", job.step_factor, distance))
        return limits
    first_token_seconds = figures.limited_first_token_seconds * (
        figures.slow_first_token_ratio**reach
    )
    token_seconds = figures.limited_token_seconds * figures.slow_token_ratio**reach
    limits = []
    if not np.all(np.isnan(figures.first_token_seconds)):
        limits += _set_limits(("first_token_seconds", job.first_token_seconds, first_token_seconds))
    if not np.all(np.isnan(figures.token_seconds)):  # an encoder generates no token
        limits += _set_limits(("token_seconds", job.token_seconds, token_seconds))
    if not job.requests_per_second:
        return limits + _set_limits(("users", 1.0, figures.load_ratio))
    slow_load_ratio = figures.load_ratio * load_slow_ratio(figures, job) ** reach
    return limits + _set_limits(("requests_per_second", 1.0, slow_load_ratio))


def load_slow_ratio(figures: LimitedFigures, job: Job) -> np.ndarray:
    """The load of a rate of requests at the slow end of the range of time, over the estimate.

    A queue grows without bound where the cards are slower than the rate, however short it is at the
    central estimate. A model that answers none has its time in its batches' prefill.
    """
    return figures.slow_token_ratio if job.generates else figures.slow_first_token_ratio


def _limits_on_cost(figures: LimitedFigures, job: Job) -> list[Limit]:
    """Return the limits on the cost, the cost per hour and the GPU hours."""
    return _set_limits(
        ("usd_most", job.usd_most, figures.usd),
        ("usd_per_hour_most", job.usd_per_hour_most, figures.usd_per_hour),
        ("gpu_hours_most", job.gpu_hours_most, figures.billed_gpu_hours),
    )


def _limit_on_instances(candidates: Candidates, job: Job) -> list[Limit]:
    """Return the limit on instances, which depends on the GPUs of each type; none on own ones."""
    if job.have:
        return []
    most = job.most_instances(candidates.instance_gpus)
    return _set_limits(("instances_most", 1.0, candidates.instances / most))


def _limits_on_availability(candidates: Candidates, job: Job) -> list[Limit]:
    """Return the limits on availability and on the age of scarce Spot prices, if exceeded.

    If one instance takes a queue or a quota, a run on several of them counts as no harder to get.
    """
    rank = np.minimum(
        candidates.obtainability_rank, np.fmax(candidates.single_obtainability_rank, WAIT)
    )
    is_spot = np.array([MARKETS[name].interrupted > 0 for name in job.markets])
    is_scarce_spot = is_spot[candidates.market_number] & (rank >= WAIT)
    age_seconds = np.where(is_scarce_spot, candidates.price_age_days, 0) * DAY_HOURS * HOUR_SECONDS
    limits = _set_limits(
        ("obtainable", 1 + CLASSES.index(job.obtainable), 1 + rank),
        ("scarce_spot_seconds", job.judged["scarce_spot_seconds"], age_seconds),
    )
    return [limit for limit in limits if np.any(limit.values > limit.most)]


def _set_limits(*limits: tuple[str, float | None, np.ndarray]) -> list[Limit]:
    """Return the limits that are set: name, most, and the value of each candidate."""
    return [Limit(name, float(most), values) for name, most, values in limits if most is not None]


def classes(candidates: Candidates, job: Job, limits: list[Limit]) -> np.ndarray:
    """Return the class of each candidate: it qualifies, or the lightest reason against it.

    NEEDS_AGREEMENT: a run on so many instances that AWS provides them only by agreement, if a run
    on fewer qualifies. STALE_PRICE: if a candidate with a fresher price qualifies.
    """
    exceeds_limit = np.any([limit.excess > 0 for limit in limits], axis=0)
    fits, runs = candidates.fits, candidates.runs
    may_run = (fits <= FITS.index("tight")) & (runs != RUNS.index("no"))
    result = np.full(len(fits), QUALIFIES)
    if "tight" not in job.admits:
        result = np.where(fits == FITS.index("tight"), TIGHT, result)
    if "unverified" not in job.admits:
        result = np.where(
            runs == RUNS.index("emulated"),
            EMULATED,
            np.where(runs == RUNS.index("unknown"), UNKNOWN, result),
        )
    has_no_time = np.isnan(candidates.seconds)  # of a card whose speed is not known
    result = np.where((result < EMULATED) & has_no_time, UNKNOWN, result)
    result = np.where(may_run, np.where(exceeds_limit, EXCEEDS_LIMIT, result), EXCLUDED)
    yields, qualifies = by_agreement(candidates, job), result == QUALIFIES
    result = np.where(qualifies & yields & np.any(qualifies & ~yields), NEEDS_AGREEMENT, result)
    age_days, qualifies = candidates.price_age_days, result == QUALIFIES
    old_days = np.array([MARKETS[name].old_days for name in job.markets])
    is_old = age_days > old_days[candidates.market_number]
    is_fresh = qualifies & ~is_old & ~np.isnan(age_days)
    freshest_days = np.min(age_days, initial=np.inf, where=is_fresh)
    return np.where(qualifies & is_old & (age_days > freshest_days), STALE_PRICE, result)


def possible_candidates(candidates: Candidates, job: Job) -> Candidates:
    """Return the candidates that can be answers: the job may run as each within its limits."""
    several = classes(candidates, job, limits_of_candidates(candidates, job))
    return candidates.take(np.flatnonzero(several <= NEEDS_AGREEMENT))


def by_agreement(candidates: Candidates, job: Job) -> np.ndarray:
    """Return whether a candidate's instances are harder to get than the job allows.

    Shape: (candidates,).
    """
    return np.asarray(candidates.obtainability_rank > CLASSES.index(job.obtainable))


def plainness(candidates: Candidates, grid: Grid, job: Job) -> list[np.ndarray]:
    """Return the keys that decide between candidates of the same cost, the most important first.

    In training the step nearest to the requested; in serving no GPU idle, then the fastest, then
    for an encoder the usual batch, since many batches fill its card. Fewer GPUs paid, fewer
    instances, in a block paid whole the shorter time, then fewer GPUs used, FSDP before tensor
    parallel, less sharding, less recompute.
    """
    gpus_of_place = place_gpus(candidates, grid)
    if job.trains:
        first = [np.round(np.abs(np.log(candidates.step_tokens / job.step_tokens)), 6)]
    else:
        first = [candidates.gpus % gpus_of_place, np.round(np.log(candidates.seconds), 6)]
        if job.ends and not job.generates:
            first.append(np.abs(np.log(candidates.batch / usual_batch(job))))
    is_block_market = np.array([MARKETS[name].block_hours > 0 for name in job.markets])
    in_block = is_block_market[candidates.market_number]
    keys = [
        *first,
        gpus_of_place * candidates.instances,
        candidates.instances,
        np.where(in_block, np.round(np.log(candidates.seconds), 2), 0),
        candidates.gpus,
        candidates.tensor_parallel,
        candidates.pipeline_parallel,
        candidates.context_parallel,
        _order_of("sharding", SHARDINGS, candidates, grid),
        _order_of("recompute", RECOMPUTES, candidates, grid),
        candidates.usd,
        candidates.accumulation_steps,
    ]
    return [key for key in keys if len(key) > 1 or len(candidates) == 1]


def usual_batch(job: Job) -> float:
    """The sequences that servers of encoders take at once by default. [sequences]"""
    tokens = job.prompt_tokens or job.sequence_tokens
    return min(USUAL_BATCH, max(USUAL_BATCH_TOKENS / tokens, 1))


def place_gpus(candidates: Candidates, grid: Grid) -> np.ndarray:
    """GPUs of one instance of each candidate's type. [GPUs]"""
    return np.array([place.gpus for place in grid.places])[candidates.place_number]


def _order_of(name: str, order: Sequence[str], candidates: Candidates, grid: Grid) -> np.ndarray:
    """The place of each candidate's choice in an order; one value if all layouts are equal."""
    words = grid.layouts.get(name)
    if not isinstance(words, Words):
        return np.zeros(1)
    rank = np.array(
        [order.index(word) if word in order else len(order) for word in words.vocabulary]
    )[words.codes]
    return rank[candidates.layout_number] if len(rank) > 1 else rank


def best_each(
    numbers: np.ndarray,
    group: np.ndarray,
    cost: np.ndarray,
    ties: list[np.ndarray],
    ratio: float = 1 + FEW,
) -> np.ndarray:
    """The candidate of least cost in each group; `ties` decide within the ratio of the least.

    `group` (small whole numbers, or ONE_GROUP) and `cost` belong to `numbers`, `ties` to all
    candidates. In order of groups.
    """
    cost = np.where(np.isnan(cost), np.inf, cost)
    least = np.full(group.max(initial=0) + 1, np.inf)
    if len(group) == 1:
        least[group] = cost.min(initial=np.inf)
    else:
        np.minimum.at(least, group, cost)
    bound = np.where(least > 0, least * ratio, least / ratio)
    near = np.flatnonzero(cost <= bound[group])
    groups = np.broadcast_to(group, len(numbers)).take(near)
    order = np.lexsort([*(key.take(numbers.take(near)) for key in reversed(ties)), groups])
    return numbers[near[order[np.flatnonzero(np.diff(groups[order], prepend=-1))]]]


def fastest_alike(candidates: Candidates, numbers: np.ndarray) -> np.ndarray:
    """The fastest of candidates with the same cost per hour, place and market."""
    seconds = candidates.seconds.take(numbers)
    alike = (
        candidates.place_number,
        candidates.market_number,
        candidates.instances,
        candidates.region_number,
    )
    keys = [values.take(numbers).astype(int) for values in alike]
    group = np.ravel_multi_index(keys, [key.max(initial=0) + 1 for key in keys])
    least = np.full(group.max(initial=0) + 1, np.inf)
    np.minimum.at(least, group, seconds)
    return numbers[seconds == least[group]]


def frontier(candidates: Candidates, numbers: np.ndarray) -> np.ndarray:
    """Return the candidates that no other beats in both time and cost, the cheapest first."""
    few = fastest_alike(candidates, numbers)
    order = few[np.lexsort((candidates.seconds[few], candidates.usd[few]))]
    seconds = candidates.seconds[order]
    before = np.minimum.accumulate(np.concatenate([[np.inf], seconds]))[:-1]
    return order[seconds < before]


def distance(limits: list[Limit]) -> np.ndarray:
    """Distance of each candidate from the limits: how many it exceeds, then by how much."""
    excess = np.array([limit.excess for limit in limits])
    much = np.max(excess, axis=0)
    return np.count_nonzero(excess, axis=0) + np.round(much / (1 + much), 6)


def nearest(ranked: Ranking) -> int:
    """The candidate that misses its limits by the least; else one tight, emulated or unknown.

    Of those the likeliest to fit, and of equally likely ones the cheapest.
    """
    candidates, ties = ranked.candidates, ranked.ties
    sound = (
        (candidates.fits == FITS.index("yes"))
        & (candidates.runs == RUNS.index("yes"))
        & ~np.isnan(candidates.seconds)
    )
    over = np.flatnonzero(sound & (ranked.classes == EXCEEDS_LIMIT))
    if len(over):
        order = np.lexsort(
            [
                *(key[over] for key in reversed(ties)),
                candidates.usd[over],
                distance(ranked.limits)[over],
            ]
        )
        return int(over[order[0]])
    able = np.flatnonzero(ranked.classes == ranked.classes.min())
    usd = (
        candidates.usd[able]
        if not np.isnan(candidates.usd[able]).all()
        else candidates.usd_per_hour[able]
    )
    likely = np.round(candidates.fit_probability[able], 2)
    surest = likely == likely.max()
    return int(best_each(able[surest], ONE_GROUP, usd[surest], ties)[0])
