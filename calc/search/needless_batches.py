"""Batches of offline work that another batch on the same cards clearly beats in time.

Replicas share the work and nothing else. So which batches are worth trying hardly depends on their
number: they are compared on the fewest GPUs, on a middle number and on the most. The end of the
work, when batches run empty, lasts longer for many replicas, hence three numbers and not one.
"""

from typing import NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost.prices import attempt_hours
from calc.evaluate import Columns
from calc.job.job import Job
from calc.job.resolve import compared_columns
from calc.layout_place_table import WAY, LayoutPlaceTable
from calc.scenarios.problems import Problems
from calc.search.candidates_on_offers import add_time_of_candidates
from calc.search.grid import Grid
from calc.search.pairs import PAIRS_AT_ONCE, able_pairs, keep_fitting
from calc.search.pareto_front import is_beaten
from calc.search.ranking import usual_batch
from calc.search.shared_grid import SharedGrid
from calc.table import Table, distinct


class _Groups(NamedTuple):
    """Numbers that pairs of layout and place have in common.

    `but_gpus`: of pairs that differ in their GPUs alone. `but_batch`: in their batch alone.
    `but_both`: in both. The shape of each is (pairs,).
    """

    but_gpus: np.ndarray
    but_batch: np.ndarray
    but_both: np.ndarray


def without_needless_batches(
    shared: SharedGrid, cards: Columns, table: Table, problems: Problems, catalogs: Catalogs
) -> SharedGrid:
    """Leave out the batches of offline work that no number of GPUs prefers.

    Other work stays as it is. All batches stay if a job compares values of a column or asks for the
    layout with the most memory left, or if none of those that are compared here fits.
    """
    grid, jobs = shared.grid, [one.job for one in shared.members]
    is_offline = jobs[0].ends and not jobs[0].trains
    if not is_offline or len(grid.layouts["batch"]) == 1 or any(map(_wants_all, jobs)):
        return shared
    groups = _groups(grid)
    is_compared = _on_three_counts(np.asarray(grid.layouts["gpus"]), grid, groups.but_both)
    positions = [np.where(is_compared, one.own_positions, -1) for one in shared.members]
    compared, _ = able_pairs(grid, cards, table | {}, problems.sound, positions, catalogs)
    stays = np.zeros(groups.but_gpus.max(initial=0) + 1, dtype=bool)
    for part in compared.parts(PAIRS_AT_ONCE) if len(compared.layout_of_pair) else ():
        stays[groups.but_gpus[_worthwhile_pairs(part, shared, groups.but_batch)]] = True
    return _restricted(shared, stays[groups.but_gpus])


def _wants_all(job: Job) -> bool:
    """Return whether an answer of a job may have a batch that takes longer than it needs."""
    return bool(compared_columns(job)) or "roomiest" in job.answers


def _groups(grid: Grid) -> _Groups:
    """Return the groups of the pairs of a grid."""
    places = len(grid.places)

    def but(*names: str) -> np.ndarray:
        others = [values for name, values in grid.layouts.items() if name not in names]
        _, alike = distinct(others, grid.layout_count)
        return alike.take(grid.layout_of_pair) * places + grid.place_of_pair

    return _Groups(but("gpus"), but("batch"), but("gpus", "batch"))


def _on_three_counts(gpus: np.ndarray, grid: Grid, group: np.ndarray) -> np.ndarray:
    """Return whether a pair has the fewest GPUs of its group, a middle number or the most.

    Shape: (pairs,).
    """
    gpus = np.broadcast_to(gpus, grid.layout_count).take(grid.layout_of_pair)
    groups = group.max(initial=0) + 1
    fewest, middle = np.full(groups, gpus.max()), np.full(groups, gpus.max())
    most = np.zeros(groups)
    np.minimum.at(fewest, group, gpus)
    np.maximum.at(most, group, gpus)
    is_beyond_middle = gpus >= np.sqrt(fewest * most)[group]
    np.minimum.at(middle, group[is_beyond_middle], gpus[is_beyond_middle])
    return np.any([gpus == count[group] for count in (fewest, middle, most)], axis=0)


def _worthwhile_pairs(
    part: LayoutPlaceTable, shared: SharedGrid, but_batch: np.ndarray
) -> np.ndarray:
    """Return the numbers of the pairs that fit and that no other batch clearly beats.

    Offline work accumulates nothing: each pair has one way. Only pairs that the same jobs try are
    compared.
    """
    job = shared.members[0].job
    keep_fitting(part)
    add_time_of_candidates(part, shared.grid, job)

    def column(name: str) -> np.ndarray:
        return np.broadcast_to(part.column(name, WAY), len(part.pair_of_way))

    pair_number = column("pair_number")
    likely = np.round(column("fit_probability"), 2)
    tried = [one.own_positions.take(pair_number) >= 0 for one in shared.members]
    alike = [but_batch[pair_number], column("runs"), column("fits"), likely, *tried]
    _, group = distinct(alike, len(pair_number))
    with np.errstate(divide="ignore", invalid="ignore"):
        hours = attempt_hours(column("run_tokens"), column("run_tokens_per_second"))
        mean = np.log(hours)
        slow = mean + np.log(column("time_high_ratio"))
    group = np.where(np.isnan(mean), len(group) + np.arange(len(group)), group)
    mean, slow = np.nan_to_num(mean), np.nan_to_num(slow)
    batch = np.asarray(shared.grid.layouts["batch"])[shared.grid.layout_of_pair[pair_number]]
    stays = ~is_beaten(mean, slow, group) & _is_plainest(mean, slow, group, batch, job)
    return pair_number[stays]


def _is_plainest(
    mean: np.ndarray, slow: np.ndarray, group: np.ndarray, batch: np.ndarray, job: Job
) -> np.ndarray:
    """Return whether a batch is the one that answers name among equally fast ones.

    Shape: (pairs,). It is the nearest to the usual batch of an encoder, else the smallest.
    """
    _, tie = distinct([group, np.round(mean, 6), np.round(slow, 6)], len(group))
    usual = 1.0 if job.generates else usual_batch(job)
    order = np.lexsort([batch, np.round(np.abs(np.log(batch / usual)), 9), tie])
    is_first = np.diff(tie[order], prepend=-1) != 0
    plainest = np.zeros(len(group), dtype=bool)
    plainest[order[is_first]] = True
    return plainest


def _restricted(shared: SharedGrid, stays: np.ndarray) -> SharedGrid:
    """Return the jobs with these of their pairs alone; with all of them where none would stay."""
    positions = []
    for one in shared.members:
        own = np.where(stays, one.own_positions, -1)
        positions.append(own if (own >= 0).any() else one.own_positions)
    return shared.at_positions(positions)
