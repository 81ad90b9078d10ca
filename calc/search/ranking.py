"""The ranking of candidates: which qualify, which limits others miss, what breaks ties."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from calc.cost.markets import MARKETS
from calc.cost.obtainability import CLASSES, WAIT
from calc.evaluate import Columns
from calc.job.columns import CONFIDENCE_REACH, JUDGED, LIMITS, SHARDINGS
from calc.job.job import Job
from calc.rules.support import RUNS
from calc.search.free_choices import RECOMPUTES
from calc.search.grid import Grid
from calc.search.pairs import FITS
from calc.table import Words
from calc.units import DAY_HOURS, HOUR_SECONDS

# Columns of a job that change no candidate, only which of them qualify.
SORTING = {*LIMITS, "confidence", "obtainable", "answers", *JUDGED} - {"instances_most"}
QUALIFIES, AGED, YIELDS, TIGHT, EMULATED, UNKNOWN, OUTSIDE, LEFT_OUT = range(8)
FEW = 1e-9
ONE_GROUP = np.zeros(1, dtype=int)


@dataclass(frozen=True, eq=False)
class Limit:
    """A limit of the job: its column, the most that it allows, and the value of each candidate."""

    name: str
    most: float
    values: np.ndarray

    @cached_property
    def excess(self) -> np.ndarray:
        """How many times over the limit each candidate is; 0 where it keeps it. [ratio]"""
        ratio = np.nan_to_num(self.values / self.most)
        return np.where(ratio > 1 + FEW, ratio, 0.0)


class Ranking(NamedTuple):
    """The candidates of a grid, the class of each, the job's limits, what breaks ties."""

    job: Job
    grid: Grid
    candidates: Columns
    limits: list[Limit]
    classes: np.ndarray
    ties: list[np.ndarray]

    @property
    def qualifying(self) -> np.ndarray:
        """The numbers of the candidates that qualify."""
        return np.flatnonzero(self.classes == QUALIFIES)

    def only(self, numbers: np.ndarray) -> "Ranking":
        """Some candidates alone, given by number."""
        return self._replace(
            candidates={name: values[numbers] for name, values in self.candidates.items()},
            limits=[replace(limit, values=limit.values[numbers]) for limit in self.limits],
            classes=self.classes[numbers],
            ties=[key[numbers] for key in self.ties],
        )


def ranking(candidates: Columns, grid: Grid, job: Job) -> Ranking:
    """Candidates ranked under the limits of a settled job; nothing is estimated again."""
    limits = limits_of(candidates, job)
    return Ranking(
        job,
        grid,
        candidates,
        limits,
        classes(candidates, job, limits),
        plainness(candidates, grid, job),
    )


def limits_of(candidates: Columns, job: Job) -> list[Limit]:
    """The limits that a job sets; those on time are kept at the job's confidence."""
    reach = CONFIDENCE_REACH[job.confidence]
    if job.work == "training":
        distance = np.exp(np.abs(np.log(candidates["step_tokens"] / job.step_tokens)))
        slow = (candidates["slow_hours"] / candidates["hours"]) ** reach
        of_work = [("hours_most", job.hours_most, candidates["hours"] * slow)]
        of_work += [("step_tokens", job.step_factor, distance)]
    elif job.ends:
        slow = (candidates["slow_hours"] / candidates["hours"]) ** reach
        of_work = [("hours_most", job.hours_most, candidates["hours"] * slow)]
    else:
        of_work = [
            (
                f"{name}_seconds",
                job.limit(f"{name}_seconds"),
                candidates[f"limited_{name}_seconds"] * candidates[f"slow_{name}_ratio"] ** reach,
            )
            for name in ("first_token", "token")
            if not np.all(np.isnan(candidates[f"{name}_seconds"]))  # an encoder answers no token
        ]
        of_work.append(
            (
                "requests_per_second" if job.requests_per_second else "users",
                1.0,
                candidates["load_ratio"],
            )
        )
    of_work += _of_sale(candidates, job) if "hard" in candidates else []
    columns = {
        "usd_most": "usd",
        "usd_per_hour_most": "usd_per_hour",
        "gpu_hours_most": "billed_gpu_hours",
    }
    others = [(name, job.limit(name), candidates[column]) for name, column in columns.items()]
    if "instance_gpus" in candidates and not job.have:
        most = job.most_instances(candidates["instance_gpus"])
        others.append(("instances_most", 1.0, candidates["instances"] / most))
    return [
        Limit(name, float(most), values)
        for name, most, values in (*of_work, *others)
        if most is not None
    ]


def _of_sale(candidates: Columns, job: Job) -> list[tuple[str, float, np.ndarray]]:
    """How hard a candidate may be to get, and how old the price of scarce spot may be."""
    hard, most = (
        np.minimum(candidates["hard"], np.fmax(candidates["single_hard"], WAIT)),
        CLASSES.index(job.obtainable),
    )
    on_spot = np.array([MARKETS[name].interrupted > 0 for name in job.markets])[
        candidates["market"]
    ]
    age_seconds = (
        np.where(on_spot & (hard >= WAIT), candidates["price_age_days"], 0)
        * DAY_HOURS
        * HOUR_SECONDS
    )
    limits = [
        ("obtainable", 1 + most, 1 + hard),
        ("scarce_spot_seconds", job.judged["scarce_spot_seconds"], age_seconds),
    ]
    return [limit for limit in limits if np.any(limit[2] > limit[1])]


def classes(candidates: Columns, job: Job, limits: list[Limit]) -> np.ndarray:
    """The class of each candidate: it qualifies, or the lightest reason against it.

    A run on so many machines at once that they come by agreement alone yields to one on fewer
    (YIELDS), an old price to a fresher one (AGED). Where there is no such other, it qualifies.
    """
    over = np.any([limit.excess > 0 for limit in limits], axis=0)
    fits, runs = candidates["fits"], candidates["runs"]
    lives = (fits <= FITS.index("tight")) & (runs != RUNS.index("no"))
    result = np.full(len(fits), QUALIFIES)
    if "tight" not in job.admits:
        result = np.where(fits == FITS.index("tight"), TIGHT, result)
    if "unverified" not in job.admits:
        result = np.where(
            runs == RUNS.index("emulated"),
            EMULATED,
            np.where(runs == RUNS.index("unknown"), UNKNOWN, result),
        )
    result = np.where(
        (result < EMULATED) & np.isnan(candidates["seconds"]), UNKNOWN, result
    )  # no time is known for its card
    result = np.where(lives, np.where(over, OUTSIDE, result), LEFT_OUT)
    yields, qualifies = by_agreement(candidates, job), result == QUALIFIES
    result = np.where(qualifies & yields & np.any(qualifies & ~yields), YIELDS, result)
    age, qualifies = candidates["price_age_days"], result == QUALIFIES
    old = age > np.array([MARKETS[name].old_days for name in job.markets])[candidates["market"]]
    freshest = np.min(age, initial=np.inf, where=qualifies & ~old & ~np.isnan(age))
    return np.where(qualifies & old & (age > freshest), AGED, result)


def by_agreement(candidates: Columns, job: Job) -> np.ndarray:
    """Whether each run needs so many machines that they are harder to get than allowed."""
    return np.asarray(candidates.get("hard", np.zeros(1)) > CLASSES.index(job.obtainable))


def plainness(candidates: Columns, grid: Grid, job: Job) -> list[np.ndarray]:
    """What decides between candidates of the same cost, the most important first.

    In training the step nearest to the requested; in serving no GPU idle, then the fastest. Fewer
    GPUs paid, fewer instances, in a block paid whole the shorter time, then fewer GPUs used, FSDP
    before tensor parallel, less sharding, less recompute.
    """
    count = len(candidates["usd"])
    trains = job.work == "training"
    if trains:
        first = [np.round(np.abs(np.log(candidates["step_tokens"] / job.step_tokens)), 6)]
    else:
        first = [
            candidates["gpus"] % place_gpus(candidates, grid),
            np.round(np.log(candidates["seconds"]), 6),
        ]
    gpus_paid = place_gpus(candidates, grid) * candidates["instances"]
    in_blocks = np.array([MARKETS[name].block_hours > 0 for name in job.markets])[
        candidates["market"]
    ]
    time = np.where(in_blocks, np.round(np.log(candidates["seconds"]), 2), 0)
    degrees = [
        candidates[name]
        for name in ("gpus", "tensor_parallel", "pipeline_parallel", "context_parallel")
    ]
    choices = [
        _order_of(name, order, candidates, grid)
        for name, order in (("sharding", SHARDINGS), ("recompute", RECOMPUTES))
    ]
    keys = [
        *first,
        gpus_paid,
        candidates["instances"],
        time,
        *degrees,
        *choices,
        candidates["usd"],
        candidates["accumulation_steps"],
    ]
    return [key for key in keys if len(key) > 1 or count == 1]


def place_gpus(candidates: Columns, grid: Grid) -> np.ndarray:
    """GPUs of one instance of each candidate's type. [GPUs]"""
    return np.array([place.gpus for place in grid.places])[candidates["place"]]


def _order_of(name: str, order: Sequence[str], candidates: Columns, grid: Grid) -> np.ndarray:
    """The place of each candidate's choice in an order; one value where all layouts are equal."""
    words = grid.layouts.get(name)
    if not isinstance(words, Words):
        return np.zeros(1)
    rank = np.array(
        [order.index(word) if word in order else len(order) for word in words.vocabulary]
    )[words.codes]
    return rank[candidates["layout"]] if len(rank) > 1 else rank


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


def fastest_alike(candidates: Columns, numbers: np.ndarray) -> np.ndarray:
    """The fastest of candidates with the same cost per hour, place and market."""
    seconds = candidates["seconds"].take(numbers)
    keys = [
        candidates[name].take(numbers).astype(int)
        for name in ("place", "market", "instances", "region")
    ]
    group = np.ravel_multi_index(keys, [key.max(initial=0) + 1 for key in keys])
    least = np.full(group.max(initial=0) + 1, np.inf)
    np.minimum.at(least, group, seconds)
    return numbers[seconds == least[group]]


def frontier(candidates: Columns, numbers: np.ndarray, cost: str = "usd") -> np.ndarray:
    """The candidates that none beats in both time and cost (a column), the least cost first."""
    few = fastest_alike(candidates, numbers)
    order = few[
        np.lexsort((candidates["usd"][few], candidates["seconds"][few], candidates[cost][few]))
    ]
    seconds = candidates["seconds"][order]
    before = np.minimum.accumulate(np.concatenate([[np.inf], seconds]))[:-1]
    return order[seconds < before]


def distance(limits: list[Limit]) -> np.ndarray:
    """How far each candidate is from keeping every limit: how many it misses, how much."""
    excess = np.array([limit.excess for limit in limits])
    much = np.max(excess, axis=0)
    return np.count_nonzero(excess, axis=0) + np.round(much / (1 + much), 6)


def nearest(ranked: Ranking) -> int:
    """The candidate that misses its limits by the least; else one tight, emulated or unknown.

    Of those the likeliest to fit, and of equally likely ones the cheapest.
    """
    candidates, ties = ranked.candidates, ranked.ties
    sound = (
        (candidates["fits"] == FITS.index("yes"))
        & (candidates["runs"] == RUNS.index("yes"))
        & ~np.isnan(candidates["seconds"])
    )
    over = np.flatnonzero(sound & (ranked.classes == OUTSIDE))
    if len(over):
        order = np.lexsort(
            [
                *(key[over] for key in reversed(ties)),
                candidates["usd"][over],
                distance(ranked.limits)[over],
            ]
        )
        return int(over[order[0]])
    able = np.flatnonzero(ranked.classes == ranked.classes.min())
    usd = (
        candidates["usd"][able]
        if not np.isnan(candidates["usd"][able]).all()
        else candidates["usd_per_hour"][able]
    )
    likely = np.round(candidates["fit_probability"][able], 2)
    surest = likely == likely.max()
    return int(best_each(able[surest], ONE_GROUP, usd[surest], ties)[0])
