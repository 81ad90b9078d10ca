"""Of the changes that were tried those to name: useful, each as plain as it can be, the best few of each kind."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

MOST_OF_A_KIND = {
    "layout": 3,
    "instance": 3,
    "gpus": 2,
    "region": 2,
    "market": 2,
    "precision": 3,
    "tuning": 2,
    "step": 2,
    "batch": 2,
    "pair": 2,
}
ALIKE_RATIO = 0.03  # costs of the work that nobody can tell apart
MOST_SMALLER = 3  # changes that save memory and no money
WORTH_RATIO, WORTH_CARD_RATIO = 0.01, 0.02  # what saves less of the cost of the work, and of the card, is not named
PLAINER_RATIO = 0.02  # a choice more must save this much of what the change without it costs
SLOWEST_RATIO, SLOWEST_OTHER_RATIO = 1.5, 1.1  # memory alone is not worth a longer run than that, of other work even less
DEAREST_RATIO = 3.0  # nor is a way to fit that costs so many times the cheapest
IMPLIED = {"accumulation_steps": "batch", "gpu": "instance", "pipeline_parallel": "tensor_parallel"}  # columns that follow another
VALUED = ("precision", "optimizer", "tuning")  # kinds of which each value is a change of its own
PLACED = ("instance", "gpus", "region", "market")


class Candidate(NamedTuple):
    """A change by its row: kind, work, where it goes, the choices that it makes, how unsure it is, and its cost."""

    row: int
    kind: str
    same_work: bool
    place: tuple
    choices: frozenset
    unsure: int
    cost: float

    @property
    def order(self) -> tuple:
        """The better one first."""
        return self.unsure, self.cost


def picked(now: dict[str, Any], tried: pd.DataFrame, fitting: bool) -> pd.DataFrame:
    """The changes to name, in order. `fitting`: the scenario holds already, and a change must save money or memory."""
    able = tried["holds"].to_numpy() & tried["kept"].to_numpy()
    paced = able & tried["paced"].to_numpy()
    if fitting:
        return _in_order(tried.loc[_saving(now, tried, paced)], ["saved_work_ratio", "saved_gib"], [False, False])
    able = paced if paced.any() else able
    cost = cost_of(tried)
    least = np.min(cost[able & tried["same_work"].to_numpy()], initial=np.inf)
    dear = np.where(np.isfinite(cost), cost > DEAREST_RATIO * least, tried["slowdown_ratio"].to_numpy() > DEAREST_RATIO)
    chosen = _best(_candidates(tried, np.flatnonzero(able & ~dear), cost))
    with np.errstate(divide="ignore", invalid="ignore"):  # the cheaper by the hour of those whose work costs about the same
        alike = np.floor(np.log(cost[chosen] / np.min(cost[chosen], initial=np.inf)) / ALIKE_RATIO)
    found = tried.loc[chosen].assign(alike=alike, dearer=~(tried["saved_usd_per_hour"][chosen] >= 0), unsure=_unsure(tried)[chosen])
    return _in_order(found, ["unsure", "dearer", "alike", "usd_per_hour", "saved_gib"], [True, True, True, True, False])


def cost_of(tried: pd.DataFrame) -> np.ndarray:
    """The cost of the work: against today's where that is known, else in USD, by the hour where no time is known."""
    for name in ("work_ratio", "work_usd", "usd_per_hour"):
        if tried[name].notna().any():
            return np.nan_to_num(tried[name].to_numpy(), nan=np.inf)
    return np.full(len(tried), np.inf)


def _unsure(tried: pd.DataFrame) -> np.ndarray:
    """0 for what surely fits and runs as it should, 1 for what is tight, 2 for what is emulated."""
    return np.where(tried["runs"] == "emulated", 2, np.where(tried["fits"] == "tight", 1, 0))


def _in_order(found: pd.DataFrame, columns: list[str], ascending: list[bool]) -> pd.DataFrame:
    """Same work first, then by these columns."""
    return found.sort_values(["same_work", *columns], ascending=[False, *ascending], kind="stable", ignore_index=True)


def _saving(now: dict[str, Any], tried: pd.DataFrame, able: np.ndarray) -> list[int]:
    """Of changes of a scenario that fits those that cost less, and a few single choices that take less memory for no more."""
    dearer = tried["saved_usd_per_hour"].to_numpy() < 0
    riskier = (tried["fits"] == "tight").to_numpy() & (now["fits"] == "yes")
    card_ratio = tried["saved_gib"].to_numpy() / tried["card_gib"].to_numpy()
    cheaper = able & ~riskier & (tried["saved_work_ratio"].to_numpy() > WORTH_RATIO) & ~(dearer & (now["work"] == "inference"))
    slowest = np.where(tried["same_work"], SLOWEST_RATIO, SLOWEST_OTHER_RATIO)
    smaller = able & ~riskier & ~cheaper & ~dearer & (card_ratio > WORTH_CARD_RATIO) & (tried["slowdown_ratio"].to_numpy() < slowest)
    alone = [each for each in _candidates(tried, np.flatnonzero(smaller), 1 - card_ratio) if len(each.choices - {"tuning"}) == 1]
    return _best(_candidates(tried, np.flatnonzero(cheaper), cost_of(tried))) + _best(alone)[:MOST_SMALLER]


def choices_of(change: Iterable[str]) -> frozenset[str]:
    """The choices that a change makes, without columns that follow from another one."""
    return frozenset(name for name in change if name not in IMPLIED) or frozenset(IMPLIED[name] for name in change)


def _candidates(tried: pd.DataFrame, rows: np.ndarray, cost: np.ndarray) -> list[Candidate]:
    kinds, same, sets = (tried[name].to_numpy() for name in ("kind", "same_work", "set"))
    unsure = _unsure(tried)
    found = []
    for row in rows.tolist():
        change, kind = sets[row], kinds[row]
        place = tuple(change.get(name, "") for name in PLACED)
        place += tuple(change.get(name, "") for name in ("precision", "optimizer") if kind in VALUED)
        found.append(Candidate(row, kind, bool(same[row]), place, choices_of(change), int(unsure[row]), float(cost[row])))
    return found


def _best(candidates: list[Candidate]) -> list[int]:
    """Rows of the best few of every kind: of each place and set of choices the best, and none that a plainer one nearly equals."""
    firsts: dict[tuple, Candidate] = {}
    for each in sorted(candidates, key=lambda each: each.order):
        firsts.setdefault((each.kind, each.same_work, each.place, each.choices), each)
    plain: dict[tuple, list[Candidate]] = {}
    for each in sorted(firsts.values(), key=lambda each: len(each.choices)):
        others = plain.setdefault((each.kind, each.same_work, each.place), [])
        if all(_beats(each, other) for other in others if other.choices < each.choices):
            others.append(each)
    by_kind: dict[tuple, list[Candidate]] = {}
    for (kind, same_work, place), own in plain.items():
        several = kind == "layout" and place[0] == ""
        by_kind.setdefault((kind, same_work), []).extend(own if several else sorted(own, key=lambda each: each.order)[:1])
    chosen: list[int] = []
    for (kind, _), own in by_kind.items():
        ordered = _one_of_an_instance(sorted(own, key=lambda each: each.order))
        chosen += [each.row for each in ordered[: MOST_OF_A_KIND.get(kind, len(ordered))]]
    return chosen


def _one_of_an_instance(ordered: list[Candidate]) -> list[Candidate]:
    """Of changes to one other instance, on several GPU counts, the first."""
    seen: set[str] = set()
    left = []
    for each in ordered:
        instance = each.place[0]
        if not instance or instance not in seen:
            left.append(each)
        seen.add(instance)
    return left


def _beats(one: Candidate, plainer: Candidate) -> bool:
    """Whether a change is worth its one choice more."""
    return one.unsure < plainer.unsure or one.cost < plainer.cost * (1 - PLAINER_RATIO)
