"""What each limit of a job costs, and which instance types nobody can tell apart."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.evaluate import Columns
from calc.search.inputs import ANYWHERE, CONFIDENCE_REACH, PACE, PUBLISHED
from calc.search.job_row import JobRow
from calc.search.named import least_money
from calc.search.places import least_prices
from calc.search.ranking import FEW, QUALIFIES, Ranking, classes
from calc.units import DAY_HOURS, WEEK_HOURS

ROUND = np.array([1.0, 2.0, 5.0])
STEPS = {  # of a limit on the candidates' own figures, the values that people set
    "hours_most": np.array([1.0, 2, 4, 8, 12, *(DAY_HOURS * np.array([1, 2, 3, 5])), *(WEEK_HOURS * np.array([1, 2, 4, 8, 13, 26, 52]))]),
    "first_token_seconds": np.concatenate([ROUND / 10, ROUND, ROUND * 10]),
    "token_seconds": np.concatenate([ROUND / 100, ROUND / 10, ROUND]),
    "usd_per_hour_most": np.concatenate([ROUND * 10.0**power for power in range(5)]),
    "usd_most": np.concatenate([ROUND * 10.0**power for power in range(8)]),
}
MOST_PLACES = 3  # instance types that another region or market is asked for: those whose prices promise most
NARROWER = {PUBLISHED: 8, 16: 8, 8: 4}

RankingOf = Callable[[JobRow], Ranking | None]


class Easing(NamedTuple):
    """A limit at its next step (a number, a region or a market), and the money then."""

    name: str
    step: float | str
    usd: float


def easings(row: JobRow, ranked: Ranking, least: int, ranking_of: RankingOf, catalogs: Catalogs) -> list[Easing]:
    """Every limit that costs more than a tie, the dearest first."""
    most = ranked.candidates["usd"][least] / ranked.job["judged"]["tie_ratio"]
    eased = [*_of_figures(ranked, least, most), *_of_engine(row, ranked, most, ranking_of, catalogs)]
    return sorted((easing for easing in eased if easing.usd < most), key=lambda easing: easing.usd)


def _of_figures(ranked: Ranking, least: int, most: float) -> list[Easing]:
    """Limits on money and time: the cheaper candidates are classed again without each limit."""
    figures, job = ranked.candidates, ranked.job
    old_days = np.array([MARKETS[name].old_days for name in job["markets"]])[figures["market"]]
    old = figures["price_age_days"] > old_days
    cheaper = np.flatnonzero((figures["usd"] < most) & (~old | old[least]))
    limits = [replace(limit, values=limit.values[cheaper]) for limit in ranked.limits]
    few: Columns = {name: values[cheaper] for name, values in figures.items()}
    eased = []
    for limit in limits:
        if limit.name in STEPS and len(cheaper):
            free = classes(few, job, [other for other in limits if other is not limit]) == QUALIFIES
            for step in STEPS[limit.name][STEPS[limit.name] > limit.most * (1 + FEW)]:
                if (keeps := free & (limit.values <= step * (1 + FEW))).any():
                    eased.append(Easing(limit.name, float(step), float(few["usd"][keeps].min())))
                    break
    return eased


def _of_engine(row: JobRow, ranked: Ranking, most: float, ranking_of: RankingOf, catalogs: Catalogs) -> list[Easing]:
    """Limits that leave candidates out: bits, regions, markets, and instances set by hand."""
    job, eased = ranked.job, []
    columns = row.columns

    def ask(name: str, changes: dict[str, Any], step: float | str = "") -> None:
        other = ranking_of(JobRow.of(columns | changes))
        if other is not None and len(other.qualifying):
            number = least_money(other, other.qualifying)
            region = other.job["regions"][other.candidates["region"][number]]
            eased.append(Easing(name, region if name == "regions" else step, float(other.candidates["usd"][number])))

    bits = NARROWER.get(job["fewest_bits"]) if job["work"] == "inference" and not job["fixed"].get("precision") else None
    if bits:
        ask("fewest_bits", {"fewest_bits": bits}, bits)
    if any(name in job["fixed"] for name in ("instance", "gpu")):
        ask("instance", {"instance": None, "gpu": None})
    everywhere = job | {"regions": list(catalogs.regions.index)}
    if len(job["regions"]) < len(catalogs.regions) and (names := _promising(ranked, everywhere, most, catalogs)):
        ask("regions", {"regions": ANYWHERE, "instance": names})
    if job["markets"] == ["on-demand"] and (names := _promising(ranked, job | {"markets": ["spot"]}, most, catalogs)):
        ask("markets", {"markets": "spot", "instance": names}, "spot")
    return eased


def _promising(ranked: Ranking, other: dict[str, Any], most: float, catalogs: Catalogs) -> list[str]:
    """The instance types that would be cheapest at another job's prices, laid out alike."""
    figures, qualifying, places = ranked.candidates, ranked.qualifying, ranked.grid.places
    usd, place_of = figures["usd"][qualifying], figures["place"][qualifying]
    least = np.full(len(places), np.inf)
    np.minimum.at(least, place_of, usd)
    prices, then = (least_prices(job, places, catalogs) for job in (ranked.job, other))
    with np.errstate(invalid="ignore"):
        bound = np.nan_to_num(least * then / prices, nan=np.inf)
    order = np.argsort(bound, kind="stable")[:MOST_PLACES]
    return [places[place].instance for place in order if bound[place] < most]


def rivals(ranked: Ranking, least: int, catalogs: Catalogs) -> dict[str, float]:
    """Instance types with other cards whose money nobody can tell from the least. [ratio]

    Of each card the cheapest type counts: types with the same card take the same time, so that their money differs for certain.
    """
    figures, places = ranked.candidates, ranked.grid.places
    cards = catalogs.instances["gpu"].loc[[place.instance for place in places]].to_numpy(dtype=object)[figures["place"]]
    dearest_first = ranked.qualifying[np.argsort(-figures["usd"][ranked.qualifying], kind="stable")]
    best = {cards[number]: number for number in dearest_first.tolist() if cards[number] != cards[least]}
    lowest, highest = _money_ends(ranked, cards, least)
    alike = {}
    for card, number in best.items():
        ratio = float(figures["usd"][number] / figures["usd"][least])
        if ranked.job["work"] == "training":  # time is money, and both times are uncertain by themselves
            near = np.log(ratio) <= np.hypot(*np.log(figures["slow_hours"][[least, number]] / figures["hours"][[least, number]]))
        else:
            near = lowest[card] <= highest * (1 + FEW)
        if near:
            alike[places[figures["place"][number]].instance] = ratio
    return dict(sorted(alike.items(), key=lambda pair: pair[1]))


def _money_ends(ranked: Ranking, cards: np.ndarray, least: int) -> tuple[dict[str, float], float]:
    """Money by card at the fast end of time; of the least's card at the slow end. [USD]"""
    figures, job = ranked.candidates, ranked.job
    if job["work"] == "training":
        return {}, np.inf
    token, first = figures["slow_token_ratio"], figures["slow_first_token_ratio"]
    slower = {"first_token_seconds": first, "token_seconds": token, "requests_per_second": token}
    ends = []
    counted = CONFIDENCE_REACH[job["confidence"]]
    for reach in (-1.0, 1.0):
        ratios = {name: ratio ** (reach - counted * (name in PACE)) for name, ratio in slower.items()}
        limits = [replace(limit, values=limit.values * ratios.get(limit.name, 1.0)) for limit in ranked.limits]
        ends.append(np.where(classes(figures, job, limits) == QUALIFIES, figures["usd"], np.inf))
    lowest = {card: float(ends[0][cards == card].min()) for card in set(cards.tolist())}
    highest = float(ends[1][cards == cards[least]].min())
    return lowest, highest if np.isfinite(highest) else float(figures["usd"][least] * token[least])
