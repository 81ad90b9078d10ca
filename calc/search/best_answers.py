"""The candidates to name: cheapest, knee and easiest; on request fastest and roomiest.

Costs within a tie count as equal. Of these, the easiest to get is named, then the shorter run; for
services the one that leaves no GPU idle, then the fastest.
"""

import numpy as np

from calc.cost.obtainability import CLASSES, UNKNOWN
from calc.evaluate import Row
from calc.job.columns import TIE_RATIO
from calc.job.job import Job
from calc.search.ranking import FEW, ONE_GROUP, Ranking, best_each, frontier, place_gpus

FASTEST_RATIO, ROOMIEST_RATIO = 3.0, 1.5
USUALLY = CLASSES.index("usually")
MOST_NEXT_USD_RATIO = 4.0  # of the lowest cost; the next faster point may cost so much (assumed)


def answers(ranked: Ranking) -> dict[str, int]:
    """Return the candidates to name among those that qualify, by name."""
    qualifying = ranked.qualifying
    least = least_money(ranked, qualifying)
    if ranked.job.have:
        return {"fastest": least}
    others = {"knee": _knee(ranked, least), "easiest": _easiest(ranked, least)}
    named = {"least-money": least} | {
        name: number for name, number in others.items() if number >= 0
    }
    figures = ranked.candidates
    usd = figures.usd.take(qualifying)
    fastest_ratio = np.inf if has_budget(ranked.job) else FASTEST_RATIO
    for name, usd_ratio, least_values in (
        ("fastest", fastest_ratio, figures.seconds),
        ("roomiest", ROOMIEST_RATIO, -figures.headroom_bytes),
    ):
        if name in ranked.job.answers:
            within = qualifying[usd <= figures.usd[least] * usd_ratio * (1 + FEW)]
            ties = [figures.usd, *ranked.ties]
            best = best_each(within, ONE_GROUP, least_values.take(within), ties, TIE_RATIO)
            named[name] = int(best[0])
    return named


def least_money(ranked: Ranking, numbers: np.ndarray) -> int:
    """Return the cheapest candidate; within a tie the easier, then the faster, the plainer."""
    figures, tie = ranked.candidates, ranked.job.judged["tie_ratio"]
    near = _near_least(numbers, figures.usd, tie)
    near = _near_least(near, figures.obtainability_rank)
    if ranked.job.work == "inference":
        near = _near_least(near, figures.gpus % place_gpus(figures, ranked.grid) > 0)
    near = _near_least(near, figures.seconds, tie)
    return int(best_each(near, ONE_GROUP, np.zeros(len(near)), ranked.ties)[0])


def _near_least(numbers: np.ndarray, values: np.ndarray, ratio: float = 1.0) -> np.ndarray:
    """Return the candidates whose value is within a ratio of the least among them."""
    chosen = np.nan_to_num(values.take(numbers), nan=np.inf, posinf=np.inf)
    return numbers[chosen <= chosen.min() * ratio * (1 + FEW)]


def _knee(ranked: Ranking, least: int) -> int:
    """Return the candidate that is faster for a little more cost; -1 if none is faster."""
    figures, judged = ranked.candidates, ranked.job.judged
    edge = frontier(figures, ranked.qualifying)
    edge = edge[figures.seconds[edge] * judged["tie_ratio"] < figures.seconds[least]]
    points = np.array([least, *edge])
    if point := knee(figures.usd[points], figures.seconds[points], judged):
        return int(points[point])
    return -1


def knee(usd: np.ndarray, seconds: np.ndarray, judged: Row) -> int:
    """Return the point of a frontier that is faster for a little more cost; 0 if none is.

    The frontier starts with the lowest cost. Among the points within the ratio of cost that are
    faster by the ratio of speed, the knee is the one furthest below the line from the first point
    to the last within that cost, on logarithmic axes. If there is none, it is the next point that
    is faster by the smallest ratio that counts, unless that costs several times as much.
    """
    log_usd, log_seconds = np.log(usd / usd[0]), np.log(seconds / seconds[0])
    end = np.flatnonzero(usd <= usd[0] * judged["knee_usd_ratio"] * (1 + FEW))[-1]
    slope = log_seconds[end] / log_usd[end] if log_usd[end] > 0 else 0.0
    able = np.flatnonzero(seconds[: end + 1] * judged["knee_pace_ratio"] <= seconds[0] * (1 + FEW))
    if len(able):
        return int(able[np.argmax(slope * log_usd[able] - log_seconds[able])])
    is_faster = seconds * judged["faster_ratio"] <= seconds[0] * (1 + FEW)
    faster = np.flatnonzero(is_faster & (usd <= usd[0] * MOST_NEXT_USD_RATIO))
    return int(faster[0]) if len(faster) else 0


def _easiest(ranked: Ranking, cheapest: int) -> int:
    """Return the number of the candidate to offer as easier to obtain than the cheapest.

    It is the cheapest candidate of an easier class of obtainability, within a ratio of the lowest
    cost. If there is none, it is the cheapest of all, provided that its instances can usually be
    obtained and no class is easier; otherwise -1.
    """
    figures, qualifying = ranked.candidates, ranked.qualifying
    rank, usd = figures.obtainability_rank.take(qualifying), figures.usd.take(qualifying)
    cheapest_rank = figures.obtainability_rank[cheapest]
    most_usd = figures.usd[cheapest] * ranked.job.judged["easiest_usd_ratio"] * (1 + FEW)
    easier = qualifying[(rank < cheapest_rank) & (rank != UNKNOWN) & (usd <= most_usd)]
    if len(easier):
        return least_money(ranked, easier)
    return cheapest if cheapest_rank <= min(USUALLY, rank.min()) else -1


def has_budget(job: Job) -> bool:
    """Return whether a job limits what may be paid."""
    return job.usd_most is not None or job.usd_per_hour_most is not None
