"""The grid that jobs with the same work share. It has each pair of layout and place once.

Most jobs that are searched together differ in a limit, a market or a few places, so they have
nearly all pairs of layout and place in common.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.job.job import Job
from calc.say.remarks.text import remark_text
from calc.scenarios.problems import Problems
from calc.search.candidates import Candidates
from calc.search.grid import Grid, join_grids
from calc.search.places import Offer, Place, offers
from calc.table import distinct, take_rows


class GridMember(NamedTuple):
    """A job on the grid that it shares with others.

    `layout_numbers`, `place_numbers`: the number that each of its own layouts and places has on the
    shared grid. `own_positions`: the position that each shared pair has among its own pairs, -1 for
    a pair that it does not try. `offers`: its offers on the shared places.
    """

    job: Job
    own_grid: Grid
    layout_numbers: np.ndarray
    place_numbers: np.ndarray
    own_positions: np.ndarray
    offers: list[Offer]

    @property
    def tried(self) -> int:
        """The number of candidates that it tries.

        They are the accumulations of each pair's layout times the offers of its place.
        """
        place_offers = np.sum([~np.isnan(offer.usd_per_hour) for offer in self.offers], axis=0)
        own_offers = place_offers[self.place_numbers][self.own_grid.place_of_pair]
        accumulations = self.own_grid.steps_count[self.own_grid.layout_of_pair]
        return int((accumulations * own_offers).sum())

    def shared_fault(self, problems: Problems) -> str:
        """Return the problem of its first layout if no layout is sound; else an empty text."""
        if not len(self.layout_numbers) or problems.sound[self.layout_numbers].any():
            return ""
        return remark_text(problems.remarks[self.layout_numbers[0]])

    def own_candidates(self, candidates: Candidates) -> Candidates:
        """Return candidates in the order of its own pairs, with the numbers of its own grid."""
        own_place = np.full(self.place_numbers.max() + 1, -1)
        own_place[self.place_numbers] = np.arange(len(self.place_numbers))
        own = replace(
            candidates,
            pair_number=self.own_positions[candidates.pair_number],
            place_number=own_place[candidates.place_number],
        )
        if (np.diff(own.pair_number) >= 0).all():
            return own
        return own.take(np.argsort(own.pair_number, kind="stable"))


class SharedGrid(NamedTuple):
    """A grid, the jobs that try parts of it, and the rate that each layout must serve (0: none)."""

    grid: Grid
    members: list[GridMember]
    requests_per_second: np.ndarray

    def at_positions(self, positions: Sequence[np.ndarray]) -> "SharedGrid":
        """Return the jobs with other positions of the shared pairs, one array for each job."""
        members = [
            one._replace(own_positions=own)
            for one, own in zip(self.members, positions, strict=True)
        ]
        return self._replace(members=members)


def shared_grid(grids: Sequence[Grid], jobs: Sequence[Job], catalogs: Catalogs) -> SharedGrid:
    """Return the grids of jobs with the same work as one, each pair of layout and place once."""
    places, place_numbers = _shared_places(grids)
    offers_each = [offers(job, places, catalogs) for job in jobs]
    rates = [job.requests_per_second or 0.0 for job in jobs]
    if len(grids) == 1:
        grid = grids[0]
        layouts, pairs = np.arange(grid.layout_count), np.arange(len(grid.layout_of_pair))
        member = GridMember(jobs[0], grid, layouts, place_numbers[0], pairs, offers_each[0])
        return SharedGrid(grid, [member], np.full(grid.layout_count, rates[0]))
    whole = join_grids(
        [
            grid._replace(place_of_pair=numbers[grid.place_of_pair])
            for grid, numbers in zip(grids, place_numbers, strict=True)
        ]
    )
    layout_counts = [grid.layout_count for grid in grids]
    pair_counts = [len(grid.layout_of_pair) for grid in grids]
    rate_of_layout = np.repeat(rates, layout_counts)
    first_layout, layout = distinct(
        [*whole.layouts.values(), _accumulation_codes(whole), rate_of_layout], whole.layout_count
    )
    pair, shared_pairs = pd.factorize(
        layout[whole.layout_of_pair] * len(places) + whole.place_of_pair
    )
    shared = _distinct_grid(whole, places, first_layout, shared_pairs)
    members = [
        GridMember(job, grid, layouts, numbers, _positions(pairs, len(shared_pairs)), offered)
        for job, grid, layouts, numbers, pairs, offered in zip(
            jobs,
            grids,
            np.split(layout, np.cumsum(layout_counts)[:-1]),
            place_numbers,
            np.split(pair, np.cumsum(pair_counts)[:-1]),
            offers_each,
            strict=True,
        )
    ]
    return SharedGrid(shared, members, rate_of_layout[first_layout])


def _distinct_grid(
    whole: Grid, places: list[Place], first_layout: np.ndarray, pair_codes: np.ndarray
) -> Grid:
    """Return the joined grid with each layout and each pair once.

    `first_layout`: the position at which each distinct layout first occurs. `pair_codes`: a code
    for each distinct pair, its layout times the number of places plus its place.
    """
    layouts = {
        name: take_rows(values, whole.layout_count, first_layout)
        for name, values in whole.layouts.items()
    }
    return whole._replace(
        places=places,
        layouts=layouts,
        layout_count=len(first_layout),
        layout_of_pair=pair_codes // len(places),
        place_of_pair=pair_codes % len(places),
        first_step=whole.first_step[first_layout],
        steps_count=whole.steps_count[first_layout],
    )


def _shared_places(grids: Sequence[Grid]) -> tuple[list[Place], list[np.ndarray]]:
    """Return the places of all grids, each once, and their numbers for the places of each grid.

    Places that differ only in the instances that a job may span are one: its layouts already keep
    to that number.
    """
    numbers: dict[Place, int] = {}
    numbers_by_grid = []
    for grid in grids:
        places = [place._replace(most=0) for place in grid.places]
        numbers_by_grid.append(
            np.array([numbers.setdefault(place, len(numbers)) for place in places])
        )
    return list(numbers), numbers_by_grid


def _accumulation_codes(grid: Grid) -> np.ndarray:
    """A number for each layout, equal for layouts that try the same accumulations."""
    first_layout, slice_of_layout = distinct([grid.first_step, grid.steps_count], grid.layout_count)
    first_step, steps_count = grid.first_step[first_layout], grid.steps_count[first_layout]
    codes: dict[bytes, int] = {}
    code_of_slice = [
        codes.setdefault(grid.steps[start : start + count].tobytes(), len(codes))
        for start, count in zip(first_step.tolist(), steps_count.tolist(), strict=True)
    ]
    return np.array(code_of_slice, dtype=float)[slice_of_layout]


def _positions(pairs: np.ndarray, count: int) -> np.ndarray:
    """Return the position of each shared pair among these pairs; -1 for the others."""
    positions = np.full(count, -1)
    positions[pairs] = np.arange(len(pairs))
    return positions
