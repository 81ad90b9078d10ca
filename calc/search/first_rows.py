"""The rows of jobs' first answers without their reasons, and the layouts of a job's board."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.cells import JobRow
from calc.job.resolve import varied
from calc.rules.support import RUNS
from calc.search import ranking
from calc.search.best_answers import answers, least_money
from calc.search.combinations import work_key
from calc.search.ranking import Ranking
from calc.search.rankings import ranking_of, rankings_of
from calc.search.rows import best_of_places, inputs_of_candidates, rows_of_several
from calc.table import Words


def first_row(job: Mapping[str, Any], catalogs: Catalogs) -> dict[str, Any] | None:
    """The row of a job's first answer without its reasons; None where nothing qualifies."""
    ranked = ranking_of(JobRow.of(job), catalogs)
    return rows_of_rankings([ranked], catalogs)[0]


def first_rows(
    jobs: Sequence[Mapping[str, Any]], catalogs: Catalogs
) -> list[dict[str, Any] | None]:
    """The row of the first answer of each of several jobs, as `first_row` returns it."""
    return rows_of_rankings(rankings_of(jobs, catalogs), catalogs)


def rows_of_rankings(
    rankings: Sequence[Ranking | None], catalogs: Catalogs
) -> list[dict[str, Any] | None]:
    """The row of the first answer of each ranking; None where nothing qualifies."""
    rows: list[dict[str, Any] | None] = [None] * len(rankings)
    firsts: dict[int, tuple[Ranking, str, int]] = {}
    for position, ranked in enumerate(rankings):
        if ranked is not None and len(ranked.qualifying):
            firsts[position] = ranked, *next(iter(answers(ranked).items()))
    for positions in _alike(firsts):
        chosen = [(firsts[position][0], np.array([firsts[position][2]])) for position in positions]
        results, figures = rows_of_several(chosen, catalogs)
        for order, position in enumerate(positions):
            rows[position] = (
                results.row(order)
                | {column: values[order] for column, values in figures.items()}
                | {"answer": firsts[position][1]}
            )
    return rows


def _alike(firsts: Mapping[int, tuple[Ranking, str, int]]) -> list[list[int]]:
    """The positions of rankings whose jobs are about the same work, together."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for position, (ranked, _, _) in firsts.items():
        groups.setdefault(work_key(ranked.job, ranked.grid), []).append(position)
    return list(groups.values())


def sound_layouts(jobs: Sequence[Mapping[str, Any]], catalogs: Catalogs) -> list[list[Row]]:
    """Of each job the inputs of the board's rows that are known to run and keep every limit."""
    return [
        [] if ranked is None else _sound_inputs(ranked) for ranked in rankings_of(jobs, catalogs)
    ]


def _sound_inputs(ranked: Ranking) -> list[Row]:
    """Inputs of the board's rows that are known to run and keep every limit."""
    least = (
        least_money(ranked, ranked.qualifying)
        if len(ranked.qualifying)
        else ranking.nearest(ranked)
    )
    board = best_of_places(ranked, varied(ranked.job), least)
    missed = np.any([limit.excess[board] > 0 for limit in ranked.limits], axis=0)
    sound = board[~missed & (ranked.candidates["runs"][board] == RUNS.index("yes"))]
    inputs, count = inputs_of_candidates(ranked, sound), len(sound)
    cells = {
        name: values.by_row(count) if isinstance(values, Words) else np.broadcast_to(values, count)
        for name, values in inputs.items()
    }
    return [
        dict(zip(cells, row, strict=True))
        for row in zip(*(column.tolist() for column in cells.values()), strict=True)
    ]
