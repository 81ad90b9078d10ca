"""Other ways to pay for the work of an answer, and options that tie with it."""

from dataclasses import dataclass, replace

import numpy as np

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.cost.offers import price_of
from calc.engine.pipeline import estimate
from calc.evaluate import Row
from calc.job.columns import CONFIDENCE_REACH
from calc.job.job import Job
from calc.scenarios.lookups import cells_by_id
from calc.search.batch_for_rate import request_seconds
from calc.search.candidates import Candidates
from calc.search.ranking import FEW, QUALIFIES, Ranking, classes
from calc.search.row_status import scenario_of
from calc.studies.limits_cost import Relaxed
from calc.units import HOUR_SECONDS, MEAN_MONTH_HOURS, MILLION

COMMITTED_YEAR = "commit-1y"
SHIPPED, TUNED = "as-shipped", "tuned"  # engine_flags
MOST_ENDPOINT_RATIO = 2.0  # an endpoint that asks more than so many times as much is left out
AMERICAN = ("ca", "mx")  # regions that belong to the continent of us


@dataclass(frozen=True)
class Alternatives:
    """Other ways to pay for an answer; what does not matter is None.

    `commitment_usd`: a month of a commitment of one year. `endpoint_usd`: the same tokens at an
    endpoint, `is_bedrock` where Amazon Bedrock sells them, else at the price that the job sets;
    of people `answers_per_day` of each, which `assumes_answers` if the job does not say it.
    `region_row`: the first answer in the other regions of the same continent. `tuned_row`: the same
    scenario with tuned engine flags, where that is faster.
    """

    commitment_usd: float | None = None
    endpoint_usd: float | None = None
    is_bedrock: bool = False
    answers_per_day: float | None = None
    assumes_answers: bool = False
    region_row: Row | None = None
    tuned_row: Row | None = None


def near_regions(job: Job, catalogs: Catalogs) -> list[str]:
    """The other regions of the continents in which a job may rent."""
    continents = {_continent(name) for name in job.regions}
    return [
        name
        for name in catalogs.regions.index
        if _continent(name) in continents and name not in job.regions
    ]


def alternatives(
    row: Row, job: Job, there: Row | None, relaxed: list[Relaxed], catalogs: Catalogs
) -> Alternatives:
    """Return other ways to pay for the work of an answer, where they matter.

    They are: for an On-Demand service, the month of a one-year commitment and the price of the same
    tokens at an endpoint; the job in the other regions of the same continent, unless a limit names
    a region; what tuned flags of the engine give. `there`: the first answer of the job in its
    `near_regions`.
    """
    key, tie = MARKETS[row["market"]].price, job.judged["tie_ratio"]
    here = price_of(catalogs, row["instance"], row["region"])
    listed_usd_per_hour = here.get(key, np.nan)
    others = Alternatives()
    if not job.trains and row["market"] == "on-demand":
        committed_usd_per_hour = here.get(MARKETS[COMMITTED_YEAR].price, np.nan)
        year = row["usd_per_hour"] * committed_usd_per_hour / listed_usd_per_hour * MEAN_MONTH_HOURS
        is_private = row["private_usd_per_hour"] > 0
        if not job.ends and year * tie < row["usd"] and not is_private:
            others = replace(others, commitment_usd=year)
        others = _with_endpoint(others, row, job)
    relaxed_regions = [limit.step for limit in relaxed if limit.name == "regions"]
    if there and there["usd"] * tie < row["usd"] and there["region"] not in relaxed_regions:
        others = replace(others, region_row=there)
    return replace(others, tuned_row=_with_tuned_flags(row, job, catalogs))


def _with_tuned_flags(row: Row, job: Job, catalogs: Catalogs) -> Row | None:
    """The estimate of a shipped engine's row with tuned flags; None if it is no faster."""
    if job.trains or not job.generates or row["engine_flags"] != SHIPPED:
        return None
    tuned_row = estimate({**scenario_of(row), "engine_flags": TUNED}, catalogs, solve=False)
    faster = tuned_row["tokens_per_second"] > row["tokens_per_second"] * job.judged["tie_ratio"]
    return tuned_row if faster else None


def _with_endpoint(others: Alternatives, row: Row, job: Job) -> Alternatives:
    """Add the price of the same tokens at an endpoint, unless that is far higher."""
    tokens = load_tokens_per_month(row, job)
    endpoint = tokens * row["endpoint_usd_per_million_tokens"] / MILLION
    set_by_hand = (
        row["endpoint_usd_per_million_input_tokens"] + row["endpoint_usd_per_million_output_tokens"]
    )
    if 0 < endpoint < MOST_ENDPOINT_RATIO * row["usd"]:
        return replace(
            others,
            endpoint_usd=endpoint,
            is_bedrock=set_by_hand == 0,
            answers_per_day=job.judged["answers_per_day"] if _counts_answers(job) else None,
            assumes_answers="answers_per_day" not in job.assumed,
        )
    return others


def load_tokens_per_month(row: Row, job: Job) -> float:
    """Tokens that a service generates in a month, or offline work in total. [tokens]

    For users, it counts the answers of each, since nobody asks day and night. Otherwise it follows
    from the load.
    """
    if job.ends or not job.generates:
        return float((job.tokens_total or 0) * job.generates) if job.ends else 0.0
    if _counts_answers(job):
        days = job.judged["answers_per_day"] * job.judged["working_days_per_month"]
        return float((job.people or 0) * days * (job.answer_tokens or 0))
    seconds = request_seconds(
        row["time_to_first_token_seconds"], row["time_per_output_token_seconds"], job
    )
    rate = (job.requests_per_second or (job.users or 0) / seconds) / row["peak_to_mean"]
    return float(rate * (job.answer_tokens or 0) * row["hours_per_month"] * HOUR_SECONDS)


def _counts_answers(job: Job) -> bool:
    """Return whether the load of a job is people who ask, so that their answers are counted."""
    return bool(job.people) and not job.requests_per_second


def _continent(region: str) -> str:
    """The part of the world that a region's id begins with; Canada and Mexico belong to us."""
    part = region.split("-", 1)[0]
    return "us" if part in AMERICAN else part


def rivals(ranking: Ranking, least: int, catalogs: Catalogs) -> dict[str, float]:
    """Return instance types with other cards whose cost ties with the lowest, and the ratios.

    The cheapest type of each card counts. Types with the same card take the same time, so their
    costs differ for certain.
    """
    candidates, places = ranking.candidates, ranking.grid.places
    card_of = cells_by_id(catalogs, "instances", "gpu")
    cards = np.array([card_of[place.instance] for place in places], dtype=object)
    cards = cards[candidates.place_number]
    order = np.argsort(-candidates.usd[ranking.qualifying], kind="stable")
    best = {  # the cheapest one comes last and stays
        cards[number]: number
        for number in ranking.qualifying[order].tolist()
        if cards[number] != cards[least]
    }
    lowest_usd, highest_usd = _usd_ends(ranking, cards, least)
    ratios = {}
    for card, number in best.items():
        ratio = float(candidates.usd[number] / candidates.usd[least])
        if ranking.job.ends:
            is_tie = _run_ties(candidates, least, number, ratio)
        else:
            is_tie = lowest_usd[card] <= highest_usd * (1 + FEW)
        if is_tie:
            ratios[places[candidates.place_number[number]].instance] = ratio
    return dict(sorted(ratios.items(), key=lambda pair: pair[1]))


def _run_ties(candidates: Candidates, least: int, number: int, ratio: float) -> bool:
    """Return whether the costs of two runs tie: both times are uncertain, independently."""
    both = [least, number]
    slow_ratios = candidates.slow_hours[both] / candidates.hours[both]
    return bool(np.log(ratio) <= np.hypot(*np.log(slow_ratios)))


def _usd_ends(ranking: Ranking, cards: np.ndarray, least: int) -> tuple[dict[str, float], float]:
    """Return the cost of a service at both ends of the range of its time. [USD]

    The first is the lowest cost of each card at the fast end; the second is the lowest cost of the
    cheapest candidate's card at the slow end.
    """
    candidates = ranking.candidates
    if ranking.job.ends:
        return {}, np.inf
    fast_usd = _usd_at_end(ranking, -1.0)
    slow_usd = _usd_at_end(ranking, 1.0)
    lowest = {card: float(fast_usd[cards == card].min()) for card in set(cards.tolist())}
    highest = float(slow_usd[cards == cards[least]].min())
    if not np.isfinite(highest):
        highest = float(candidates.usd[least] * candidates.slow_token_ratio[least])
    return lowest, highest


def _usd_at_end(ranking: Ranking, reach: float) -> np.ndarray:
    """Return the cost of each candidate with times at an end of their range. [USD]

    `reach`: -1 for the fast end, 1 for the slow end. More machines carry a rate that slower ones
    cannot. The cost is infinite for a candidate that does not qualify then.
    """
    candidates, job = ranking.candidates, ranking.job
    slow_first_token, slow_token = candidates.slow_first_token_ratio, candidates.slow_token_ratio
    load = np.ones(1)
    if job.requests_per_second is not None:
        # Fewer machines than are faster are not enough, since their limits on time decide as well.
        free = candidates.load_ratio if reach > 0 or not job.generates else 1.0
        load = free * slow_token**reach
    instances = np.maximum(np.ceil(candidates.instances * load * (1 - FEW)), 1)
    more = instances / candidates.instances
    further = reach - CONFIDENCE_REACH[job.confidence]  # than the limits already assume
    ratios = {
        "first_token_seconds": slow_first_token**further,
        "token_seconds": slow_token**further,
        **dict.fromkeys(("usd_most", "usd_per_hour_most", "instances_most"), more),
    }
    limits = [
        replace(limit, values=limit.values * ratios.get(limit.name, 1.0))
        for limit in ranking.limits
        if limit.name != "requests_per_second"
    ]
    qualifies = classes(candidates, job, limits) == QUALIFIES
    return np.where(qualifies, candidates.usd * more, np.inf)
