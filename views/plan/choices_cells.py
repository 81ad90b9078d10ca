"""The cells of Compare choices, which workers compute while the page is drawn.

A page begins the first ones before it draws anything. It collects them later, and never waits. A
cell that becomes the plan leaves all other cells as they are, so those are taken over.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import lru_cache

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.cells import JobRow
from calc.mappings import Cells
from calc.search.options import NEAREST
from calc.studies.choices import Cell, Comparison, cells_for, comparisons, is_plan, job_with
from views.session.worker import begin_in_worker, in_worker, is_large

TOGETHER = 4  # cells whose plans are searched at once
AHEAD, ONE_BY_ONE = 4, 1  # groups under way; while others ask, or where a group takes seconds
KEPT, KEPT_CELLS = 16, 1_024  # comparisons; cells of all of them
Group = tuple[int, ...]  # numbers of cells


@dataclass
class KnownCells:
    """The cells of a comparison of a job, by number; shared by all sessions."""

    job: Row
    comparison: Comparison
    found: dict[int, Cell] = field(default_factory=dict)
    underway: dict[Group, Future] = field(default_factory=dict)

    def cells(self, plan: Cells) -> list[Cell]:
        """Return all cells, empty where they are not known; that of the plan has its row."""
        cells = []
        for number, (row, column) in enumerate(self.comparison.pairs):
            cell = self.found.get(number, Cell(row, column, self.job, None))
            cells.append(replace(cell, plan=dict(plan)) if self._is_own(number, plan) else cell)
        return cells

    def missing(self, plan: Cells) -> list[int]:
        """Return the numbers of the cells that are still unknown."""
        is_answer = plan["answer"] != NEAREST  # a nearest plan's cell says which limit it exceeds
        return [
            number
            for number in range(len(self.comparison.pairs))
            if number not in self.found and not (is_answer and self._is_own(number, plan))
        ]

    def begin(self, plan: Cells, catalogs: Catalogs, is_drawing: bool, others_ask: bool) -> None:
        """Begin some missing cells in the workers.

        `is_drawing`: the page still asks questions of its own, so their worker is left to them.
        Afterwards the workers take turns.
        """
        most = ONE_BY_ONE if others_ask or is_large(self.job) else AHEAD
        for group in self._groups(plan):
            if len(self.underway) >= most:
                return
            pairs = [self.comparison.pairs[number] for number in group]
            is_own = not is_drawing and len(self.underway) % 2 == 0
            future = begin_in_worker(self.job, catalogs, is_own, cells_for, self.job, pairs)
            if future is None:
                return
            self.underway[group] = future

    def collect(self, catalogs: Catalogs) -> None:
        """Take over the cells that workers have computed; what failed there is computed here."""
        for group, future in list(self.underway.items()):
            if future.done():
                self.underway.pop(group, None)  # another session may have taken it over
                if future.exception() is None:
                    self._take(group, future.result(), catalogs.version)
                else:
                    self._compute(group, catalogs)

    def compute(self, plan: Cells, catalogs: Catalogs) -> None:
        """Compute a group of missing cells and wait for it."""
        if group := next(self._groups(plan), None):
            self._compute(group, catalogs)

    def _compute(self, group: Group, catalogs: Catalogs) -> None:
        """Compute the cells of a group."""
        pairs = [self.comparison.pairs[number] for number in group]
        cells = in_worker(self.job, catalogs, cells_for, self.job, pairs)
        self._take(group, cells, catalogs.version)

    def _take(self, group: Group, cells: list[Cell], version: str) -> None:
        """Take computed cells, for this comparison and for others that have a cell of their job."""
        self.found.update(zip(group, cells, strict=True))
        _remember(cells, version)

    def _groups(self, plan: Cells) -> Iterator[Group]:
        """The missing cells that nothing computes yet, in groups."""
        numbers_underway = {number for group in list(self.underway) for number in group}
        numbers = [number for number in self.missing(plan) if number not in numbers_underway]
        for first in range(0, len(numbers), TOGETHER):
            yield tuple(numbers[first : first + TOGETHER])

    def _is_own(self, number: int, plan: Cells) -> bool:
        """Return whether a cell is that of the plan."""
        return all(is_plan(one, self.job, plan) for one in self.comparison.pairs[number])


def known_cells(job: Row, comparison: Comparison, version: str) -> KnownCells:
    """Return what is known of a comparison of a resolved job."""
    return _known_cells(JobRow.of(job), comparison, version)


@lru_cache(maxsize=KEPT)
def _known_cells(job: JobRow, comparison: Comparison, version: str) -> KnownCells:
    return KnownCells(job.columns, comparison, _remembered(job.columns, comparison, version))


@lru_cache(maxsize=1)
def _recent_cells() -> OrderedDict[tuple[str, JobRow], Cell]:
    """The cells with a plan that were computed last, by version of the catalogs and by job."""
    return OrderedDict()


def _remember(cells: Iterable[Cell], version: str) -> None:
    """Keep cells for other comparisons; one without a plan holds all its options, so it goes."""
    recent = _recent_cells()
    recent |= {(version, JobRow.of(one.job)): one for one in cells if not one.refused}
    while len(recent) > KEPT_CELLS:
        recent.popitem(last=False)


def _remembered(job: Row, comparison: Comparison, version: str) -> dict[int, Cell]:
    """Return the cells of a comparison whose jobs were asked before, by number."""
    recent, found = _recent_cells(), {}
    for number, (row, column) in enumerate(comparison.pairs):
        cell = recent.get((version, JobRow.of(job_with(job, row, column))))
        if cell is not None:
            found[number] = replace(cell, row=row, column=column)
    return found


def compute_all(job: Row, plan: Cells, catalogs: Catalogs) -> None:
    """Compute the comparison that is shown first for a resolved job, before anybody asks."""
    cells = known_cells(job, comparisons(job, plan, catalogs)[0], catalogs.version)
    while cells.missing(plan):
        cells.compute(plan, catalogs)
