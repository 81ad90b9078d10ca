"""The grid that jobs about the same work share, with each pair of layout and place once.

Most jobs that are searched together differ in a limit, a market or a few places, so nearly all of
their pairs of layout and place are the same.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.job.job import Job
from calc.scenarios.problems import Problems
from calc.search.candidates import Candidates
from calc.search.grid import Grid, join_grids
from calc.search.places import Offer, Place, offers
from calc.table import distinct, take_rows


class GridMember(NamedTuple):
    """A job on the grid that it shares with others.

    `layout_numbers` and `place_numbers`: the number on the shared grid of each of its own layouts
    and places. `own_positions`: the position of each shared pair among its own pairs, -1 for a pair
    that it does not try. `offers`: those of the shared places.
    """

    job: Job
    own_grid: Grid
    layout_numbers: np.ndarray
    place_numbers: np.ndarray
    own_positions: np.ndarray
    offers: list[Offer]

    @property
    def tried(self) -> int:
        """The number of candidates that it tries: ways of each pair times offers of its place."""
        offered = np.sum([~np.isnan(offer.usd_per_hour) for offer in self.offers], axis=0)
        ways = self.own_grid.steps_count[self.own_grid.layout_of_pair]
        return int((ways * offered[self.place_numbers][self.own_grid.place_of_pair]).sum())

    def shared_fault(self, problems: Problems) -> str:
        """Return what is wrong with its first layout if none is sound; else an empty text."""
        if not len(self.layout_numbers) or problems.sound[self.layout_numbers].any():
            return ""
        return str(problems.text[self.layout_numbers[0]])

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
    """A grid, the jobs that try parts of it, and the rate that each layout serves (0: none)."""

    grid: Grid
    members: list[GridMember]
    requests_per_second: np.ndarray


def shared_grid(grids: Sequence[Grid], jobs: Sequence[Job], catalogs: Catalogs) -> SharedGrid:
    """Return the grids of jobs about the same work as one, each pair of layout and place once."""
    places, place_numbers = _shared_places(grids)
    offers_each = [offers(job, places, catalogs) for job in jobs]
    rates = [job.requests_per_second or 0.0 for job in jobs]
    if len(grids) == 1:
        grid = grids[0]
        layouts, pairs = np.arange(grid.layout_count), np.arange(len(grid.layout_of_pair))
        alone = GridMember(jobs[0], grid, layouts, place_numbers[0], pairs, offers_each[0])
        return SharedGrid(grid, [alone], np.full(grid.layout_count, rates[0]))
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
        [*whole.layouts.values(), _steps_codes(whole), rate_of_layout], whole.layout_count
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

    `first_layout`: the first of each distinct layout. `pair_codes`: of each distinct pair its
    layout times the number of places plus its place.
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
    """The places of all grids, each once, and the number of each place of each grid.

    The instances that a job may span are in its layouts already.
    """
    numbers: dict[Place, int] = {}
    of_grids = []
    for grid in grids:
        alike = [place._replace(most=0) for place in grid.places]
        of_grids.append(np.array([numbers.setdefault(place, len(numbers)) for place in alike]))
    return list(numbers), of_grids


def _steps_codes(grid: Grid) -> np.ndarray:
    """A code for the accumulations of each layout, equal where they are equal."""
    ends = np.stack([grid.first_step, grid.first_step + grid.steps_count], axis=1)
    ranges, number = np.unique(ends, axis=0, return_inverse=True)
    codes: dict[bytes, int] = {}
    of_ranges = [
        codes.setdefault(grid.steps[start:end].tobytes(), len(codes))
        for start, end in ranges.tolist()
    ]
    return np.array(of_ranges, dtype=float)[number.reshape(-1)]


def _positions(pairs: np.ndarray, count: int) -> np.ndarray:
    """Return the position of each shared pair among these pairs; -1 for the others."""
    positions = np.full(count, -1)
    positions[pairs] = np.arange(len(pairs))
    return positions
