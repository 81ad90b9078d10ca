"""The changes to name of those tried: useful, plain, the best few of each kind."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.cost.job import ends_of
from calc.evaluate import Row

MOST_OF_A_KIND = {
    **dict.fromkeys(("layout", "instance", "precision"), 3),
    **dict.fromkeys(("gpus", "region", "market", "tuning", "step", "batch", "pair"), 2),
}
ALIKE_RATIO = 0.03  # by which costs of the work may differ and still count as equal
MOST_SMALLER = 3  # changes that save memory and no money
# A change that saves less of the cost of the work, and of the card, is not named.
WORTH_RATIO, WORTH_CARD_RATIO = 0.01, 0.02
PLAINER_RATIO = 0.02  # a choice more must save this much of what the change without it costs
# A change that saves memory alone may slow the run by this much; by less if the work changes.
SLOWEST_RATIO, SLOWEST_OTHER_RATIO = 1.5, 1.1
DEAREST_RATIO = 3.0  # nor is a way to fit that costs so many times the cheapest
# Columns that follow another.
_IMPLIED = {
    "accumulation_steps": "batch",
    "gpu": "instance",
    "pipeline_parallel": "tensor_parallel",
    "context_parallel": "tensor_parallel",
}
_VALUED = {  # kind -> the columns whose every value is a change of its own
    **{name: (name,) for name in ("instance", "gpus", "region", "market")},
    **dict.fromkeys(("precision", "optimizer", "tuning"), ("precision", "optimizer")),
}
_SEVERAL = ("layout", "pair")  # kinds in which other choices are other changes


class Candidate(NamedTuple):
    """A change: its kind, its distinguishing values, its choices, risk and cost."""

    row: int
    kind: tuple[str, bool]  # and whether it does the same work
    values: tuple
    choices: frozenset[str]
    unsure: int
    cost: float

    @property
    def order(self) -> tuple[int, float]:
        """Sort key of a change: the better one first."""
        return self.unsure, self.cost


def select_advice(
    row: Row, changes: pd.DataFrame, already_fits: bool, lacking_gib: float
) -> pd.DataFrame:
    """Return the changes to name, in order.

    `already_fits`: the scenario fits for certain, so that only changes that save something count.
    `lacking_gib`: memory that the run was refused although the scenario fits; a change frees at
    least as much of its card. The changes of a tight scenario make it certain to fit.
    """
    is_able = (
        changes["holds"].to_numpy()
        & changes["within_cost_limits"].to_numpy()
        & ~(changes["freed_gib"].to_numpy() < lacking_gib)
    )
    if row["fits"] == "tight":
        is_able &= (changes["fits"] == "yes").to_numpy()
    is_fast_enough = is_able & changes["within_speed_limits"].to_numpy()
    if already_fits:
        saving = changes.loc[_changes_that_save(row, changes, is_fast_enough)]
        return machine_first(saving, ["saved_work_ratio", "saved_gib"], [False, False])
    is_able = is_fast_enough if is_fast_enough.any() else is_able
    cost = cost_of(changes)
    affordable = np.flatnonzero(is_able & ~_is_far_dearer(changes, is_able, cost))
    selection = _best(_candidates(changes, affordable, cost))
    advice = changes.loc[selection].assign(
        cost_class=_cost_classes(cost[selection]),
        costs_more=~(changes["saved_usd_per_hour"][selection] >= 0),
        unsure=_unsure(changes)[selection],
    )
    slowdown_ratio = advice["slowdown_ratio"].round(2)
    advice["slowdown_here"] = slowdown_ratio.where(advice["same_machine"], 0)
    return machine_first(
        advice,
        ["unsure", "slowdown_here", "costs_more", "cost_class", "usd_per_hour", "saved_gib"],
        [True, True, True, True, True, False],
    )


def _is_far_dearer(changes: pd.DataFrame, is_able: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Return whether each change costs far more than the cheapest way to do the same work.

    A change on the same machine is compared with the others there. Without a cost, a change to
    another machine is compared by its slowdown.
    """
    stays = changes["same_machine"].to_numpy()
    is_same = is_able & changes["same_work"].to_numpy()
    least_here = np.min(cost[is_same & stays], initial=np.inf)
    least = np.where(stays, least_here, np.min(cost[is_same], initial=np.inf))
    is_slow_elsewhere = ~stays & (changes["slowdown_ratio"].to_numpy() > DEAREST_RATIO)
    return np.where(np.isfinite(cost), cost > DEAREST_RATIO * least, is_slow_elsewhere)


def _cost_classes(cost: np.ndarray) -> np.ndarray:
    """Return classes of nearly equal cost, by logarithm from the lowest one on."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.floor(np.log(cost / np.min(cost, initial=np.inf)) / ALIKE_RATIO)


def cost_of(changes: pd.DataFrame) -> np.ndarray:
    """The cost of the work: over today's, else in USD, else in USD by the hour."""
    for name in ("work_ratio", "work_usd", "usd_per_hour"):
        if changes[name].notna().any():
            return np.nan_to_num(changes[name].to_numpy(), nan=np.inf)
    return np.full(len(changes), np.inf)


def _unsure(changes: pd.DataFrame) -> np.ndarray:
    """Rank how sure each row is: 0 fits and runs natively, 1 is tight, 2 is emulated."""
    is_emulated, is_tight = changes["runs"] == "emulated", changes["fits"] == "tight"
    return np.select([is_emulated, is_tight], [2, 1], default=0)


def machine_first(changes: pd.DataFrame, columns: list[str], ascending: list[bool]) -> pd.DataFrame:
    """Sort by machine, the same one first; then by work, the same first; then by columns."""
    first = ["same_machine", "same_work"]
    return changes.sort_values(
        [*first, *columns], ascending=[False, False, *ascending], kind="stable", ignore_index=True
    )


def _changes_that_save(row: Row, changes: pd.DataFrame, able: np.ndarray) -> list[int]:
    """Changes of a scenario that fits: what costs less, and a few that only save memory."""
    dearer = changes["saved_usd_per_hour"].to_numpy() < 0
    riskier = (changes["fits"] == "tight").to_numpy() & (row["fits"] == "yes")
    card_ratio = changes["saved_gib"].to_numpy() / changes["card_gib"].to_numpy()
    cheaper = (
        able
        & ~riskier
        & (changes["saved_work_ratio"].to_numpy() > WORTH_RATIO)
        & ~(dearer & (not ends_of(row)))
    )
    slowest = np.where(changes["same_work"], SLOWEST_RATIO, SLOWEST_OTHER_RATIO)
    smaller = (
        able
        & ~riskier
        & ~cheaper
        & ~dearer
        & (card_ratio > WORTH_CARD_RATIO)
        & (changes["slowdown_ratio"].to_numpy() < slowest)
    )
    single = [
        change
        for change in _candidates(changes, np.flatnonzero(smaller), 1 - card_ratio)
        if len(change.choices - {"tuning"}) == 1
    ]
    return (
        _best(_candidates(changes, np.flatnonzero(cheaper), cost_of(changes)))
        + _best(single)[:MOST_SMALLER]
    )


def choices_of(change: Iterable[str]) -> frozenset[str]:
    """Return the choices that a change makes, without columns that follow from another one."""
    return frozenset(name for name in change if name not in _IMPLIED) or frozenset(
        _IMPLIED[name] for name in change
    )


def _candidates(changes: pd.DataFrame, rows: np.ndarray, cost: np.ndarray) -> list[Candidate]:
    """Return the changes in these rows with the values by which they are compared."""
    unsure = _unsure(changes)
    candidates = []
    for row in rows.tolist():
        kind, same_work, change = (changes[name].iat[row] for name in ("kind", "same_work", "set"))
        values = tuple(change.get(name, "") for name in _VALUED.get(kind, ()))
        candidates.append(
            Candidate(
                row,
                (kind, bool(same_work)),
                values,
                choices_of(change),
                int(unsure[row]),
                float(cost[row]),
            )
        )
    return candidates


def _best(candidates: list[Candidate]) -> list[int]:
    """Return the rows of the best few changes of every kind.

    A change is left out if a simpler one, with fewer choices, saves nearly as much. Most kinds have
    one change for each of their values.
    """
    by_kind: dict[tuple[str, bool], list[Candidate]] = {}
    for (kind, _), changes in _plain(_distinct(candidates)).items():
        best = changes if kind[0] in _SEVERAL else [min(changes, key=_order_of)]
        by_kind.setdefault(kind, []).extend(best)
    rows = []
    for (name, _), changes in by_kind.items():
        best_first = sorted(changes, key=_order_of)
        rows += [change.row for change in best_first[: MOST_OF_A_KIND.get(name)]]
    return rows


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    """Return the best of the candidates that make the same choices with the same values."""
    best: dict[tuple, Candidate] = {}
    for change in sorted(candidates, key=_order_of):
        best.setdefault((change.kind, change.values, change.choices), change)
    return list(best.values())


def _plain(candidates: list[Candidate]) -> dict[tuple, list[Candidate]]:
    """Return the candidates without those that a simpler one nearly equals."""
    plain: dict[tuple, list[Candidate]] = {}
    fewest_choices_first = sorted(candidates, key=lambda change: len(change.choices))
    for change in fewest_choices_first:
        group = plain.setdefault((change.kind, change.values), [])
        simpler = [other for other in group if other.choices < change.choices]
        if all(_beats(change, other) for other in simpler):
            group.append(change)
    return plain


def _order_of(change: Candidate) -> tuple[int, float]:
    return change.order


def _beats(one: Candidate, plainer: Candidate) -> bool:
    """Return whether a change is worth its one choice more."""
    return one.unsure < plainer.unsure or one.cost < plainer.cost * (1 - PLAINER_RATIO)
