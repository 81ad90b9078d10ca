"""The wide search: a job whose settings are freed or listed, and what to show of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calc.catalogs.load import Catalogs
from calc.engine.pipeline import results_of
from calc.evaluate import Columns
from calc.search import ranking
from calc.search.arrangements import arrangements
from calc.search.combinations import combinations, inputs_of, merged
from calc.search.grid import Grid, grids
from calc.search.job_row import JobError, JobRow
from calc.search.options import in_the_way, nothing_near
from calc.search.places import places_of
from calc.search.ranking import Ranking
from calc.search.rows import best_of_places, inputs_of_candidates, money_and_place, rows_of, telling
from calc.search.settle import settled

PAIRS_OF_A_GRID = (
    2**18
)  # of layouts and places, so that a search of any size stays within about 1 GB
MOST_BEST, MOST_POINTS = 30, 1500
AS_FAST_RATIO = (
    1.02  # nobody can tell 2 % in time apart, and the last of it may cost ten times as much
)


@dataclass(frozen=True, eq=False)
class WideSearch:
    """What a wide search leaves: the candidates that decide, ranked, and counts of all.

    `counts`: candidates by class. `problem`: what is in the way where none qualifies, else empty.
    """

    ranked: Ranking
    tried: int
    counts: np.ndarray
    problem: str = ""

    @property
    def possible(self) -> int:
        """How many candidates qualify."""
        return int(self.counts[: ranking.YIELDS + 1].sum())


def wide_search(
    row: JobRow, catalogs: Catalogs, progress: Callable[[float], None] | None = None
) -> WideSearch:
    """Search all arrangements of a job, in stretches; JobError where it has no answer.

    `progress` is called with the share that is done, and may raise to stop the search.
    """
    job = settled(row.columns, catalogs, wide=True)
    parts = arrangements(job, places_of(job, catalogs), catalogs)
    counts = np.zeros(ranking.LEFT_OUT + 1, dtype=np.int64)

    def chosen(candidates: Columns, grid: Grid) -> np.ndarray:
        ranked = ranking.ranking(candidates, grid, job)
        counts[:] += np.bincount(ranked.classes, minlength=len(counts))
        return telling(ranked)

    def report(share: float) -> None:
        if progress:
            progress(min((done + share * pairs) / total, 1.0))

    total, done, several = sum(part.size for part in parts), 0, []
    for grid in grids(parts, PAIRS_OF_A_GRID):
        pairs = len(grid.layout)
        several.append(combinations(grid, job, catalogs, chosen, report))
        done += pairs
    done, pairs = total, 0
    report(1.0)
    combined = merged(several)
    if not combined.size:
        raise JobError(combined.problem or nothing_near(job, combined, catalogs))
    search = WideSearch(
        ranking.ranking(combined.candidates, combined.grid, job), combined.tried, counts
    )
    if len(search.ranked.qualifying):
        return search
    nearest = ranking.nearest(search.ranked)
    return replace(
        search,
        problem=in_the_way(
            search.ranked,
            nearest,
            estimated(search, np.array([nearest]), catalogs).iloc[0].to_dict(),
        ),
    )


def named(search: WideSearch) -> dict[str, int]:
    """The candidates to name: the cheapest, the cheapest hour, the fastest within 2 %."""
    qualifying, figures = search.ranked.qualifying, search.ranked.candidates
    seconds = figures["seconds"][qualifying]
    fast = qualifying[seconds <= seconds.min() * AS_FAST_RATIO]
    keys = {
        "cheapest": (qualifying, "usd", "seconds"),
        "cheapest hour": (qualifying, "usd_per_hour", "usd"),
        "fastest": (fast, "usd", "seconds"),
    }
    return {
        name: int(numbers[np.lexsort((figures[second][numbers], figures[first][numbers]))[0]])
        for name, (numbers, first, second) in keys.items()
    }


def best(search: WideSearch, catalogs: Catalogs, most: int = MOST_BEST) -> pd.DataFrame:
    """The rows to show: those named, the best of every instance type and market, the frontier.

    `candidate` is the number of each.
    """
    if search.problem:
        return pd.DataFrame()
    qualifying = search.ranked.qualifying
    best_of_each = best_of_places(search.ranked)
    best_of_each = best_of_each[np.isin(best_of_each, qualifying)][:most]
    edge = ranking.frontier(search.ranked.candidates, qualifying)
    numbers = np.array(
        list(dict.fromkeys([*named(search).values(), *best_of_each.tolist(), *edge.tolist()]))
    )
    return estimated(search, numbers, catalogs).assign(
        best_of_type=np.isin(numbers, best_of_each), frontier=np.isin(numbers, edge)
    )


def estimated(search: WideSearch, numbers: np.ndarray, catalogs: Catalogs) -> pd.DataFrame:
    """Candidates as estimated rows with market, money and their number (`candidate`)."""
    results, figures = rows_of(search.ranked, numbers, catalogs)
    figures |= {
        name: search.ranked.candidates[name][numbers] for name in ("instances", "slow_hours")
    }
    return results.plain(**figures).assign(candidate=numbers)


def points(search: WideSearch, catalogs: Catalogs, cost: str = "usd") -> pd.DataFrame:
    """Cost, time and place of candidates of the least cost (kind other) and of the frontier.

    `cost`: usd or carbon_kg. Emissions are of the fastest on the same machines, each in the region
    where it costs least money.
    """
    qualifying, figures = search.ranked.qualifying, search.ranked.candidates
    if cost == "carbon_kg":
        fastest = ranking.fastest_alike(figures, qualifying)
        results = results_of(
            inputs_of(search.ranked.job, inputs_of_candidates(search.ranked, fastest)), catalogs
        )
        figures = figures | {cost: np.full(len(figures["usd"]), np.nan)}
        figures[cost][fastest] = results.column(cost)
        qualifying = fastest[~np.isnan(figures[cost][fastest])]
    edge = ranking.frontier(figures, qualifying, cost)
    least = qualifying[np.argsort(figures[cost][qualifying], kind="stable")[:MOST_POINTS]]
    numbers = np.concatenate([least, edge])
    kinds = np.repeat(["other", "frontier"], [len(least), len(edge)])
    return money_and_place(search.ranked, numbers).assign(
        kind=kinds, **{cost: figures[cost][numbers]}
    )
