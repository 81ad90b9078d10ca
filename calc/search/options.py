"""The one ranked table of a job, which heading, cards, board and CSV read: answers, board, frontier."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from calc.catalogs.kept import kept, last_few
from calc.catalogs.load import Catalogs
from calc.engine.pipeline import COLUMNS, WORDS, estimate
from calc.engine.results import Results
from calc.plan.figures import records
from calc.say.place import card_name, place
from calc.search import ranking, sentences
from calc.search.combinations import FITS, Combinations, combinations
from calc.search.grid import COUNTS, grid
from calc.search.inputs import ANSWER_COLUMNS
from calc.search.places import Place, places_of
from calc.search.rows import best_of_places, edge_of, plain_ranks, rows_of
from calc.search.settle import DERIVED, JobError, blank, published_bits, settled
from calc.search.tokens import tokens_each
from calc.units import GIB

KEPT_JOBS, KEPT_COMBINATIONS = 64, 4
NEAREST = "nearest"
WIDER = 8  # times as many instances, where nothing fits in those allowed


class Options(NamedTuple):
    """What a job can be done with: `board.iloc[0]` is `answers.iloc[0]`; `rows` are the answers as dicts."""

    job: dict[str, Any]
    answers: pd.DataFrame
    board: pd.DataFrame
    edge: pd.DataFrame
    tried: int
    possible: int
    problem: str
    rows: list[dict[str, Any]]


def options(job: Mapping[str, Any], catalogs: Catalogs) -> Options:
    """The answers of one job, the best arrangement of every instance type, and the frontier of money against time.

    A column of the job with a list of values is compared: the board has the best of every instance type and value.
    """
    plain = {str(name): _plain(value) for name, value in job.items() if not blank(value)}
    found: Options = _remembered(catalogs)(json.dumps(plain, sort_keys=True, default=str))
    copies = {name: getattr(found, name).copy(deep=False) for name in ("answers", "board", "edge")}
    return found._replace(**copies, rows=[dict(row) for row in found.rows])


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else [_plain(each) for each in value] if isinstance(value, list | tuple) else value


@kept("models")
def _remembered(catalogs: Catalogs) -> Any:
    """The last jobs asked of these catalogs, with their options."""
    return last_few(KEPT_JOBS, lambda text: options_of(json.loads(text), catalogs))


@kept("models")
def _combined(catalogs: Catalogs) -> Any:
    """The last places and combinations: a job that differs in a limit alone has the same."""
    return lru_cache(maxsize=KEPT_COMBINATIONS)(lambda text: _combinations_of(json.loads(text), catalogs))


def options_of(job: dict[str, Any], catalogs: Catalogs) -> Options:
    """The options of a job, ranked anew."""
    unlimited = {name: value for name, value in job.items() if name not in ranking.LIMITS}
    try:
        whole = settled(job, catalogs)
        places, found = _combined(catalogs)(json.dumps(unlimited, sort_keys=True, default=str))
    except JobError as error:
        return _refused(job, str(error), 0)
    if found.problem or not found.ways or not len(found.ways["usd"]):
        return _refused(job, found.problem or _nothing_near(whole, places, found, catalogs), found.tried)
    return _chosen(whole, places, found, catalogs)


def _combinations_of(job: dict[str, Any], catalogs: Catalogs) -> tuple[list[Place], Combinations]:
    """The places that a job allows and all combinations there; with more instances than it allows where none fits."""
    whole = settled(job, catalogs)
    each = tokens_each(whole, catalogs)
    for factor in (1, WIDER):
        places = places_of(whole, catalogs, factor)
        found = combinations(grid(whole, places, each), places, whole, catalogs)
        if found.problem or (found.ways and len(found.ways["usd"])):
            break
    return places, found


def _chosen(whole: dict[str, Any], places: list[Place], found: Combinations, catalogs: Catalogs) -> Options:
    """Answers, board and frontier among the combinations."""
    ways, tried = found.ways, found.grid
    limits = ranking.limits(ways, whole)
    verdict = ranking.classes(ways, limits, whole["markets"])
    ties = ranking.plainness(ways, whole, plain_ranks(tried, places, ways))
    qualify = np.flatnonzero(verdict == ranking.QUALIFIES)
    budget = whole["usd_most"] is not None or whole["usd_per_hour_most"] is not None
    picks = ranking.three(ways, qualify, ties, budget) if len(qualify) else {NEAREST: ranking.nearest(ways, verdict, limits, ties)}
    names: dict[int, list[str]] = {}
    for name, number in picks.items():
        names.setdefault(number, []).append(name)
    board = best_of_places(whole, tried, ways, verdict, limits, ties, next(iter(names)))
    results, beside = rows_of(whole, tried, places, ways, np.array([*names, *board]), limits, catalogs)

    def row(at: int) -> dict[str, Any]:
        return results.row(at) | {name: values[at] for name, values in beside.items()}

    following = row(len(names) + 1) if len(board) > 1 and verdict[board[1]] == ranking.QUALIFIES else None
    older = [len(names) + at for at, way in enumerate(board) if verdict[way] == ranking.AGED and ways["usd"][way] < ways["usd"][board[0]]]
    possible = int(np.count_nonzero(verdict <= ranking.AGED))
    facts = {"possible": possible, "budget": budget, "least": row(0), "next": following}
    facts["published_bits"] = published_bits(whole, catalogs)
    facts["older"] = min(map(row, older), key=lambda each: each["usd"]) if older else None
    said = [sentences.why(names[number], row(at), facts, whole, catalogs) for at, number in enumerate(names)]
    problem = "" if len(qualify) else _way_off(picks[NEAREST], row(0), ways, verdict, limits)
    rest = [""] * (len(board) - 1)
    named = ["+".join(each) for each in names.values()]
    head = {"answer": [*named, named[0], *rest], "why": [*said, said[0], *rest], "problem": [*([problem] * (len(names) + 1)), *rest]}
    head |= beside | {"tried": found.tried, "possible": possible}
    rows = results.plain(**{name: head[name] for name in (*ANSWER_COLUMNS, "problem")})
    answers, shown = rows.iloc[: len(names)].reset_index(drop=True), rows.iloc[len(names) :].reset_index(drop=True)
    edge = edge_of(whole, places, ways, ranking.frontier(ways, qualify))
    return Options(_told(whole), answers, shown, edge, found.tried, possible, problem, records(answers))


def _way_off(number: int, row: dict[str, Any], ways: dict, verdict: np.ndarray, limits: list[ranking.Limit]) -> str:
    """What is in the way of the nearest plan, and what to do."""
    where = f"the nearest plan, {place(row)},"
    if row["misses"]:
        name = max(limits, key=lambda limit: limit.excess[number]).name
        return f"Nothing keeps every limit: {where} {row['misses']}; {sentences.MISSED[name][2]}."
    against = [] if ways["fits"][number] == FITS.index("yes") else ["is tight and may run out of memory"]
    if verdict[number] > ranking.TIGHT:
        known = {"emulated": "runs only by emulation", "unknown": "is not known to run"}.get(row["runs"], "has no known speed")
        against.append(known)
    said = f"Nothing known to run fits over the whole range: {where} {' and '.join(against)}; try it before you rely on it."
    return f"{said[:-1]}: {row['note']}" if row["note"] else said


def _nothing_near(whole: dict[str, Any], places: list[Place], found: Combinations, catalogs: Catalogs) -> str:
    """The smallest memory against the largest card; where nothing could be laid out, what a row so set says."""
    names = list(dict.fromkeys(place.instance for place in places))
    if np.isnan(found.smallest_bytes):
        fixed = {name: values[0] for name, values in whole["fixed"].items()}
        degrees = int(np.prod([fixed.get(name, 1) for name in COUNTS[1:4]]))
        largest = catalogs.instances.loc[names, "gpus"].idxmax()
        asked = {name: whole[name] for name in ("work", "model", "implementation")} | {"gpus": degrees} | fixed
        row = estimate(asked | {"instance": largest}, catalogs, False)
        return str(row["problem"]) or f"Nothing runs so on the instances allowed: {row['note']}".strip()
    sizes = catalogs.instances.loc[names, "gpu_memory_bytes"]
    card, held = card_name(catalogs.instances["gpu"][sizes.idxmax()], catalogs), sizes.max()
    reserve = "" if found.smallest_bytes > held else ", some of which must stay free"
    return (
        f"Nothing allowed is large enough: the smallest arrangement takes {found.smallest_bytes / GIB:,.1f} GiB on each GPU, and the "
        f"largest card allowed, {card}, has {held / GIB:,.1f}{reserve}; {sentences.smaller(whole, published_bits(whole, catalogs))}."
    )


def _told(whole: dict[str, Any]) -> dict[str, Any]:
    """The settled job: every job column with its value, and the scenario columns that it fixes."""
    fixed = {name: values[0] if len(values) == 1 else values for name, values in whole["fixed"].items()}
    rest = {name: value for name, value in whole.items() if name not in DERIVED}
    return rest | {"regions": "+".join(whole["regions"]), "markets": "+".join(whole["markets"])} | whole["assumed"] | fixed


def _refused(job: dict[str, Any], problem: str, tried: int) -> Options:
    """The one row of a job that has no plan: its problem alone."""
    frame, edge = _problem_alone(str(job.get("model", "")), str(job.get("work", "training")), tried, problem)
    return Options(dict(job), frame, frame, edge, tried, 0, problem, records(frame))


@lru_cache(maxsize=64)
def _problem_alone(model: str, work: str, tried: int, problem: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Its table, and a frontier without a point: many a job fails for the same reason."""
    head: dict[str, Any] = dict.fromkeys(ANSWER_COLUMNS, np.nan) | dict.fromkeys(("answer", "market", "why", "misses"), "")
    head |= {"model": model, "work": work, "tried": tried, "possible": 0, "problem": problem}
    return Results(COLUMNS, WORDS, 1).plain(**head), edge_of({}, [], {}, np.empty(0, dtype=int))
