"""The search: all candidates of jobs, with their verdicts, time and cost.

Memory depends on the layout, time on the layout and the instance type, and the price on the
instance type, the region and the market. Each formula runs at its own level
(calc/layout_place_table.py). Of candidates that differ only in their region, the cheapest one
counts, and if its price is stale, also the cheapest one whose price is not.

Jobs about the same work may differ in what they fix, allow or limit. They go through the formulas
together, because a formula takes about as long for one value as for a thousand.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import not_covered, resolved_table
from calc.engine.stages import EMPTY, walk
from calc.evaluate import Columns
from calc.job.columns import LIMITS
from calc.job.job import Job
from calc.layout_place_table import ONE, PAIR, LayoutPlaceTable
from calc.memory.fit import VERDICT
from calc.say.remarks.text import remark_text
from calc.scenarios.problems import Problems
from calc.scenarios.read import known_inputs
from calc.search.batch_for_rate import with_batches
from calc.search.candidates import Candidates
from calc.search.candidates_on_offers import add_time_of_candidates, candidates_on_offers
from calc.search.grid import Grid
from calc.search.needless_batches import without_needless_batches
from calc.search.needless_recompute import alike_but_recompute, needs_recompute
from calc.search.pairs import (
    ENGINE_OF_CARD,
    LAYOUT_STAGES,
    PAIRS_AT_ONCE,
    POOL,
    able_pairs,
    by_pair,
    keep_fitting,
    pair_table_of,
)
from calc.search.pareto_front import on_the_front
from calc.search.places import place_columns
from calc.search.ranking import possible_candidates
from calc.search.shared_grid import GridMember, SharedGrid, shared_grid
from calc.speed.cache_slots import POOL_READS
from calc.table import Table

# What jobs about the same work may differ in: no formula above `candidates_of` reads it.
OPEN = {
    "job",
    "fixed",
    "regions",
    "markets",
    "users",
    "people",
    "instances_most",
    "step_tokens",
    "requests_per_second",
    "step_factor",
    "fewest_bits",
    "quantize_own",
    "formats",
    "narrow_formats",
    "published_precision",
    "admits",
    "answers",
    "obtainable",
    "confidence",
    "judged",
    *LIMITS,
}


class SearchResult(NamedTuple):
    """The candidates of a grid, how many were tried, and the fault that all of them share.

    `smallest_bytes`: the least memory of a layout if none fits; else NaN.
    """

    grid: Grid
    candidates: Candidates
    tried: int
    smallest_bytes: float
    problem: str

    @property
    def size(self) -> int:
        """The number of candidates."""
        return len(self.candidates)


def work_key(job: Job, grid: Grid) -> tuple[str, ...]:
    """Return what jobs must have in common to be searched together."""
    common = [
        f"{field.name}={getattr(job, field.name)!r}"
        for field in fields(job)
        if field.name not in OPEN
    ]
    return (f"has_rate={bool(job.requests_per_second)}", *common, *grid.layouts)


def search(
    grids: Sequence[Grid],
    jobs: Sequence[Job],
    catalogs: Catalogs,
    only_possible: Sequence[bool] = (),
) -> list[SearchResult]:
    """Return the candidates of each job that fit on their cards and are not refused.

    `grids`: of each job. All jobs have the same `work_key`. The layout and place numbers of a
    candidate are those of the grid that is returned with it. `only_possible`: of each job, whether
    candidates that exceed its limits or are not certain to run are left out; all stay if empty.
    """
    only_possible = only_possible or [False] * len(jobs)
    shared = shared_grid(grids, jobs, catalogs)
    table, problems = layouts_table(shared.grid, jobs[0], catalogs)
    results = [
        SearchResult(one.own_grid, Candidates.none(), one.tried, np.nan, one.shared_fault(problems))
        for one in shared.members
    ]
    if not problems.sound.any():
        return results
    cards = place_columns(shared.grid.places, catalogs)
    if jobs[0].requests_per_second:
        pools = _pools(shared, table, cards, problems, catalogs)
        shared = _at_rate(shared, table, cards, pools)
        table, problems = layouts_table(shared.grid, jobs[0], catalogs)
    shared = without_needless_batches(shared, cards, table, problems, catalogs)
    positions = [one.own_positions for one in shared.members]
    pair_table, positions = able_pairs(
        shared.grid, cards, table, problems.sound, positions, catalogs
    )
    shared = shared.at_positions(positions)
    results = [
        _with_reason(result, _pairs_of(one, pair_table), pair_table, table, catalogs)
        for result, one in zip(results, shared.members, strict=True)
    ]
    return _with_candidates(results, shared, pair_table, only_possible)


def _pairs_of(one: GridMember, pair_table: LayoutPlaceTable) -> np.ndarray:
    """The numbers of the pairs that a job tries."""
    return np.flatnonzero(one.own_positions[by_pair(pair_table, "pair_number")] >= 0)


def _pools(
    shared: SharedGrid, table: Table, cards: Columns, problems: Problems, catalogs: Catalogs
) -> np.ndarray:
    """Tokens of the cache of each pair, which conversations of several turns fill; else NaN.

    They are those of a layout with one sequence: the batch that a rate needs is not known yet.
    """
    grid = shared.grid
    pools = np.full(len(grid.layout_of_pair), np.nan)
    if not np.any(table["turns"] > 1):
        return pools
    able, _ = able_pairs(grid, cards, table | {}, problems.sound, [np.arange(len(pools))], catalogs)
    with np.errstate(divide="ignore", invalid="ignore"):
        able.evaluate_all((*VERDICT, *POOL))
    pools[by_pair(able, "pair_number")] = by_pair(able, "distinct_pool_tokens")
    return pools


def _at_rate(shared: SharedGrid, table: Table, cards: Columns, pools: np.ndarray) -> SharedGrid:
    """The jobs with a layout for each batch that their rate of requests needs."""
    pair_table = pair_table_of(walk(table | {}, LAYOUT_STAGES), cards, shared.grid)
    pair_table.evaluate_all(ENGINE_OF_CARD)
    # Nobody waits for a slot where all that are needed must fit.
    for name in POOL_READS:
        pair_table.set(name, ONE, EMPTY)
    pair_table.set("distinct_pool_tokens", PAIR, pools)
    rates = shared.requests_per_second[shared.grid.layout_of_pair]
    return shared._replace(grid=with_batches(shared.grid, pair_table, rates, shared.members[0].job))


def _with_reason(
    result: SearchResult,
    pairs: np.ndarray,
    pair_table: LayoutPlaceTable,
    table: Table,
    catalogs: Catalogs,
) -> SearchResult:
    """A result with the least memory of its layouts, or with the reason why none is known."""
    if not len(pairs):
        return result
    memory_bytes = by_pair(pair_table, "memory_bytes")[pairs]
    if np.isnan(memory_bytes).all():
        layout = int(by_pair(pair_table, "row_number")[pairs[0]])
        return result._replace(problem=remark_text(not_covered(table, layout, catalogs)))
    return result._replace(smallest_bytes=float(np.nanmin(memory_bytes)))


def _with_candidates(
    results: list[SearchResult],
    shared: SharedGrid,
    pair_table: LayoutPlaceTable,
    only_possible: Sequence[bool],
) -> list[SearchResult]:
    """The results with the candidates of each job; one that fits nowhere keeps its least memory."""
    members = shared.members
    positions = [one.own_positions for one in members]
    alike = alike_but_recompute(shared.grid, [one.job for one in members])
    parts: list[list[Candidates]] = [[] for _ in members]
    fits = [False for _ in members]
    for part in pair_table.parts(PAIRS_AT_ONCE) if len(pair_table.layout_of_pair) else ():
        holding = keep_fitting(part)
        part.keep(np.flatnonzero(needs_recompute(part, shared.grid, alike, positions)))
        add_time_of_candidates(part, shared.grid, members[0].job)
        for number, one in enumerate(members):
            fits[number] |= bool((one.own_positions[holding] >= 0).any())
            pairs = _pairs_of(one, part)
            if len(pairs):
                alone = part if len(pairs) == len(part.layout_of_pair) else part.only(pairs)
                several = candidates_on_offers(alone, one.offers, one.job)
                if one.job.trains:
                    several = [on_the_front(candidates, one.job) for candidates in several]
                if only_possible[number]:
                    several = [possible_candidates(candidates, one.job) for candidates in several]
                parts[number] += [one.own_candidates(candidates) for candidates in several]
    return [
        result._replace(
            grid=shared.grid._replace(places=result.grid.places),
            candidates=_joined(several, one.job),
            smallest_bytes=np.nan if fit else result.smallest_bytes,
        )
        for result, one, several, fit in zip(results, members, parts, fits, strict=True)
    ]


def _joined(parts: list[Candidates], job: Job) -> Candidates:
    """The candidates of all parts; of a training those on the front of all."""
    candidates = Candidates.joined(parts)
    return on_the_front(candidates, job) if job.trains else candidates


def layouts_table(grid: Grid, job: Job, catalogs: Catalogs) -> tuple[Table, Problems]:
    """Return the table of all layouts with their catalogs, and what is wrong with each."""
    count = grid.layout_count
    problems = Problems(count)
    inputs = inputs_of(job, grid.layouts | {"rows": count, "row_number": np.arange(count)})
    return resolved_table(inputs, catalogs, problems), problems


def inputs_of(job: Job, columns: Columns) -> Columns:
    """The inputs (scenarios.read) of scenarios with these columns; the job sets the others."""
    of_work = "train_tokens" if job.work == "training" else "tokens_total"
    names = ("work", "model", "sequence_tokens", "prompt_tokens", "hours_per_month", of_work)
    running = {"start_seconds": 0.0} if job.have else {}  # machines that are there run already
    set_by_job = {name: value for name in names if (value := getattr(job, name)) is not None}
    row = set_by_job | running | job.assumed
    row |= {
        "tuning": "full" if job.method == "full" else "lora",
        "implementation": job.implementation,
    }
    return known_inputs(row, columns)
