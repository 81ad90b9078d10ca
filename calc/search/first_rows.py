"""The rows of jobs' first answers without their reasons, and the layouts of a job's board."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.cells import JobRow
from calc.job.resolve import compared_columns
from calc.mappings import Cells
from calc.rules.support import RUNS
from calc.search import ranking
from calc.search.best_answers import answers, least_money
from calc.search.ranking import Ranking
from calc.search.rankings import ranking_of, rankings_of
from calc.search.rows import best_of_places, inputs_of_candidates, rows_of_several
from calc.search.search_results import work_key
from calc.table import Words


class First(NamedTuple):
    """The first answer of a job: its name, and the ranking of that candidate alone."""

    name: str
    ranked: Ranking


def first_row(job: Cells, catalogs: Catalogs) -> Row | None:
    """The row of a job's first answer without its reasons; None if nothing qualifies."""
    ranked = ranking_of(JobRow.of(job), catalogs)
    return None if ranked is None else row_of_ranking(ranked, catalogs)


def row_of_ranking(ranked: Ranking, catalogs: Catalogs) -> Row | None:
    """The row of the first answer of a ranking; None if nothing qualifies."""
    first = _first(ranked)
    return None if first is None else _rows([first], catalogs)[0]


def first_rows(jobs: Sequence[Cells], catalogs: Catalogs) -> list[Row | None]:
    """The row of the first answer of each of several jobs, as `first_row` returns it."""
    alike: dict[tuple[str, ...], dict[int, First]] = {}
    for number, ranked in rankings_of(jobs, catalogs):
        if first := _first(ranked):
            alike.setdefault(work_key(ranked.job, ranked.grid), {})[number] = first
    rows: list[Row | None] = [None] * len(jobs)
    for firsts in alike.values():
        for number, row in zip(firsts, _rows(list(firsts.values()), catalogs), strict=True):
            rows[number] = row
    return rows


def _first(ranked: Ranking) -> First | None:
    """The first answer of a ranking; None if nothing qualifies."""
    if not len(ranked.qualifying):
        return None
    name, number = next(iter(answers(ranked).items()))
    return First(name, ranked.only(np.array([number])))


def _rows(firsts: Sequence[First], catalogs: Catalogs) -> list[Row]:
    """The rows of the first answers of jobs about the same work."""
    results, figures = rows_of_several(
        [(first.ranked, np.zeros(1, dtype=int)) for first in firsts], catalogs
    )
    return [
        results.row(order)
        | {column: values[order] for column, values in figures.items()}
        | {"answer": first.name}
        for order, first in enumerate(firsts)
    ]


def sound_layouts(jobs: Sequence[Cells], catalogs: Catalogs) -> list[list[Row]]:
    """Return the inputs of the board's rows that are sure to run within every limit, by job."""
    layouts: list[list[Row]] = [[] for _ in jobs]
    for number, ranked in rankings_of(jobs, catalogs):
        layouts[number] = _sound_inputs(ranked)
    return layouts


def _sound_inputs(ranked: Ranking) -> list[Row]:
    """Inputs of the board's rows that are known to run and keep every limit."""
    least = (
        least_money(ranked, ranked.qualifying)
        if len(ranked.qualifying)
        else ranking.nearest(ranked)
    )
    board = best_of_places(ranked, compared_columns(ranked.job), least)
    missed = np.any([limit.excess[board] > 0 for limit in ranked.limits], axis=0)
    sound = board[~missed & (ranked.candidates.runs[board] == RUNS.index("yes"))]
    inputs, count = inputs_of_candidates(ranked, sound), len(sound)
    cells = {
        name: values.by_row(count) if isinstance(values, Words) else np.broadcast_to(values, count)
        for name, values in inputs.items()
    }
    return [
        dict(zip(cells, row, strict=True))
        for row in zip(*(column.tolist() for column in cells.values()), strict=True)
    ]
