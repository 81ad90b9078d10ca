"""The one ranked table of a job: answers, board and frontier, for screen and CSV."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from calc.catalogs.caches import cached_per_catalogs, last_few
from calc.catalogs.load import Catalogs
from calc.cost.markets import USUAL_MARKETS
from calc.engine.pipeline import COLUMNS, WORDS
from calc.engine.results import Results
from calc.evaluate import Columns, Row
from calc.job.cells import JobError, JobRow
from calc.job.columns import ANSWER_COLUMNS
from calc.job.job import Job
from calc.job.resolve import compared_columns, published_bits
from calc.mappings import Cells
from calc.plan.figures import records
from calc.search import ranking
from calc.search.best_answers import answers as answers_of
from calc.search.best_answers import has_budget
from calc.search.facts import Miss, Problem, Reasons, Rented
from calc.search.problems import problem_of_all, problem_of_nearest
from calc.search.ranking import Ranking
from calc.search.rankings import ranked_candidates, resolved_job
from calc.search.reasons import RankingFacts, reason_codes
from calc.search.rows import (
    EDGE_COLUMNS,
    best_of_places,
    misses_of,
    money_and_place,
    rows_of,
)

KEPT_JOBS = 64
NEAREST = "nearest"
CODE_COLUMNS = (
    "answer",
    "market",
    "why",
    "why_codes",
    "problem_code",
    "misses",
    "missed_limits",
    "limits_cost",
    "rivals",
)


@dataclass(frozen=True, eq=False)
class Options:
    """The options of a job; the board starts with the first answer.

    `job`: its cells with every default; `resolved`: the same, typed, None for an invalid job.
    `reasons`: of every answer. `misses`: the exceeded limits of the answers, then of the board.
    `obstacle`: why none qualifies. `first`: the number of the first answer among the candidates.
    """

    job: Row
    resolved: Job | None
    answers: pd.DataFrame
    board: pd.DataFrame
    edge: pd.DataFrame
    tried: int
    possible: int
    rows: list[Row]
    reasons: tuple[Reasons, ...]
    misses: tuple[tuple[Miss, ...], ...]
    obstacle: Problem | None
    rented: Rented | None
    first: int = -1

    def copied(self) -> "Options":
        """Return a copy whose tables and rows the caller may change."""
        copies = {
            name: getattr(self, name).copy(deep=False) for name in ("answers", "board", "edge")
        }
        return replace(self, **copies, rows=[dict(row) for row in self.rows])


def options(job: Cells, catalogs: Catalogs) -> Options:
    """Return the answers of a job, its board (the best of every instance type), the frontier.

    A column of the job with a list of values is compared: the board has the best of every instance
    type and value.
    """
    remembered: Options = _recent_options(catalogs)(JobRow.of(job))
    return remembered.copied()


@cached_per_catalogs("models", "readings")
def _recent_options(catalogs: Catalogs) -> Any:
    """The options of the last jobs of these catalogs."""
    return last_few(KEPT_JOBS, lambda row: options_of(row, catalogs))


def options_of(row: JobRow, catalogs: Catalogs) -> Options:
    """Rank a job and return its options."""
    try:
        ranked, result = ranked_candidates(row, catalogs)
    except JobError as error:
        return _refusal(
            row.columns, None, Problem("invalid-job", error.wrong, cure=error.cure), 0, None
        )
    if ranked is None:
        job = resolved_job(row, catalogs)
        problem, rented = problem_of_all(job, result, catalogs), _rental(row, catalogs)
        rented = None if result.problem else rented
        return _refusal(job.cells, job, problem, result.tried, rented)
    return _options(row, ranked, result.tried, catalogs)


def on_several_instances(job: Cells, catalogs: Catalogs) -> Options:
    """The options of a job among those on two or more instances."""
    row = JobRow.of(job)
    try:
        ranked, result = ranked_candidates(row, catalogs)
    except JobError:
        ranked = None
    if ranked is None:
        return options(job, catalogs)
    classes = np.where(
        ranked.candidates.instances > 1,
        ranked.classes,
        np.maximum(ranked.classes, ranking.EXCEEDS_LIMIT),
    )
    return _options(row, ranked._replace(classes=classes), result.tried, catalogs)


def _rental(row: JobRow, catalogs: Catalogs) -> Rented | None:
    """The cost of renting for a job on your own machines; None for any other job."""
    if "have" not in row.columns:
        return None
    rented = options(row.without(["have"]).columns, catalogs)
    return Rented(None if rented.obstacle else rented.rows[0])


def _options(row_of_job: JobRow, ranked: Ranking, tried: int, catalogs: Catalogs) -> Options:
    """Return the answers, the board and the frontier among ranked candidates."""
    job, qualifying = ranked.job, ranked.qualifying
    rows = _chosen_rows(ranked, catalogs)
    rented = _rental(row_of_job, catalogs)
    reasons = _reasons(ranked, rows, rented, catalogs)
    obstacle = None
    if not len(qualifying):
        obstacle = problem_of_nearest(ranked, rows.first, rows.answer(0))
    table = _table(ranked, rows, reasons, tried, obstacle)
    count = len(rows.names)
    answers = table.iloc[:count].reset_index(drop=True)
    on_edge = ranking.frontier(ranked.candidates, qualifying)
    if job.have:  # nothing is paid
        on_edge = on_edge[:0]
    return Options(
        job=job.cells,
        resolved=job,
        answers=answers,
        board=table.iloc[count:].reset_index(drop=True),
        edge=money_and_place(ranked, on_edge),
        tried=tried,
        possible=ranked.possible,
        rows=records(answers),
        reasons=reasons,
        misses=tuple(misses_of(ranked, rows.numbers)),
        obstacle=obstacle,
        rented=rented,
        first=rows.first,
    )


@dataclass(frozen=True, eq=False)
class _ChosenRows:
    """The rows of the answers, then of the board, of which the first is the first answer again.

    `names`: of each answer by the number of its candidate. `figures`: market, cost and exceeded
    limits.
    """

    names: dict[int, list[str]]
    board_numbers: np.ndarray
    results: Results
    figures: Columns

    @property
    def first(self) -> int:
        """The number of the first answer's candidate."""
        return next(iter(self.names))

    @property
    def numbers(self) -> np.ndarray:
        """The candidate of each row."""
        return np.array([*self.names, *self.board_numbers])

    def answer(self, order: int) -> Row:
        """Return the row of an answer."""
        figures = {name: values[order] for name, values in self.figures.items()}
        return self.results.row(order) | figures

    def on_board(self, order: int) -> Row:
        """Return a row of the board."""
        return self.answer(len(self.names) + order)


def _chosen_rows(ranked: Ranking, catalogs: Catalogs) -> _ChosenRows:
    """Return the rows of the answers and of the board."""
    named = answers_of(ranked) if len(ranked.qualifying) else {NEAREST: ranking.nearest(ranked)}
    names: dict[int, list[str]] = {}
    for name, number in named.items():
        names.setdefault(number, []).append(name)
    board = best_of_places(ranked, compared_columns(ranked.job), next(iter(names)))
    results, figures = rows_of(ranked, np.array([*names, *board]), catalogs)
    return _ChosenRows(names, board, results, figures)


def _table(
    ranked: Ranking,
    rows: _ChosenRows,
    reasons: tuple[Reasons, ...],
    tried: int,
    problem: Problem | None,
) -> pd.DataFrame:
    """Return the rows as one table; its text columns are still empty."""
    names = ["+".join(several) for several in rows.names.values()]
    codes = ["+".join(reason.codes) for reason in reasons]
    problem_code = problem.code if problem else ""
    rest = [""] * (len(rows.board_numbers) - 1)
    columns: Columns = dict.fromkeys(CODE_COLUMNS, "") | rows.figures
    columns |= {
        "answer": [*names, names[0], *rest],
        "why_codes": [*codes, codes[0], *rest],
        "tried": tried,
        "possible": ranked.possible,
        "problem": "",
        "problem_code": [problem_code] * (len(names) + 1) + rest,
    }
    order = (*ANSWER_COLUMNS, "obtainable", "problem")
    return rows.results.plain(**{name: columns[name] for name in order})


def _reasons(
    ranked: Ranking, rows: _ChosenRows, rented: Rented | None, catalogs: Catalogs
) -> tuple[Reasons, ...]:
    """Return why each row is an answer."""
    job, board = ranked.job, rows.board_numbers
    usd, bits = ranked.candidates.usd, published_bits(job.cells, catalogs)
    is_stale = ranked.classes[board] == ranking.STALE_PRICE
    stale = np.flatnonzero(is_stale & (usd[board] < usd[board[0]]))
    older = min(map(rows.on_board, stale.tolist()), key=lambda row: row["usd"], default=None)
    has_next = len(board) > 1 and ranked.classes[board[1]] == ranking.QUALIFIES
    needs_agreement = ranking.by_agreement(ranked.candidates, job)
    reasons = []
    for order, (number, names) in enumerate(rows.names.items()):
        otherwise = np.flatnonzero(_sold_otherwise(ranked, number, board))
        facts = RankingFacts(
            needs_agreement=bool(needs_agreement[number]),
            has_next=has_next,
            has_older_price=older is not None,
            has_old_price=ranked.has_old_price(number),
            has_published_bits=bool(bits),
            wants_unpublished=_asks_unpublished(job),
            has_budget=has_budget(job),
            is_sold_otherwise=bool(len(otherwise)),
        )
        reasons.append(
            Reasons(
                names=tuple(names),
                codes=reason_codes(tuple(names), rows.answer(order), rows.answer(0), facts, job),
                row=rows.answer(order),
                least=rows.answer(0),
                published_bits=bits,
                next=rows.on_board(1) if has_next else None,
                older=older,
                otherwise=rows.on_board(int(otherwise[0])) if len(otherwise) else None,
                rented=rented,
            )
        )
    return tuple(reasons)


def _asks_unpublished(job: Job) -> bool:
    """Return whether a service allows weights narrower than published, and makes none itself."""
    makes = job.quantize_own == "yes" or job.trains or "precision" in job.fixed
    return not makes and job.least_bits < 16 and not job.narrow_formats[job.least_bits]


def _sold_otherwise(ranked: Ranking, number: int, board: np.ndarray) -> np.ndarray:
    """Return which board rows rent the candidate's type in a block instead of on demand.

    For a candidate in a block it is the reverse. The shape is (rows of the board,).
    """
    place = ranked.candidates.place_number
    markets = np.array(ranked.job.markets)[ranked.candidates.market_number]
    both = {*USUAL_MARKETS}
    is_other = np.array([{markets[number], market} == both for market in markets[board]])
    return (place[board] == place[number]) & ranked.is_possible[board] & is_other


def _refusal(
    cells: Row, job: Job | None, problem: Problem, tried: int, rented: Rented | None
) -> Options:
    """Return the one row of a job without a plan."""
    table, edge = _problem_alone(tried, problem.code)
    return Options(
        job=dict(cells),
        resolved=job,
        answers=table,
        board=table,
        edge=edge,
        tried=tried,
        possible=0,
        rows=records(table),
        reasons=(),
        misses=((), ()),
        obstacle=problem,
        rented=rented,
    )


@lru_cache(maxsize=64)
def _problem_alone(tried: int, code: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a problem as a table of one row, with an empty frontier; many jobs share it."""
    head: Columns = dict.fromkeys(ANSWER_COLUMNS, np.nan) | dict.fromkeys(CODE_COLUMNS, "")
    head |= {"tried": tried, "possible": 0, "problem": "", "problem_code": code}
    return Results(COLUMNS, WORDS, 1).plain(**head), pd.DataFrame(columns=EDGE_COLUMNS)
