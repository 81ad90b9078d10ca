"""The answer to one job in full: its options, what its limits cost, and everything in words."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any

import pandas as pd

from calc.catalogs.caches import cached_per_catalogs, last_few
from calc.catalogs.load import Catalogs
from calc.job.cells import JobError, JobRow
from calc.mappings import Cells
from calc.plan.figures import records
from calc.say.answer import rented_words, why
from calc.say.limits import limits_cost_text
from calc.say.other_ways import other_ways, untimed_words
from calc.say.problem import misses_text, problem_text
from calc.say.ways_out import out_words, ways_out_text
from calc.search.board import cheapest_without_time
from calc.search.first_rows import row_of_ranking
from calc.search.options import KEPT_JOBS, Options, options
from calc.search.ranking import Ranking
from calc.search.rankings import ranked_candidates, rankings_beside, resolved_job
from calc.studies.alternatives import Alternatives, alternatives, near_regions, rivals
from calc.studies.limits_cost import (
    Relaxation,
    Relaxed,
    relaxations,
    relaxed_by,
    relaxed_limits,
)
from calc.studies.ways_out import WayOut, ways_out

NO_ALTERNATIVES = Alternatives()


@dataclass(frozen=True, eq=False)
class Answer(Options):
    """The options of a job with their text columns, and alternatives to the first answer.

    `relaxed`: what looser limits would save, behind the text limits_cost; `ways`: other ways to
    pay; `outs`: changes after which a job without an answer has one; `problem`: the obstacle in
    words, empty without one.
    """

    relaxed: tuple[Relaxed, ...] = ()
    ways: Alternatives = NO_ALTERNATIVES
    outs: tuple[WayOut, ...] = ()
    problem: str = ""


def full_answer(job: Cells, catalogs: Catalogs) -> Answer:
    """Return the options of a job with every text column filled."""
    recent: Answer = _recent_answers(catalogs)(JobRow.of(job))
    copy = recent.copied()
    assert isinstance(copy, Answer)
    return copy


@cached_per_catalogs("models", "readings")
def _recent_answers(catalogs: Catalogs) -> Any:
    """The answers to the last jobs of these catalogs."""
    return last_few(KEPT_JOBS, lambda row: _answer(row, catalogs))


def _answer(row: JobRow, catalogs: Catalogs) -> Answer:
    """Answer a job: its options, what each limit costs, other ways to pay, and ways out."""
    several, others = _relaxed_rankings(row, catalogs)
    result = options(row.columns, catalogs)
    relaxed: list[Relaxed] = []
    near: dict[str, float] = {}
    ways = NO_ALTERNATIVES
    job = result.resolved
    if job is not None and not result.obstacle and not job.have:
        ranking, _ = ranked_candidates(row, catalogs)
        assert ranking is not None, "a job without an obstacle has candidates"
        first, there = result.first, None
        near = rivals(ranking, first, catalogs)
        steps: list[list[Relaxed]] = [[] for _ in several]
        for number, other in others:
            if number < len(several):
                steps[number] = relaxed_by(several[number], other, ranking, first, catalogs)
            else:
                there = row_of_ranking(other, catalogs)
        relaxed = relaxed_limits(row.columns, ranking, first, [*chain(*steps)], catalogs)
        ways = alternatives(result.rows[0], job, there, relaxed, catalogs)
    outs: tuple[WayOut, ...] = ()
    if job is not None and result.obstacle:
        outs = ways_out(row.columns, job, result.obstacle, catalogs)
    fields_of_result = {field.name: getattr(result, field.name) for field in fields(result)}
    return _in_words(
        Answer(**fields_of_result, relaxed=tuple(relaxed), ways=ways, outs=outs), near, catalogs
    )


def _relaxed_rankings(
    row: JobRow, catalogs: Catalogs
) -> tuple[list[Relaxation], Iterator[tuple[int, Ranking]]]:
    """Return the relaxations of a job, and the rankings of the jobs that they make of it.

    The last ranking is that of the job in near regions, if it has any. All are searched together
    with the job itself.
    """
    try:
        job = resolved_job(row, catalogs)
    except JobError:
        return [], iter(())
    if job.have:
        return [], iter(())
    several = list(relaxations(job, catalogs))
    near = near_regions(job, catalogs)
    changes = [one.changes for one in several]
    changes += [{"regions": "+".join(near)}] if near else []
    jobs = [{**row.columns, **change} for change in changes]
    return several, rankings_beside(row, jobs, catalogs)


def _in_words(answer: Answer, near: dict[str, float], catalogs: Catalogs) -> Answer:
    """The answer with the text columns of its tables filled."""
    job = answer.resolved
    first = answer.rows[0]
    count = len(answer.answers)
    rental_words = rented_words(answer.rented)
    problem = ""
    if answer.obstacle:
        problem = problem_text(answer.obstacle, job, catalogs)
        problem += out_words(answer.outs, catalogs)
        problem += "" if answer.reasons else rental_words
    sentences = [""] * count
    misses = [""] * len(answer.misses)
    limits_cost = ""
    if job is not None and answer.reasons:
        sentences = [why(one, near, job, catalogs) + rental_words for one in answer.reasons]
        sentences[0] += other_ways(answer.ways, first, catalogs)
        if not answer.obstacle:
            sentences[0] += untimed_words(cheapest_without_time(answer.board, job))
        misses = [misses_text(several, job) for several in answer.misses]
        limits_cost = limits_cost_text(list(answer.relaxed), first, answer.job, catalogs)
    limits_cost = limits_cost or ways_out_text(answer.outs, catalogs)
    of_first = {"limits_cost": limits_cost, "rivals": "+".join(near)}
    answers_table = _text_table(answer.answers, why=sentences, misses=misses[:count], **of_first)
    answers_table["problem"] = problem
    board = _text_table(answer.board, why=sentences[:1], misses=misses[count:], **of_first)
    board["problem"] = [problem, *[""] * (len(board) - 1)]
    return replace(
        answer, answers=answers_table, board=board, rows=records(answers_table), problem=problem
    )


def _text_table(table: pd.DataFrame, **texts: Any) -> pd.DataFrame:
    """Return a table with text columns; a single text is in the first row alone."""
    columns = {}
    for name, values in texts.items():
        several = [values] if isinstance(values, str) else list(values)
        columns[name] = [*several, *[""] * (len(table) - len(several))]
    return table.assign(
        **{
            name: pd.Series(values, index=table.index, dtype=object)
            for name, values in columns.items()
        }
    )
