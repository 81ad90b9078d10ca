"""AWS's own accelerators, in sentences."""

import pandas as pd

from calc.evaluate import Row
from calc.plan.figures import records
from calc.say.numbers import (
    billed_usd,
    is_missing,
    short_duration,
    span,
    three_digits,
    usd,
    with_noun,
)

PORTING = (
    "Trainium and Inferentia use AWS's Neuron compiler instead of CUDA: allow for the effort of "
    "porting, compiling and testing the model. No figure here is estimated from GPUs."
)
SOLD = {"on-demand": "on demand", "capacity-block": "in a Capacity Block"}


def neuron_sentences(rows: pd.DataFrame) -> list[str]:
    """Return what is known of a plan on Neuron: memory, published rates and cost, and gaps."""
    needed_gib = float(rows["needed_gib"].iloc[0])
    alone = rows[rows["instances_least"] == 1].sort_values("memory_gib", kind="stable")
    least = alone["instance"].iloc[0] if len(alone) else ""
    holds = f"{least} is the smallest instance that holds it" if least else "no instance holds it"
    memory = (
        f"The model itself needs {three_digits(needed_gib)} GiB without working memory; {holds}."
    )
    rows_with_rate = [row for row in records(rows) if not is_missing(row["rate_tokens_per_second"])]
    rates = [_rate(row) for row in rows_with_rate] or [
        "AWS publishes no rate for this model and work, so there is no time and no price."
    ]
    return [memory, *rates]


def _rate(row: Row) -> str:
    """Machines, published rate, time and cost: 32 × trn1.32xlarge: 392,806 tokens a second ..."""
    where = f"{row['rate_instances']:.0f} × {row['instance']}"
    lengths = (
        ""
        if is_missing(row["rate_sequence_tokens"])
        else f", {row['rate_sequence_tokens']:,.0f} tokens"
    )
    flight = (
        ""
        if is_missing(row["rate_in_flight"])
        else f", {with_noun(int(row['rate_in_flight']), 'request')} in flight"
    )
    head = (
        f"{where}: {row['rate_tokens_per_second']:,.0f} tokens a second as published "
        f"({row['rate_precision']}{lengths}{flight})"
    )
    if not is_missing(row["token_seconds"]):
        head += (
            f", first token {short_duration(row['first_token_seconds'])}, then "
            f"{short_duration(row['token_seconds'])} each"
        )
    if is_missing(row["usd_per_hour"]):
        return f"{head}. No price is known."
    if not is_missing(row["usd"]):
        cost = f"{span(row['hours'])} and {billed_usd(row['usd'])} {market_and_region(row)}"
        return f"{head}: this run takes {cost}."
    cost = f"{usd(row['usd_per_million_tokens'])} a million tokens {market_and_region(row)}"
    return f"{head}: {cost}, only at that load."


def market_and_region(row: Row) -> str:
    """The market and the region of an instance: on demand in us-east-1."""
    return f"{SOLD[str(row['market'])]} in {row['region']}"
