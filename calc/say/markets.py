"""The terms that each market binds you to, in sentences."""

from calc.cost.markets import MARKETS, TERMS

SAGEMAKER = (
    "ml.* instances that SageMaker runs: no idle cluster, its own quotas by type and use; capacity "
    "is not promised."
)
BINDS = {
    "on-demand": "Paid by the second, ends when you end it.",
    "spot": "AWS takes instances back with two minutes' notice; capacity is not promised.",
    "capacity-block": (
        "Paid up front, ends on a date: booked to the slow end of the run, in whole days to 14 and "
        "whole weeks to 182, at most 64 instances in one block; the one way to be sure of the "
        "newest cards."
    ),
    "sagemaker-training": SAGEMAKER,
    "sagemaker-hosting": SAGEMAKER,
}
APPLIES_TO = {  # kind of commitment -> the instances that it is for
    "compute_plan": "any type in any region",
    "instance_plan": "one family in one region, in any size",
    "reserved": "this type in this region",
}
PAID = {
    "no": "by the month",
    "partial": "a part of it upfront, the rest by the month",
    "all": "all of it upfront",
}


def what_it_binds_to(market: str) -> str:
    """Return what one signs for on a market, and what AWS promises."""
    if market in BINDS:
        return BINDS[market]
    years = MARKETS[market].committed_years
    if market not in TERMS:
        term = "1 year" if years == 1 else f"{years} years"
        return f"The cheapest known commitment for {term}. You pay for each hour, used or not."
    kind, _, payment = TERMS[market]
    term = "the year" if years == 1 else f"{years} years"
    return (
        f"You pay for each hour of {term}, used or not, {PAID[payment]}. It covers "
        f"{APPLIES_TO[kind]}."
    )
