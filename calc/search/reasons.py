"""Finds out which facts decided for an answer, as codes."""

from dataclasses import dataclass
from math import log

from calc.cost.markets import spare_of
from calc.evaluate import Row
from calc.job.columns import BOTH_WITHIN
from calc.job.job import Job

BLOCK = "capacity-block"
STEP_RATIO = 1.5  # of the tokens of a step, from which on another learning rate is due
STARTING_RATIO = 0.01  # of a run, from which on its start-up time is mentioned
CODES = (
    "next",
    "older-price",
    "old-price",
    "published-bits",
    "unpublished",
    "software",
    "little-more",
    "next-faster",
    "within-budget",
    "requests",
    "people",
    "spare",
    "scaled",
    "offline",
    "confidence",
    "step",
    "attempts",
    "start-up",
    "by-agreement",
    "block",
    "otherwise",
    "spot-service",
    "not-compiled",
    "other-setups",
)


@dataclass(frozen=True, kw_only=True)
class RankingFacts:
    """The facts of an answer that only the ranking knows.

    `has_next`: another type qualifies. `has_older_price`: a cheaper type has a stale price.
    `has_old_price`: the answer's own price is stale. `has_published_bits`: weights are published in
    fewer bits than the job allows. `wants_unpublished`: the job allows bits in which nobody
    publishes weights. `is_sold_otherwise`: the type is sold in a block as well as on demand.
    """

    needs_agreement: bool
    has_next: bool
    has_older_price: bool
    has_old_price: bool
    has_published_bits: bool
    wants_unpublished: bool
    has_budget: bool
    is_sold_otherwise: bool


def leads(names: tuple[str, ...], job: Job) -> bool:
    """Return whether an answer with these names is its job's first, the basis of comparison."""
    return names[0] == "least-money" or bool(job.have)


def reason_codes(
    names: tuple[str, ...], row: Row, least: Row, facts: RankingFacts, job: Job
) -> tuple[str, ...]:
    """Return the codes of the facts that are worth telling of an answer, in order of CODES."""
    if names == ("nearest",):
        return ()
    is_first = leads(names, job)
    serves = not job.trains
    holds = {
        "next": is_first and facts.has_next,
        "older-price": is_first and facts.has_older_price,
        "old-price": facts.has_old_price,
        "published-bits": is_first and facts.has_published_bits,
        "unpublished": is_first and facts.wants_unpublished,
        "software": is_first and _trains_elsewhere(job),
        **_knee_codes(names, row, least, job),
        "within-budget": not is_first and not facts.has_budget,
        "requests": bool(job.requests_per_second),
        "people": serves and bool(job.people) and not job.requests_per_second,
        "spare": row["standby_instances"] > 0 and spare_of(row) > 0,
        "scaled": row["resting_instances"] > 0,
        "offline": serves and job.ends,
        "confidence": serves and job.confidence != "50",
        "step": job.trains and abs(log(row["step_tokens"] / job.step_tokens)) > log(STEP_RATIO),
        "attempts": job.ends and row["attempts"] > 1,
        "start-up": job.ends and row["start_hours"] > STARTING_RATIO * row["hours"],
        "by-agreement": facts.needs_agreement,
        "block": row["market"] == BLOCK and row["usd"] > 0,
        "otherwise": facts.is_sold_otherwise,
        "not-compiled": is_first and job.trains and not _compares_compiled(job),
        "other-setups": is_first and job.trains and not job.rolls_out,
        "spot-service": row["market"] == "spot" and not job.ends,
    }
    return tuple(code for code in CODES if holds[code])


def _trains_elsewhere(job: Job) -> bool:
    """Return whether a training that names no software has another than transformers."""
    return job.trains and job.implementation != "transformers" and "implementation" not in job.fixed


def _compares_compiled(job: Job) -> bool:
    """Return whether compiled blocks are set, or are tried wherever the software has them."""
    return job.rolls_out or job.goal == "train" or "compile" in job.fixed


def _knee_codes(names: tuple[str, ...], row: Row, least: Row, job: Job) -> dict[str, bool]:
    """Return whether a knee costs little more for its speed, or is only the next faster one."""
    is_knee = "knee" in names
    is_little = (
        row["usd"] <= least["usd"] * job.judged["knee_usd_ratio"] * BOTH_WITHIN
        and row["seconds"] * job.judged["knee_pace_ratio"] <= least["seconds"] * BOTH_WITHIN
    )
    return {"little-more": is_knee and is_little, "next-faster": is_knee and not is_little}
