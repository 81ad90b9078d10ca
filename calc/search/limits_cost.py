"""What each limit of a job costs, other ways to pay, and types that nobody can tell apart."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.cost.offers import price_of
from calc.crossed import Crossed
from calc.evaluate import Columns, Row
from calc.scenarios.lookups import cells_by_id
from calc.search.candidates import sold_on
from calc.search.combinations import FITS, together
from calc.search.inputs import ANYWHERE, CONFIDENCE_REACH, JOB_BY_NAME, PUBLISHED
from calc.search.job_row import JobRow
from calc.search.load import request_seconds
from calc.search.named import least_money
from calc.search.places import least_prices, offers
from calc.search.ranking import FEW, OUTSIDE, QUALIFIES, Ranking, classes, ranking
from calc.search.settle import settled, tunings
from calc.table import taken
from calc.units import DAY_HOURS, HOUR_SECONDS, MEAN_MONTH_HOURS, MILLION, WEEK_HOURS

ROUND = np.array([1.0, 2.0, 5.0])
STEPS = {  # of a limit on the candidates' own figures, the values that people set
    "hours_most": np.array(
        [
            1.0,
            2,
            4,
            8,
            12,
            *(DAY_HOURS * np.array([1, 2, 3, 5])),
            *(WEEK_HOURS * np.array([1, 2, 4, 8, 13, 26, 52])),
        ]
    ),
    "first_token_seconds": np.concatenate([ROUND / 10, ROUND, ROUND * 10]),
    "token_seconds": np.concatenate([ROUND / 100, ROUND / 10, ROUND]),
    "usd_per_hour_most": np.concatenate([ROUND * 10.0**power for power in range(5)]),
    "usd_most": np.concatenate([ROUND * 10.0**power for power in range(8)]),
}
MOST_PLACES = (
    3  # instance types that another region or market is asked for: those whose prices promise most
)
NARROWED = ("precision", "kv_precision")
LESS_LOAD = 0.9  # what is asked for where the load itself takes one machine more
NARROWER = {PUBLISHED: 8, 16: 8, 8: 4}
COMMITTED_YEAR, MOST_ENDPOINT_RATIO = (
    "commit-1y",
    2.0,
)  # an endpoint that asks more than twice as much is no alternative

RankingOf = Callable[[JobRow], Ranking | None]


class Easing(NamedTuple):
    """A limit at its next step (a number, a region, a market), and the money then.

    `old_price_days`: of a price that is older than what is relied on, and than the answer's own.
    """

    name: str
    step: float | str
    usd: float
    old_price_days: float = 0.0


def easings(
    row: JobRow, ranked: Ranking, least: int, ranking_of: RankingOf, catalogs: Catalogs
) -> list[Easing]:
    """Every limit that costs more than a tie, the dearest first."""
    most = ranked.candidates["usd"][least] / ranked.job["judged"]["tie_ratio"]
    eased = [
        *_of_figures(ranked, least, most),
        *_of_engine(row, ranked, least, most, ranking_of, catalogs),
    ]
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


def _of_engine(
    row: JobRow, ranked: Ranking, least: int, most: float, ranking_of: RankingOf, catalogs: Catalogs
) -> list[Easing]:
    """Limits that leave candidates out: bits, spare, instances, regions and markets."""
    job, eased = ranked.job, []
    columns = row.columns

    def ask(name: str, changes: dict[str, Any], step: float | str = "", sold: bool = False) -> None:
        eased_row = JobRow.of(columns | changes)
        other = (
            sold_otherwise(ranked, ranked.crossed, eased_row, catalogs)
            if sold and ranked.crossed
            else ranking_of(eased_row)
        )
        if other is not None and len(other.qualifying):
            number = least_money(other, other.qualifying)
            if name == "regions":
                step = other.job["regions"][other.candidates["region"][number]]
            elif name == "instances_most":
                step = int(other.candidates["instances"][number])
            elif name == "fewest_bits" and job["work"] == "inference":
                name = _narrowed(ranked, least, other, number)
            market = MARKETS[other.job["markets"][other.candidates["market"][number]]]
            days, fresh = (
                other.candidates["price_age_days"][number],
                ranked.candidates["price_age_days"][least],
            )
            old_days = float(days) if days > max(market.old_days, fresh) else 0.0
            eased.append(Easing(name, step, float(other.candidates["usd"][number]), old_days))

    bits = 0 if job["fixed"].get("precision") else NARROWER.get(job["fewest_bits"], 0)
    if bits and job["work"] == "inference" and (names := _affordable(ranked, 1, most, catalogs)):
        ask(
            "fewest_bits",
            {"fewest_bits": bits}
            | ({"instance": names} if len(names) < len(ranked.grid.places) else {}),
            bits,
        )
    elif (
        bits == 8
        and "full" in tunings(job)
        and (names := _with_narrow_products(ranked, most, catalogs))
    ):
        ask("fewest_bits", {"fewest_bits": bits, "precision": "fp8-mixed", "instance": names}, bits)
    if job["assumed"].get("spare"):
        ask("spare", {"spare": 0})
    if names := _held_back(ranked, most, catalogs):
        usual = JOB_BY_NAME["instances_most"]
        ask(
            "instances_most",
            {
                "instances_most": min(max(2 * job["instances_most"], usual.default), usual.most),
                "instance": names,
            },
        )
    if any(name in job["fixed"] for name in ("instance", "gpu")):
        ask("instance" if "instance" in job["fixed"] else "gpu", {"instance": None, "gpu": None})
    if job["work"] == "inference" and not job["ends"] and (names := _of_few(ranked, most)):
        load = "requests_per_second" if job["requests_per_second"] else "users"
        less = job[load] * LESS_LOAD if load != "users" else max(int(job["users"] * LESS_LOAD), 1)
        ask(load, {load: less, "instance": names}, less)
        eased = [
            easing
            for easing in eased
            if easing.name != load or easing.usd < most * less / job[load]
        ]
    everywhere = job | {"regions": list(catalogs.regions.index)}
    if len(job["regions"]) < len(catalogs.regions) and (
        names := _promising(ranked, everywhere, most, catalogs)
    ):
        ask("regions", {"regions": ANYWHERE, "instance": names}, sold=True)
    if (
        "on-demand" in job["markets"]
        and "spot" not in job["markets"]
        and (names := _promising(ranked, job | {"markets": ["spot"]}, most, catalogs))
    ):
        ask("markets", {"markets": "spot", "instance": names}, "spot", sold=True)
    return eased


def sold_otherwise(
    ranked: Ranking, crossed: Crossed, row: JobRow, catalogs: Catalogs
) -> Ranking | None:
    """The candidates on some instances, sold in other regions and markets."""
    job, places = settled(row.columns, catalogs), ranked.grid.places
    named = np.array([place.instance in job["fixed"]["instance"] for place in places])
    sold = offers(job, places, catalogs)
    return (
        ranking(
            together(sold_on(crossed.only(np.flatnonzero(named[crossed.place])), sold, job)),
            ranked.grid,
            job,
        )
        if sold
        else None
    )


def _narrowed(ranked: Ranking, least: int, other: Ranking, number: int) -> str:
    """What takes other bits in another ranking's candidate: weights, cache or both."""
    return "+".join(
        name for name in NARROWED if _word(other, number, name) != _word(ranked, least, name)
    )


def _word(ranked: Ranking, number: int, name: str) -> str:
    """A candidate's choice in a column of words of the grid."""
    chosen = taken(
        ranked.grid.layouts[name], ranked.grid.size, ranked.candidates["layout"][[number]]
    )
    return str(chosen.vocabulary[chosen.codes[0]])


def _with_narrow_products(ranked: Ranking, most: float, catalogs: Catalogs) -> list[str]:
    """The instance types whose runs would cost less than the most if 8 bits doubled their speed."""
    able, card = (
        cells_by_id(catalogs, "gpus", "supports_fp8"),
        cells_by_id(catalogs, "instances", "gpu"),
    )
    ratio = np.array(
        [0.5 if able[card[place.instance]] else np.inf for place in ranked.grid.places]
    )
    return _cheapest(ranked, ranked.qualifying, ratio, most)


def _held_back(ranked: Ranking, most: float, catalogs: Catalogs) -> list[str]:
    """The instance types of which more than the job allows might cost less.

    Of a service those whose first instance too many leaves money; of a run the cheapest that are
    only too slow.
    """
    figures, places, job = ranked.candidates, ranked.grid.places, ranked.job
    spans = np.array([place.most > 1 or job["instances_most"] == 1 for place in places])
    if not job["ends"]:
        affordable = _affordable(ranked, job["instances_most"] + 1, most, catalogs)
        return [
            place.instance
            for place, joins in zip(places, spans, strict=True)
            if joins and place.instance in affordable
        ]
    misses = [limit.excess > 0 for limit in ranked.limits if limit.name != "hours_most"]
    at_most = (
        (figures["instances"] > job["instances_most"] / 2)
        & spans[figures["place"]]
        & (ranked.classes == OUTSIDE)
    )
    slow = np.flatnonzero(
        at_most & ~np.any(misses, axis=0) & (figures["fits"] == FITS.index("yes"))
    )
    return _cheapest(ranked, slow, np.ones(len(spans)), most)


def _of_few(ranked: Ranking, most: float) -> list[str]:
    """The instance types of which one fewer saves more than its share."""
    machines = ranked.candidates["instances"]
    few = ranked.qualifying[
        (machines[ranked.qualifying] - 1) < LESS_LOAD * machines[ranked.qualifying]
    ]
    figures = ranked.candidates | {"usd": ranked.candidates["usd"] * (machines - 1) / machines}
    one_fewer = ranked._replace(candidates=figures)
    return _cheapest(
        one_fewer, few[machines[few] > 1], np.ones(len(ranked.grid.places)), most * LESS_LOAD
    )


def _affordable(ranked: Ranking, instances: int, most: float, catalogs: Catalogs) -> list[str]:
    """The instance types of which a service may pay so many for less than the most."""
    job, places = ranked.job, ranked.grid.places
    always_on = not job["ends"] and job["fixed"].get("scales", ["no"]) == ["no"]
    usd = least_prices(job, places, catalogs) * (
        instances * job["hours_per_month"] if always_on else 0
    )
    return [
        place.instance for place, least_usd in zip(places, usd, strict=True) if least_usd < most
    ]


def _promising(
    ranked: Ranking, other: dict[str, Any], most: float, catalogs: Catalogs
) -> list[str]:
    """The instance types that would be cheapest at another job's prices, laid out alike."""
    prices, then = (least_prices(job, ranked.grid.places, catalogs) for job in (ranked.job, other))
    return _cheapest(ranked, ranked.qualifying, then / prices, most)


def _cheapest(ranked: Ranking, numbers: np.ndarray, ratio: np.ndarray, most: float) -> list[str]:
    """The instance types that cost least of some candidates, times a ratio for each type."""
    least = np.full(len(ranked.grid.places), np.inf)
    np.minimum.at(least, ranked.candidates["place"][numbers], ranked.candidates["usd"][numbers])
    with np.errstate(invalid="ignore"):
        bound = np.nan_to_num(least * ratio, nan=np.inf)
    order = np.argsort(bound, kind="stable")[:MOST_PLACES]
    return [ranked.grid.places[place].instance for place in order if bound[place] < most]


def alternatives(
    row: Row, job: dict[str, Any], eased: list[Easing], catalogs: Catalogs
) -> dict[str, Any]:
    """Other ways to pay for the work of an answer, where they matter: their money or ratio.

    Of a service on demand the month of a commitment of one year, and Amazon Bedrock's price of the
    same tokens; another region of the same continent, where no limit names it.
    """
    ways: dict[str, Any] = {}
    key, tie = MARKETS[row["market"]].price, job["judged"]["tie_ratio"]
    here = price_of(catalogs, row["instance"], row["region"])
    listed = here.get(key, np.nan)
    if job["work"] == "inference" and row["market"] == "on-demand":
        year = (
            row["usd_per_hour"]
            * here.get(MARKETS[COMMITTED_YEAR].price, np.nan)
            / listed
            * MEAN_MONTH_HOURS
        )
        commits = (
            not job["ends"] and year * tie < row["usd"] and not row["private_usd_per_hour"] > 0
        )
        ways |= {"commitment": year} if commits else {}
        tokens = load_tokens_per_month(row, job)
        endpoint = tokens * row["endpoint_usd_per_million_tokens"] / MILLION
        listed_there = (
            row["endpoint_usd_per_million_input_tokens"]
            + row["endpoint_usd_per_million_output_tokens"]
            == 0
        )
        name = "Amazon Bedrock" if listed_there else "the endpoint at its set price"
        ways |= (
            {"endpoint": (name, endpoint)}
            if 0 < endpoint < MOST_ENDPOINT_RATIO * row["usd"]
            else {}
        )
    near = [
        name
        for name in catalogs.regions.index
        if _continent(name) == _continent(row["region"]) and name not in job["regions"]
    ]
    ratios = {
        name: price_of(catalogs, row["instance"], name).get(key, np.nan) / listed for name in near
    }
    region = min(ratios, key=lambda name: np.nan_to_num(ratios[name], nan=np.inf), default="")
    if (
        region
        and ratios[region] * tie < 1
        and ("regions", region) not in [(easing.name, easing.step) for easing in eased]
    ):
        ways |= {"region": region, "region_ratio": ratios[region]}
    return ways


def load_tokens_per_month(row: Row, job: dict[str, Any]) -> float:
    """Tokens that a service generates in a month at its load, or offline in all. [tokens]"""
    if job["ends"] or not job["generates"]:
        return float(job["tokens_total"] * job["generates"]) if job["ends"] else 0.0
    seconds = request_seconds(
        row["time_to_first_token_seconds"], row["time_per_output_token_seconds"], job
    )
    rate = (job["requests_per_second"] or job["users"] / seconds) / row["peak_to_mean"]
    return float(rate * job["answer_tokens"] * row["hours_per_month"] * HOUR_SECONDS)


def _continent(region: str) -> str:
    """The part of the world that a region's id begins with; Canada and Mexico belong to us."""
    part = region.partition("-")[0]
    return "us" if part in ("ca", "mx") else part


def rivals(ranked: Ranking, least: int, catalogs: Catalogs) -> dict[str, float]:
    """Instance types with other cards whose money nobody can tell from the least. [ratio]

    Of each card the cheapest type counts: types with the same card take the same time, so that
    their money differs for certain.
    """
    figures, places = ranked.candidates, ranked.grid.places
    cards = np.array(
        [cells_by_id(catalogs, "instances", "gpu")[place.instance] for place in places],
        dtype=object,
    )[figures["place"]]
    dearest_first = ranked.qualifying[np.argsort(-figures["usd"][ranked.qualifying], kind="stable")]
    best = {
        cards[number]: number for number in dearest_first.tolist() if cards[number] != cards[least]
    }
    lowest, highest = _money_ends(ranked, cards, least)
    alike = {}
    for card, number in best.items():
        ratio = float(figures["usd"][number] / figures["usd"][least])
        if ranked.job["ends"]:  # time is money, and both times are uncertain by themselves
            near = np.log(ratio) <= np.hypot(
                *np.log(figures["slow_hours"][[least, number]] / figures["hours"][[least, number]])
            )
        else:
            near = lowest[card] <= highest * (1 + FEW)
        if near:
            alike[places[figures["place"][number]].instance] = ratio
    return dict(sorted(alike.items(), key=lambda pair: pair[1]))


def _money_ends(ranked: Ranking, cards: np.ndarray, least: int) -> tuple[dict[str, float], float]:
    """Money by card at the fast end of time; of the least's card at the slow end. [USD]"""
    figures, job = ranked.candidates, ranked.job
    if job["ends"]:
        return {}, np.inf
    token, first = figures["slow_token_ratio"], figures["slow_first_token_ratio"]
    ends, counted, asks_rate = (
        [],
        CONFIDENCE_REACH[job["confidence"]],
        job["requests_per_second"] is not None,
    )
    for reach in (-1.0, 1.0):
        load = (
            figures["load_ratio"] * token**reach if asks_rate else 1.0
        )  # more machines carry what slower ones do not
        more = (
            np.maximum(np.ceil(figures["instances"] * load * (1 - FEW)), 1) / figures["instances"]
        )
        ratios = {
            "first_token_seconds": first ** (reach - counted),
            "token_seconds": token ** (reach - counted),
        }
        ratios |= dict.fromkeys(("usd_most", "usd_per_hour_most", "instances_most"), more)
        limits = [
            replace(limit, values=limit.values * ratios.get(limit.name, 1.0))
            for limit in ranked.limits
        ]
        limits = [limit for limit in limits if limit.name != "requests_per_second"]
        ends.append(
            np.where(classes(figures, job, limits) == QUALIFIES, figures["usd"] * more, np.inf)
        )
    lowest = {card: float(ends[0][cards == card].min()) for card in set(cards.tolist())}
    highest = float(ends[1][cards == cards[least]].min())
    return lowest, highest if np.isfinite(highest) else float(figures["usd"][least] * token[least])
