"""The one ranked table of a job: answers, board and frontier, for screen and CSV."""

from collections.abc import Mapping
from functools import lru_cache
from threading import BoundedSemaphore
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.kept import kept, last_few
from calc.catalogs.load import Catalogs
from calc.cost.markets import USUAL_MARKETS
from calc.engine.pipeline import COLUMNS, WORDS, estimate
from calc.engine.results import Results
from calc.evaluate import Row
from calc.plan.figures import records
from calc.rules.support import RUNS
from calc.say.place import card_name, place
from calc.search import limit_words, ranking, sentences
from calc.search.arrangements import COUNTS
from calc.search.being_wrong import SURE
from calc.search.combinations import FITS, Combinations, combinations
from calc.search.grid import grid
from calc.search.inputs import ANSWER_COLUMNS
from calc.search.job_row import JobError, JobRow
from calc.search.limits_cost import Easing, alternatives, easings, rivals
from calc.search.named import answers as answers_of
from calc.search.named import has_budget, least_money
from calc.search.places import place_columns, places_of
from calc.search.ranking import Ranking
from calc.search.rows import (
    EDGE_COLUMNS,
    best_of_places,
    inputs_of_candidates,
    money_and_place,
    rows_of,
)
from calc.search.settle import DERIVED, published_bits, settled, varied
from calc.table import Words
from calc.units import GIB

KEPT_JOBS, KEPT_COMBINATIONS = 64, 4
AT_ONCE = BoundedSemaphore(
    2
)  # a crowded server needs the memory of two jobs' candidates, not of every visitor's
NEAREST = "nearest"
WIDER = 8  # times as many instances, where nothing fits in those allowed


class Options(NamedTuple):
    """What a job can be done with; the board starts with the first answer.

    `eased`: what looser limits would save, behind the text limits_cost; `ways`: other ways to pay.
    """

    job: dict[str, Any]
    answers: pd.DataFrame
    board: pd.DataFrame
    edge: pd.DataFrame
    tried: int
    possible: int
    problem: str
    rows: list[dict[str, Any]]
    eased: list[Easing]
    ways: dict[str, Any]

    def copied(self) -> "Options":
        """The same, of which the caller may change tables and rows."""
        copies = {
            name: getattr(self, name).copy(deep=False) for name in ("answers", "board", "edge")
        }
        return self._replace(**copies, rows=[dict(row) for row in self.rows])


def options(job: Mapping[str, Any], catalogs: Catalogs) -> Options:
    """The answers of a job, its board (the best of every instance type), and the frontier.

    A column of the job with a list of values is compared: the board has the best of every instance
    type and value.
    """
    remembered: Options = _remembered(catalogs)(JobRow.of(job))
    return remembered.copied()


@kept("models", "readings")
def _remembered(catalogs: Catalogs) -> Any:
    """The options of the last jobs of these catalogs."""
    return last_few(KEPT_JOBS, lambda row: options_of(row, catalogs))


@kept("models", "readings")
def _combined(catalogs: Catalogs) -> Any:
    """The last places and candidates: a job that differs in a limit alone has the same."""
    return lru_cache(maxsize=KEPT_COMBINATIONS)(
        lambda row, factor: _combinations_of(row, factor, catalogs)
    )


@kept("models", "readings")
def _settled(catalogs: Catalogs) -> Any:
    """The last jobs settled, for what ranks a job and for what makes its candidates."""
    return lru_cache(maxsize=KEPT_COMBINATIONS)(lambda row: settled(row.columns, catalogs))


def options_of(row: JobRow, catalogs: Catalogs) -> Options:
    """The options of a job, ranked anew."""
    try:
        ranked, combined = _ranked(row, catalogs)
    except JobError as error:
        return _refused(row.columns, str(error), 0)
    if ranked is None:
        job = _settled(catalogs)(row)
        problem = combined.problem or nothing_near(job, combined, catalogs) + _rented(row, catalogs)
        return _refused(plain_job(job), problem, combined.tried)
    return _options(row, ranked, combined.tried, catalogs)


def on_several_instances(job: Mapping[str, Any], catalogs: Catalogs) -> Options:
    """The options of a job among those on two or more instances."""
    row = JobRow.of(job)
    try:
        ranked, combined = _ranked(row, catalogs)
    except JobError:
        ranked = None
    if ranked is None:
        return options(job, catalogs)
    classes = np.where(
        ranked.candidates["instances"] > 1,
        ranked.classes,
        np.maximum(ranked.classes, ranking.OUTSIDE),
    )
    return _options(row, ranked._replace(classes=classes), combined.tried, catalogs)


def _ranked(
    row: JobRow, catalogs: Catalogs, factors: tuple[int, ...] = (1, WIDER)
) -> tuple[Ranking | None, Combinations]:
    """The ranking of a job's candidates, None where it has none; and its candidates.

    `factors`: times as many instances as allowed, tried in turn until something fits.
    """
    job = _settled(catalogs)(row)
    for factor in factors[:1] if job["have"] else factors:
        combined = _combined(catalogs)(row.without(ranking.SORTING), factor)
        if combined.problem or combined.size:
            break
    if combined.problem or not combined.size:
        return None, combined
    return ranking.ranking(combined.candidates, combined.grid, job, combined.crossed), combined


def ranking_of(row: JobRow, catalogs: Catalogs) -> Ranking | None:
    """The ranking of another job on the instances that it allows; None where nothing fits."""
    try:
        return _ranked(row, catalogs, (1,))[0]
    except JobError:
        return None


def first_row(job: Mapping[str, Any], catalogs: Catalogs) -> dict[str, Any] | None:
    """The row of a job's first answer without its reasons; None where nothing qualifies."""
    ranked = ranking_of(JobRow.of(job), catalogs)
    if ranked is None or not len(ranked.qualifying):
        return None
    name, number = next(iter(answers_of(ranked).items()))
    results, figures = rows_of(ranked, np.array([number]), catalogs)
    return (
        results.row(0)
        | {column: values[0] for column, values in figures.items()}
        | {"answer": name}
    )


def sound_layouts(job: Mapping[str, Any], catalogs: Catalogs) -> list[Row]:
    """Inputs of the board's rows that are known to run and keep every limit."""
    ranked = ranking_of(JobRow.of(job), catalogs)
    if ranked is None:
        return []
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


def _rented(row: JobRow, catalogs: Catalogs) -> str:
    """What renting would add to a job on machines that one has, as one more sentence."""
    if "have" not in row.columns:
        return ""
    rented = options(row.without(["have"]).columns, catalogs)
    return f" {sentences.rented(rented.rows[0], rented.problem)}"


def _combinations_of(row: JobRow, factor: int, catalogs: Catalogs) -> Combinations:
    """All candidates of a job on so many times as many instances as it allows."""
    job = _settled(catalogs)(row)
    with AT_ONCE:
        return combinations(grid(job, places_of(job, catalogs, factor), catalogs), job, catalogs)


def _options(row_of_job: JobRow, ranked: Ranking, tried: int, catalogs: Catalogs) -> Options:
    """Answers, board and frontier among ranked candidates."""
    job, classes, usd, qualifying = (
        ranked.job,
        ranked.classes,
        ranked.candidates["usd"],
        ranked.qualifying,
    )
    answers: dict[int, list[str]] = {}
    for name, number in (
        answers_of(ranked) if len(qualifying) else {NEAREST: ranking.nearest(ranked)}
    ).items():
        answers.setdefault(number, []).append(name)
    first, count = next(iter(answers)), len(answers)
    board = best_of_places(ranked, varied(job), first)
    results, figures = rows_of(ranked, np.array([*answers, *board]), catalogs)

    def row(number: int) -> dict[str, Any]:
        return results.row(number) | {name: values[number] for name, values in figures.items()}

    possible = int(np.count_nonzero(classes <= ranking.YIELDS))
    older = [
        count + order
        for order, number in enumerate(board)
        if classes[number] == ranking.AGED and usd[number] < usd[board[0]]
    ]
    eased: list[Easing] = []
    alike: dict[str, float] = {}
    if len(qualifying) and not job["have"]:
        eased = easings(
            row_of_job, ranked, first, lambda other: ranking_of(other, catalogs), catalogs
        )
        alike = rivals(ranked, first, catalogs)
    facts = {
        "possible": possible,
        "budget": has_budget(job),
        "rivals": alike,
        "least": row(0),
        "next": row(count + 1)
        if len(board) > 1 and classes[board[1]] == ranking.QUALIFIES
        else None,
        "published_bits": published_bits(job, catalogs),
        "older": min(map(row, older), key=lambda older_row: older_row["usd"], default=None),
    }
    why = []
    for order, (number, names) in enumerate(answers.items()):
        otherwise = [
            count + other for other in np.flatnonzero(_sold_otherwise(ranked, number, board))[:1]
        ]
        yields = {"brief": ranking.is_brief, "by_agreement": ranking.by_agreement}
        facts |= {name: bool(soft(ranked.candidates, job)[number]) for name, soft in yields.items()}
        facts |= {"otherwise": row(otherwise[0]) if otherwise else None}
        why.append(
            sentences.why(names, row(order), facts, job, catalogs) + _rented(row_of_job, catalogs)
        )
    ways = alternatives(row(0), job, eased, catalogs) if len(qualifying) and not job["have"] else {}
    why[0] += sentences.other_ways(ways, row(0), catalogs)
    names = ["+".join(several) for several in answers.values()]
    problem = "" if len(qualifying) else in_the_way(ranked, first, row(0))
    of_least = {
        "limits_cost": limit_words.limits_cost(eased, row(0), job, catalogs),
        "rivals": "+".join(alike),
    }
    rest = [""] * (len(board) - 1)
    head = figures | {
        "answer": [*names, names[0], *rest],
        "why": [*why, why[0], *rest],
        "tried": tried,
        "possible": possible,
    }
    head |= {name: [text, *[""] * (count - 1), text, *rest] for name, text in of_least.items()}
    head |= {"problem": [problem] * (count + 1) + rest}
    table = results.plain(
        **{name: head[name] for name in (*ANSWER_COLUMNS, "obtainable", "problem")}
    )
    shown, below = (
        table.iloc[:count].reset_index(drop=True),
        table.iloc[count:].reset_index(drop=True),
    )
    on_edge = ranking.frontier(ranked.candidates, qualifying)
    edge = money_and_place(
        ranked, on_edge[:0] if job["have"] else on_edge
    )  # without a price there is none
    return Options(
        plain_job(job), shown, below, edge, tried, possible, problem, records(shown), eased, ways
    )


def _sold_otherwise(ranked: Ranking, number: int, board: np.ndarray) -> np.ndarray:
    """Which board rows rent the candidate's type on demand instead of in a block, or reverse."""
    places, markets = (
        ranked.candidates["place"],
        np.array(ranked.job["markets"])[ranked.candidates["market"]],
    )
    other = [{markets[number], market} == {*USUAL_MARKETS} for market in markets[board]]
    return (places[board] == places[number]) & (ranked.classes[board] <= ranking.YIELDS) & other


def in_the_way(ranked: Ranking, number: int, row: dict[str, Any]) -> str:
    """What is in the way of the nearest candidate, and what to do."""
    where = f"the nearest plan, {place(row)},"
    if row["misses"]:
        name = max(ranked.limits, key=lambda limit: limit.excess[number]).name
        return f"Nothing keeps every limit: {where} {row['misses']}; {sentences.MISSED[name][2]}."
    tight = (
        "is tight and may run out of memory"
        if row["fit_probability"] < SURE
        else "fits only after the allocator's cache is returned"
    )
    against = [] if ranked.candidates["fits"][number] == FITS.index("yes") else [tight]
    if ranked.classes[number] > ranking.TIGHT:
        runs = {"emulated": "runs only by emulation", "unknown": "is not known to run"}.get(
            row["runs"], "has no known speed"
        )
        against.append(runs)
    problem = (
        f"Nothing known to run surely fits: {where} {' and '.join(against)}; try it before you "
        f"rely on it."
    )
    return f"{problem[:-1]}: {row['note']}" if row["note"] else problem


def nothing_near(job: dict[str, Any], combined: Combinations, catalogs: Catalogs) -> str:
    """The smallest memory against the largest card, or the problem that all rows share."""
    places = combined.grid.places
    if np.isnan(combined.smallest_bytes):
        fixed = {name: values[0] for name, values in job["fixed"].items()}
        degrees = int(np.prod([fixed.get(name, 1) for name in COUNTS[1:4]]))
        largest = max(places, key=lambda place: place.gpus)
        scenario = (
            {name: job[name] for name in ("work", "model", "implementation", "sequence_tokens")}
            | {"gpus": degrees}
            | fixed
        )
        row = estimate(
            scenario | {"instance": largest.instance, "gpu": largest.gpu}, catalogs, False
        )
        return (
            str(row["problem"])
            or f"Nothing runs so on the instances allowed: {row['note']}".strip()
        )
    sizes = place_columns(places, catalogs)["gpu_memory_bytes"]
    largest, card_bytes = places[int(np.argmax(sizes))], np.max(sizes)
    card = card_name(largest.gpu or catalogs.instances["gpu"][largest.instance], catalogs)
    reserve = "" if combined.smallest_bytes > card_bytes else ", some of which must stay free"
    nothing, allowed = (
        ("Nothing that you have", "that you have")
        if job["have"]
        else ("Nothing allowed", "allowed")
    )
    cure = sentences.smaller(job, published_bits(job, catalogs), combined.smallest_bytes, catalogs)
    return (
        f"{nothing} is large enough: the smallest arrangement takes "
        f"{combined.smallest_bytes / GIB:,.1f} GiB on each GPU, and the "
        f"largest card {allowed}, {card}, has {card_bytes / GIB:,.1f}{reserve}; {cure}."
    )


def plain_job(job: dict[str, Any]) -> dict[str, Any]:
    """The settled job as a row: job columns, and scenario columns that it fixes."""
    fixed = {
        name: values[0] if len(values) == 1 else values for name, values in job["fixed"].items()
    }
    plain = {name: value for name, value in job.items() if name not in DERIVED}
    plain |= (
        {"have": " + ".join(f"{count} x {name}" for name, count in job["have"].items())}
        if job["have"]
        else {}
    )
    return (
        plain
        | {name: "+".join(job[name]) for name in ("regions", "markets", "admits", "answers")}
        | job["assumed"]
        | fixed
    )


def _refused(job: dict[str, Any], problem: str, tried: int) -> Options:
    """The one row of a job without a plan: its problem alone."""
    frame, edge = _problem_alone(tried, problem)
    return Options(dict(job), frame, frame, edge, tried, 0, problem, records(frame), [], {})


@lru_cache(maxsize=64)
def _problem_alone(tried: int, problem: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Its table, and a frontier without a point: many jobs fail for the same reason."""
    words = ("answer", "market", "why", "misses", "limits_cost", "rivals")
    head: dict[str, Any] = dict.fromkeys(ANSWER_COLUMNS, np.nan) | dict.fromkeys(words, "")
    head |= {"tried": tried, "possible": 0, "problem": problem}
    return Results(COLUMNS, WORDS, 1).plain(**head), pd.DataFrame(columns=EDGE_COLUMNS)
