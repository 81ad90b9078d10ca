"""The one ranked table of a job: answers, board and frontier, for screen and CSV."""

from collections.abc import Callable
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
from calc.search.reasons import reason_codes
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
    *("answer", "market", "why", "why_codes", "problem_code", "misses", "missed_limits"),
    *("limits_cost", "rivals"),
)


@dataclass(frozen=True, eq=False)
class Options:
    """What a job can be done with; the board starts with the first answer.

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
        """The same, of which the caller may change tables and rows."""
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
    """The options of a job, ranked anew."""
    try:
        ranked, combined = ranked_candidates(row, catalogs)
    except JobError as error:
        return _refusal(
            row.columns, None, Problem("invalid-job", error.wrong, cure=error.cure), 0, None
        )
    if ranked is None:
        job = resolved_job(row, catalogs)
        problem, rented = problem_of_all(job, combined, catalogs), _rental(row, catalogs)
        rented = None if combined.problem else rented
        return _refusal(job.cells, job, problem, combined.tried, rented)
    return _options(row, ranked, combined.tried, catalogs)


def on_several_instances(job: Cells, catalogs: Catalogs) -> Options:
    """The options of a job among those on two or more instances."""
    row = JobRow.of(job)
    try:
        ranked, combined = ranked_candidates(row, catalogs)
    except JobError:
        ranked = None
    if ranked is None:
        return options(job, catalogs)
    classes = np.where(
        ranked.candidates.instances > 1,
        ranked.classes,
        np.maximum(ranked.classes, ranking.OUTSIDE),
    )
    return _options(row, ranked._replace(classes=classes), combined.tried, catalogs)


def _rental(row: JobRow, catalogs: Catalogs) -> Rented | None:
    """What renting would cost a job on machines of one's own; None for any other job."""
    if "have" not in row.columns:
        return None
    rented = options(row.without(["have"]).columns, catalogs)
    return Rented(None if rented.obstacle else rented.rows[0])


def _options(row_of_job: JobRow, ranked: Ranking, tried: int, catalogs: Catalogs) -> Options:
    """Answers, board and frontier among ranked candidates."""
    job, qualifying = ranked.job, ranked.qualifying
    answers: dict[int, list[str]] = {}
    named = answers_of(ranked) if len(qualifying) else {NEAREST: ranking.nearest(ranked)}
    for name, number in named.items():
        answers.setdefault(number, []).append(name)
    first, count = next(iter(answers)), len(answers)
    board = best_of_places(ranked, compared_columns(job), first)
    chosen = np.array([*answers, *board])
    results, figures = rows_of(ranked, chosen, catalogs)

    def row(number: int) -> Row:
        return results.row(number) | {name: values[number] for name, values in figures.items()}

    rented = _rental(row_of_job, catalogs)
    reasons = _reasons(ranked, answers, board, row, rented, catalogs)
    obstacle = None if len(qualifying) else problem_of_nearest(ranked, first, row(0))
    possible = int(np.count_nonzero(ranked.classes <= ranking.YIELDS))
    names = ["+".join(several) for several in answers.values()]
    codes = ["+".join(reason.codes) for reason in reasons]
    rest = [""] * (len(board) - 1)
    head: Columns = dict.fromkeys(CODE_COLUMNS, "") | figures
    head |= {"answer": [*names, names[0], *rest], "why_codes": [*codes, codes[0], *rest]}
    head |= {"tried": tried, "possible": possible, "problem": ""}
    code = obstacle.code if obstacle else ""
    head |= {"problem_code": [code] * (count + 1) + rest}
    table = results.plain(
        **{name: head[name] for name in (*ANSWER_COLUMNS, "obtainable", "problem")}
    )
    shown, below = (
        table.iloc[:count].reset_index(drop=True),
        table.iloc[count:].reset_index(drop=True),
    )
    on_edge = ranking.frontier(ranked.candidates, qualifying)
    edge = money_and_place(
        ranked, on_edge[:0] if job.have else on_edge
    )  # without a price there is none
    return Options(
        job.cells,
        job,
        shown,
        below,
        edge,
        tried,
        possible,
        records(shown),
        reasons,
        tuple(misses_of(ranked, chosen)),
        obstacle,
        rented,
        first,
    )


def _reasons(
    ranked: Ranking,
    answers: dict[int, list[str]],
    board: np.ndarray,
    row: Callable[[int], Row],
    rented: Rented | None,
    catalogs: Catalogs,
) -> tuple[Reasons, ...]:
    """Why each row is an answer; `row` makes the rows of the answers, then of the board."""
    job, classes, count = ranked.job, ranked.classes, len(answers)
    usd, bits = ranked.candidates.usd, published_bits(job.cells, catalogs)
    older = [
        row(count + order)
        for order, number in enumerate(board)
        if classes[number] == ranking.AGED and usd[number] < usd[board[0]]
    ]
    has_next = len(board) > 1 and classes[board[1]] == ranking.QUALIFIES
    possible = int(np.count_nonzero(classes <= ranking.YIELDS))
    agreed = ranking.by_agreement(ranked.candidates, job)
    reasons = []
    for order, (number, several) in enumerate(answers.items()):
        otherwise = np.flatnonzero(_sold_otherwise(ranked, number, board))
        given = {
            "by-agreement": bool(np.broadcast_to(agreed, len(classes))[number]),
            "only": possible <= 1,
            "next": has_next,
            "older-price": bool(older),
            "old-price": ranked.has_old_price(number),
            "published-bits": bool(bits),
            "unpublished": _asks_unpublished(job),
            "budget": has_budget(job),
            "otherwise": bool(len(otherwise)),
        }
        names = tuple(several)
        reasons.append(
            Reasons(
                names,
                reason_codes(names, row(order), row(0), given, job),
                row(order),
                row(0),
                possible,
                bits,
                next=row(count + 1) if has_next else None,
                older=min(older, key=lambda older_row: older_row["usd"], default=None),
                otherwise=row(count + int(otherwise[0])) if len(otherwise) else None,
                rented=rented,
            )
        )
    return tuple(reasons)


def _asks_unpublished(job: Job) -> bool:
    """Whether a service may have narrower weights than anybody publishes, and makes none itself."""
    makes = job.quantize_own == "yes" or job.trains or "precision" in job.fixed
    return not makes and job.least_bits < 16 and not job.narrow_formats[job.least_bits]


def _sold_otherwise(ranked: Ranking, number: int, board: np.ndarray) -> np.ndarray:
    """Which board rows rent the candidate's type on demand instead of in a block, or reverse."""
    places, markets = (
        ranked.candidates.place_number,
        np.array(ranked.job.markets)[ranked.candidates.market_number],
    )
    other = [{markets[number], market} == {*USUAL_MARKETS} for market in markets[board]]
    return (places[board] == places[number]) & (ranked.classes[board] <= ranking.YIELDS) & other


def _refusal(
    cells: Row, job: Job | None, problem: Problem, tried: int, rented: Rented | None
) -> Options:
    """The one row of a job without a plan."""
    frame, edge = _problem_alone(tried, problem.code)
    return Options(
        dict(cells),
        job,
        frame,
        frame,
        edge,
        tried,
        0,
        records(frame),
        (),
        ((), ()),
        problem,
        rented,
    )


@lru_cache(maxsize=64)
def _problem_alone(tried: int, code: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Its table, and a frontier without a point: many jobs fail for the same reason."""
    head: Columns = dict.fromkeys(ANSWER_COLUMNS, np.nan) | dict.fromkeys(CODE_COLUMNS, "")
    head |= {"tried": tried, "possible": 0, "problem": "", "problem_code": code}
    return Results(COLUMNS, WORDS, 1).plain(**head), pd.DataFrame(columns=EDGE_COLUMNS)
