"""The wording of costs beside the bill: storage, traffic, gaps, a paid endpoint."""

from typing import Any

import pandas as pd

from calc.evaluate import Row
from calc.say.numbers import count, gib, is_missing, percent, usd
from calc.units import GIB

NOT_IN_IT = (
    "Other runs: attempts that fail, tuning of settings, evaluation. Teams often pay several times the run that ends up in use.",
    "Storage of data, images, disks of the instances.",
    "Traffic: out of AWS, between regions, between zones.",
    "People, support plans; tax and discounts of your own, unless set among the assumptions (Paid of every price).",
)
NOT_IN_A_MONTH = (
    "Instances for peaks above the load that is planned, and on demand spare ones for when one fails.",
    "Storage of images, disks of the instances, logs.",
    "Traffic: out of AWS and between zones; load balancers.",
    "People, support plans; tax and discounts of your own, unless set among the assumptions (Paid of every price).",
)


def not_in_it(row: Row) -> tuple[str, ...]:
    """What is not in the bill: what its storage comes to, and what nobody counted."""
    what = f"{row['kept_checkpoints']:g} checkpoints" if row["work"] == "training" else "the weights"
    return (
        f"Storage: {what}, {gib(row['stored_bytes'] / GIB)}{_stored(row)}.",
        *(NOT_IN_IT if row["work"] == "training" else NOT_IN_A_MONTH),
    )


def _stored(row: Row) -> str:
    """What it costs in a month, and what a GiB does."""
    month, stored = row["storage_usd_per_month"], row["stored_bytes"] / GIB
    where = "as set" if row["storage_usd_per_gib_month"] > 0 else "on S3"
    return "" if is_missing(month) or not stored > 0 else f", {usd(month)} a month {where} at ${month / stored:.4g} a GiB"


def small_lines(table: pd.DataFrame) -> list[dict[str, str]]:
    """Each line beside the bill on a line: what it is, how much, USD, of when."""
    return [
        {
            "What": f"{line['label']}{', once' if is_traffic(line) else ', a month'}",
            "GiB": f"{line['gib']:,.0f}" if line["gib"] >= 10 else f"{line['gib']:.2g}",
            "USD": "not known here" if is_missing(line["usd"]) else usd(line["usd"]),
            "Price of": line["as_of"],
            "Source": line["source"],
        }
        for line in table.to_dict("records")
    ]


def is_traffic(line: Row) -> bool:
    """Whether a line is paid for what moves, not for what lies."""
    return line["kind"].startswith("traffic")


SMALL_LINES = (
    "Each by itself, in no sum: storage of what is kept for a month, or the same taken out once. EBS and FSx bill what is provisioned, "
    "S3 what lies there. Where a price is not known, `make prices` reads it."
)


def per_token(row: Row, listed: dict[str, Any]) -> str:
    """The tokens a day from which own instances cost less than an endpoint (`listed`)."""
    tokens = row["endpoint_break_even_tokens"]
    if is_missing(tokens):
        return (
            f"Amazon Bedrock is not known to sell this model by the token in {row['region']}. `make prices` reads its list; to compare "
            "with another endpoint, set its prices among the assumptions below."
        )
    whose = f"As Amazon Bedrock lists {listed['sold_as']} in {row['region']} ({listed['as_of']}), " if listed else ""
    price = f"{usd(row['endpoint_usd_per_million_tokens'])} for a million generated tokens, prompts included"
    price = f"{whose}{price}:" if whose else f"At {price},"
    if row["endpoint_break_even_ratio"] > 1:
        return f"{price} own instances never pay off: that takes {count(tokens)} a day, more than they can generate."
    share = percent(row["endpoint_break_even_ratio"])
    return f"{price} own instances pay off from {count(tokens)} generated tokens a day, {share} of what they can."
