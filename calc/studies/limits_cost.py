"""The cost of each limit of a job: the limit is relaxed, and the engine answers again."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.job.cells import JobRow
from calc.job.columns import (
    ANYWHERE,
    BOTH_WITHIN,
    MOST_INSTANCES,
    PUBLISHED,
    USUAL_INSTANCES,
)
from calc.job.job import Job
from calc.job.resolve import tunings
from calc.mappings import Cells, Changes
from calc.scenarios.published_weights import bits_of
from calc.search.best_answers import least_money
from calc.search.ranking import FEW, Ranking
from calc.search.rankings import ranking_of
from calc.table import take_rows
from calc.units import DAY_HOURS, WEEK_HOURS

ROUND = np.array([1.0, 2.0, 5.0])
STEPS = {  # of a limit on the candidates' own figures, the values that people set
    "hours_most": np.array(
        [
            1.0,
            2,
            4,
            8,
            12,
            *(DAY_HOURS * np.array([1, 2, 3, 5])),
            *(WEEK_HOURS * np.array([1, 2, 4, 8, 13, 26, 52])),
        ]
    ),
    "first_token_seconds": np.concatenate([ROUND / 10, ROUND, ROUND * 10]),
    "token_seconds": np.concatenate([ROUND / 100, ROUND / 10, ROUND]),
    "usd_per_hour_most": np.concatenate([ROUND * 10.0**power for power in range(5)]),
    "gpu_hours_most": np.concatenate([ROUND * 10.0**power for power in range(8)]),
    "usd_most": np.concatenate([ROUND * 10.0**power for power in range(8)]),
}
NARROWED = ("precision", "kv_precision")
LONG_CURVE_RATIO = 0.8  # of the cost at one step, below which a second step is named too
WIDEST = 16  # bits of a cache that has no format of its own
LESS_LOAD = 0.9  # of the load, to see whether the load itself takes one machine more
NARROWER: dict[str | int, tuple[int, ...]] = {PUBLISHED: (8, 4), 16: (8, 4), 8: (4,)}


class Relaxed(NamedTuple):
    """A limit at its next step (numbers, a region, a market), and the cost then.

    `old_price_days`: of a price that is older than what is relied on, and than the answer's own.
    `bits`: of weights and cache of a service that may take fewer.
    """

    name: str
    step: float | str | tuple[float, ...]
    usd: float
    old_price_days: float = 0.0
    bits: tuple[int, ...] = ()


class Relaxation(NamedTuple):
    """A limit that leaves candidates out: its name, its next step, the cells that relax it."""

    name: str
    step: float | str
    changes: Changes


def relaxed_limits(
    cells: Cells,
    ranking: Ranking,
    least: int,
    others: Sequence[Relaxed],
    catalogs: Catalogs,
) -> list[Relaxed]:
    """Return every limit whose next step saves a hundredth or more, the largest saving first.

    `others`: the limits that leave candidates out (`relaxations`), each at its next step.
    """
    job = ranking.job
    most = ranking.candidates.usd[least] / BOTH_WITHIN
    relaxed = [*_next_steps(cells, ranking, least, most, catalogs), *others]
    load = "requests_per_second" if job.requests_per_second else "users"
    shares = {load: LESS_LOAD}  # a smaller load has to save more than its share
    worth = [limit for limit in relaxed if limit.usd < most * shares.get(limit.name, 1.0)]
    return sorted(_wider_first(worth), key=lambda limit: limit.usd)


def _wider_first(relaxed: list[Relaxed]) -> list[Relaxed]:
    """Leave out fewer bits of weights or cache that save no more than wider ones."""
    wider = min((limit.usd for limit in relaxed if limit.bits and limit.step == 8), default=np.inf)
    return [
        limit
        for limit in relaxed
        if not limit.bits or limit.step == 8 or limit.usd * BOTH_WITHIN < wider
    ]


def _ranking_with(cells: Cells, changes: Changes, catalogs: Catalogs) -> Ranking | None:
    """Return the ranking of the job with changes; None if nothing qualifies."""
    other = ranking_of(JobRow.of({**cells, **changes}), catalogs)
    return other if other is not None and len(other.qualifying) else None


def _next_steps(
    cells: Cells, ranking: Ranking, least: int, most_usd: float, catalogs: Catalogs
) -> Iterator[Relaxed]:
    """Yield limits on cost and time at the step that saves most per unit of the limit.

    Steps are those that people set. The first step that saves the most of all is added if it saves
    far more.
    """

    def at_step(name: str, step: float) -> Relaxed | None:
        other = _ranking_with(cells, {name: step}, catalogs)
        return _relaxed_limit(name, step, other, ranking, least, catalogs) if other else None

    takes_old_prices = ranking.has_old_price(least)
    for limit in ranking.limits:
        steps = STEPS.get(limit.name, np.empty(0))
        steps = steps[steps > limit.most * (1 + FEW)].tolist()
        loosest = at_step(limit.name, steps[-1]) if steps else None
        if loosest is None or loosest.usd >= most_usd:
            continue
        relaxed = [one for step in steps if (one := at_step(limit.name, step))]
        worth = [
            one
            for one in relaxed
            if one.usd < most_usd and (takes_old_prices or not one.old_price_days)
        ]
        yield from _telling_steps(worth, limit.most, float(ranking.candidates.usd[least]))


def _telling_steps(relaxed: list[Relaxed], most: float, usd: float) -> Iterator[Relaxed]:
    """Yield the step that saves most per unit given up, and the cheapest if it is far cheaper."""

    def saved_per_unit(one: Relaxed) -> float:
        assert isinstance(one.step, float), "limits on cost and time are numbers"
        return (usd - one.usd) / (one.step - most)

    if not relaxed:
        return
    best = max(relaxed, key=saved_per_unit)
    yield best
    cheapest = min(relaxed, key=lambda one: one.usd)
    if cheapest.usd < LONG_CURVE_RATIO * best.usd:
        yield cheapest


def relaxations(job: Job, catalogs: Catalogs) -> Iterator[Relaxation]:
    """Yield the limits of a job that leave candidates out, each at its next step."""
    narrower = () if job.fixed.get("precision") else NARROWER.get(job.fewest_bits, ())
    if job.trains and job.fewest_bits == 16 and narrower and "full" in tunings(job):
        yield Relaxation("fewest_bits", 8, {"fewest_bits": 8, "precision": "fp8-mixed"})
    for bits in () if job.trains else narrower:
        yield Relaxation("fewest_bits", bits, {"fewest_bits": bits})
    if job.assumed.get("spare"):
        yield Relaxation("spare", "", {"spare": 0})
    instances_most = job.instances_most or USUAL_INSTANCES
    twice = min(max(2 * instances_most, USUAL_INSTANCES), MOST_INSTANCES)
    if twice > instances_most:
        yield Relaxation("instances_most", "", {"instances_most": twice})
    if any(name in job.fixed for name in ("instance", "gpu")):
        name = "instance" if "instance" in job.fixed else "gpu"
        yield Relaxation(name, "", {"instance": None, "gpu": None})
    if not job.trains and not job.ends:
        yield _less_load(job)
    if len(job.regions) < len(catalogs.regions):
        yield Relaxation("regions", "", {"regions": ANYWHERE})
    if "on-demand" in job.markets and "spot" not in job.markets:
        yield Relaxation("markets", "spot", {"markets": "spot"})


def _less_load(job: Job) -> Relaxation:
    """A tenth less load: requests per second, or whole requests in flight."""
    if job.requests_per_second:
        rate = job.requests_per_second * LESS_LOAD
        return Relaxation("requests_per_second", rate, {"requests_per_second": rate})
    users = max(int((job.users or 1) * LESS_LOAD), 1)
    return Relaxation("users", users, {"users": users, "people": None})


def relaxed_by(
    one: Relaxation, other: Ranking, ranking: Ranking, least: int, catalogs: Catalogs
) -> list[Relaxed]:
    """Return the limit that a relaxation relaxes; none if nothing qualifies then.

    `other`: the ranking of the job with the relaxation; `least`: the number of the first answer in
    the job's own ranking.
    """
    if not len(other.qualifying):
        return []
    return [_relaxed_limit(one.name, one.step, other, ranking, least, catalogs)]


def _relaxed_limit(
    name: str, step: float | str, other: Ranking, ranking: Ranking, least: int, catalogs: Catalogs
) -> Relaxed:
    """Return a relaxed limit with the lowest cost of the ranking that it leads to."""
    number = least_money(other, other.qualifying)
    figures = other.candidates
    bits: tuple[int, ...] = ()
    if name == "regions":
        step = other.job.regions[figures.region_number[number]]
    elif name == "instances_most":
        step = int(figures.instances[number])
    elif name == "fewest_bits" and not other.job.trains:
        name = _narrower_parts(ranking, least, other, number) or name
        words = (_word(other, number, column) for column in NARROWED)
        bits = tuple(bits_of(catalogs, word) if word else WIDEST for word in words)
    market = MARKETS[other.job.markets[figures.market_number[number]]]
    days, fresh = figures.price_age_days[number], ranking.candidates.price_age_days[least]
    old_days = float(days) if days > max(market.old_days, fresh) else 0.0
    return Relaxed(name, step, float(figures.usd[number]), old_days, bits)


def _narrower_parts(ranking: Ranking, least: int, other: Ranking, number: int) -> str:
    """Return which of weights and cache have other bits in another ranking's candidate."""
    return "+".join(
        name for name in NARROWED if _word(other, number, name) != _word(ranking, least, name)
    )


def _word(ranking: Ranking, number: int, name: str) -> str:
    """A candidate's choice in a column of words of the grid."""
    layout_number = ranking.candidates.layout_number[[number]]
    value = take_rows(ranking.grid.layouts[name], ranking.grid.layout_count, layout_number)
    return str(value.vocabulary[value.codes[0]])
