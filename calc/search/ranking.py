"""Which combinations qualify, what the others miss, and the three answers and the board among them (screen.md's rules).

Least money: of those within half a per cent of the least, the one with the step nearest to the asked, then fewer GPUs, fewer
instances, the plainer layout. Fastest: the least time, at most three times the least money where no budget is set.
Roomiest: the most bytes of headroom of those within one and a half times the least money.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calc.cost.markets import MARKETS
from calc.evaluate import Columns
from calc.scenarios.support import RUNS
from calc.search.combinations import FITS
from calc.search.inputs import TIE_RATIO
from calc.search.limits import STEP_FACTOR

FASTEST_RATIO, ROOMIEST_RATIO = 3.0, 1.5
LIMITS = ("hours_most", "hold_slow_end", "usd_most", "usd_per_hour_most", "first_token_seconds", "token_seconds")  # change no combination
QUALIFIES, AGED, TIGHT, EMULATED, UNKNOWN, OUTSIDE, LEFT_OUT = range(7)
FEW = 1e-9


@dataclass(frozen=True, eq=False)
class Limit:
    """A limit of the job: its column, what it asks at most, what each combination has."""

    name: str
    most: float
    values: np.ndarray

    @cached_property
    def excess(self) -> np.ndarray:
        """How many times over the limit each combination is; 0 where it keeps it or nothing is known."""
        ratio = np.nan_to_num(self.values / self.most)
        return np.where(ratio > 1 + FEW, ratio, 0.0)


def limits(found: Columns, whole: dict[str, Any]) -> list[Limit]:
    """The limits that a job sets; those on time are held with the slow end of the range where it asks for that."""
    slow = whole["hold_slow_end"] == "yes"
    if whole["work"] == "training":
        far = np.exp(np.abs(np.log(found["step_tokens"] / whole["step_tokens"])))
        own = [("hours_most", whole["hours_most"], found["slow_hours" if slow else "hours"]), ("step_tokens", STEP_FACTOR, far)]
    else:
        of = ("first_token", "token")
        own = [(f"{name}_seconds", whole[f"{name}_seconds"], _late(found, name) if slow else found[f"{name}_seconds"]) for name in of]
        own.append(("requests_per_second" if whole["requests_per_second"] else "users", 1.0, found["load_ratio"]))
    money = [("usd_most", whole["usd_most"], found["usd"]), ("usd_per_hour_most", whole["usd_per_hour_most"], found["usd_per_hour"])]
    size = [("instances_most", whole["instances_most"], found["instances"])]
    return [Limit(name, float(most), values) for name, most, values in (*own, *money, *size) if most is not None]


def _late(found: Columns, name: str) -> np.ndarray:
    """The slow end of the range of a time in serving. [s]"""
    return np.asarray(found[f"{name}_seconds"] * found[f"slow_{name}_ratio"])


def classes(found: Columns, kept: list[Limit], markets: list[str]) -> np.ndarray:
    """Of each combination whether it qualifies, or the first reason against it, the lightest first.

    What would qualify at an old price yields to what does at a fresher one (AGED); where there is none it qualifies.
    """
    over = np.any([limit.excess > 0 for limit in kept], axis=0)
    fits, runs = found["fits"], found["runs"]
    lives = fits <= FITS.index("tight")
    verdict = np.where(fits == FITS.index("tight"), TIGHT, QUALIFIES)
    verdict = np.where(runs == RUNS.index("emulated"), EMULATED, np.where(runs == RUNS.index("unknown"), UNKNOWN, verdict))
    verdict = np.where((verdict < EMULATED) & np.isnan(found["seconds"]), UNKNOWN, verdict)  # no time is known of its card
    verdict = np.where(over, OUTSIDE, verdict)
    verdict = np.where(lives & (runs != RUNS.index("no")), verdict, LEFT_OUT)
    age, qualifies = found["price_age_days"], verdict == QUALIFIES
    old = age > np.array([MARKETS[name].old_days for name in markets])[found["market"]]
    freshest = np.min(age, initial=np.inf, where=qualifies & ~old & ~np.isnan(age))
    return np.where(qualifies & old & (age > freshest), AGED, verdict)


def plainness(found: Columns, whole: dict[str, Any], ranks: Columns) -> list[np.ndarray]:
    """What decides between combinations that cost as much, the first thing first.

    The step nearest to the asked, fewer GPUs paid, fewer instances, in a block paid whole the shorter time, then fewer GPUs
    used, FSDP before tensor parallel, less sharding, less recompute.
    """
    trains = whole["work"] == "training"
    step = np.round(np.abs(np.log(found["step_tokens"] / whole["step_tokens"])), 6) if trains else np.zeros(len(found["usd"]))
    in_blocks = np.array([MARKETS[name].block_hours > 0 for name in whole["markets"]])[found["market"]]
    time = np.where(in_blocks, np.round(np.log(found["seconds"]), 2), 0)
    own = [found[name] for name in ("gpus", "tensor_parallel", "pipeline_parallel", "context_parallel")]
    more = [found["usd"], found["accumulation_steps"]]
    keys = [step, ranks["gpus_paid"], found["instances"], time, *own, ranks["sharding"], ranks["recompute"], *more]
    return [key for key in keys if len(key) > 1 or len(found["usd"]) == 1]


def best_each(at: np.ndarray, group: np.ndarray, cost: np.ndarray, ties: list[np.ndarray], ratio: float = 1 + FEW) -> np.ndarray:
    """Of each group of the entries `at` the one of least cost, by `ties` among those within the ratio; in order of groups.

    `group` (small whole numbers; one for all makes one group) and `cost` are of the entries, `ties` of all combinations.
    """
    cost = np.where(np.isnan(cost), np.inf, cost)
    least = np.full(group.max(initial=0) + 1, np.inf)
    if len(group) == 1:
        least[group] = cost.min(initial=np.inf)
    else:
        np.minimum.at(least, group, cost)
    bound = np.where(least > 0, least * ratio, least / ratio)
    near = np.flatnonzero(cost <= bound[group])
    groups = np.broadcast_to(group, len(at)).take(near)
    order = np.lexsort([*(key.take(at.take(near)) for key in reversed(ties)), groups])
    return at[near[order[np.flatnonzero(np.diff(groups[order], prepend=-1))]]]


ALL = np.zeros(1, dtype=int)  # one group


def three(found: Columns, qualify: np.ndarray, ties: list[np.ndarray], budget: bool) -> dict[str, int]:
    """The entries named least-money, fastest and roomiest of those that qualify.

    The least money is the least to the cent, or a looser limit could make it more; time and headroom are equal within a tie.
    """
    usd = found["usd"].take(qualify)
    least = best_each(qualify, ALL, usd, ties)[0]
    dearest = found["usd"][least] * (1 + FEW)
    pick = {"least-money": int(least)}
    for name, ratio, column, sign in (
        ("fastest", np.inf if budget else FASTEST_RATIO, "seconds", 1),
        ("roomiest", ROOMIEST_RATIO, "headroom_bytes", -1),
    ):
        within = qualify.take(np.flatnonzero(usd <= dearest * ratio))
        pick[name] = int(best_each(within, ALL, sign * found[column].take(within), [found["usd"], *ties], TIE_RATIO)[0])
    return pick


def frontier(found: Columns, qualify: np.ndarray) -> np.ndarray:
    """Of those that qualify the entries that no other beats in both money and time, least money first."""
    usd, seconds = found["usd"].take(qualify), found["seconds"].take(qualify)
    sold = [found[name].take(qualify).astype(int) for name in ("place", "market", "instances", "region")]
    group = np.ravel_multi_index(sold, [each.max(initial=0) + 1 for each in sold])  # of what costs as much an hour the fastest
    least = np.full(group.max(initial=0) + 1, np.inf)
    np.minimum.at(least, group, seconds)
    few = np.flatnonzero(seconds == least[group])
    order = few[np.lexsort((seconds[few], usd[few]))]
    before = np.minimum.accumulate(np.concatenate([[np.inf], seconds[order]]))[:-1]
    return qualify[order[seconds[order] < before]]


def distance(kept: list[Limit]) -> np.ndarray:
    """How far each combination is from keeping every limit: those that miss fewer first, then those that miss them by less."""
    excess = np.array([limit.excess for limit in kept])
    much = np.max(excess, axis=0)
    return np.count_nonzero(excess, axis=0) + np.round(much / (1 + much), 6)


def nearest(found: Columns, verdict: np.ndarray, kept: list[Limit], ties: list[np.ndarray]) -> int:
    """Where none qualifies: one that runs and fits and is over one limit by the least, else tight, emulated, unknown."""
    sound = (found["fits"] == FITS.index("yes")) & (found["runs"] == RUNS.index("yes")) & ~np.isnan(found["seconds"])
    over = np.flatnonzero(sound & (verdict == OUTSIDE))
    if len(over):
        order = np.lexsort([*(key[over] for key in reversed(ties)), found["usd"][over], distance(kept)[over]])
        return int(over[order[0]])
    able = np.flatnonzero(verdict == verdict.min())
    usd = found["usd"][able] if not np.isnan(found["usd"][able]).all() else found["usd_per_hour"][able]
    return int(best_each(able, ALL, usd, ties)[0])
