"""Commitments by kind, years and payment: labels, keys, and the cheapest of each term.

A savings plan is a number of dollars per hour for the whole term. A Compute Savings Plan applies to
any family, size and region, an EC2 Instance Savings Plan to one family in one region. Source:
Savings Plans User Guide.
"""

from itertools import product

import pandas as pd

YEARS = (1, 3)
KINDS = {  # kind -> its name at AWS
    "compute_plan": "Compute Savings Plan",
    "instance_plan": "EC2 Instance Savings Plan",
    "reserved": "reserved instance, standard",
}
PAYMENTS = {"no": "no upfront", "partial": "partial upfront", "all": "all upfront"}
# Names in prices.yaml.
COMMITMENTS = {
    terms: "{}_{}y_{}_upfront".format(*terms) for terms in product(KINDS, YEARS, PAYMENTS)
}
FACTS = ("usd_per_hour", "basis", "as_of", "source")  # of each commitment, in prices.yaml
CHEAPEST = ("usd_per_hour", "kind", "as_of", "source")  # of the cheapest commitment of a term


def cheapest(prices: pd.DataFrame, years: int) -> dict[str, pd.Series]:
    """The cheapest commitment of a term for each price row, as columns commit_<years>y_*."""
    names = [key for (_, term, _), key in COMMITMENTS.items() if term == years]
    words = {
        COMMITMENTS[kind, term, payment]: f"{KINDS[kind]}, {PAYMENTS[payment]}"
        for kind, term, payment in COMMITMENTS
    }
    usd = (
        prices[[f"{name}_usd_per_hour" for name in names]]
        .set_axis(names, axis="columns")
        .astype(float)
    )
    least = usd.min(axis="columns")
    which = usd.fillna(float("inf")).idxmin(axis="columns").where(least.notna(), "")
    terms = {"usd_per_hour": least, "kind": which.map({"": "", **words})}
    for fact in ("as_of", "source"):
        terms[fact] = pd.Series(
            [prices.at[row, f"{name}_{fact}"] if name else "" for row, name in which.items()],
            index=prices.index,
        )
    return {f"commit_{years}y_{name}": terms[name] for name in CHEAPEST}
