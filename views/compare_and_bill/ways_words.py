"""The wording of the ways to pay for a job, and of costs beside the bill."""

from typing import Any

import pandas as pd

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.cost.quotas import Quota, commands, quota_for
from calc.evaluate import Row
from calc.plan.bill import attempt_usd
from calc.say.numbers import about, count, counted, gib, is_missing, percent, usd
from calc.units import DAY_HOURS, GIB, MEAN_MONTH_HOURS, YEAR_HOURS
from views.shared.texts import TEXTS


def other_markets(table: pd.DataFrame) -> list[Row]:
    """A line for each market: USD per hour, billed hours, USD, basis and day of the price."""
    return [
        {
            "Paid as": MARKETS[row["market"]].title,
            "USD per hour": row["usd_per_hour"],
            "Hours billed": row["billed_hours"] if row["basis"] else float("nan"),
            "USD in all": row["usd"],
            "Signed for, USD": row["committed_usd"],
            "Over": over(row["committed_hours"]),
            "Pays off from, h a month": row["break_even_hours_per_month"],
            "Price is": row["basis"] or "not known here",
            "Of": row["as_of"],
            "What it binds you to": MARKETS[row["market"]].binds + _zones(row),
            "Source": row["source"],
        }
        for row in table.to_dict("records")
    ]


def over(hours: float) -> str:
    """The term of a commitment or a block: 1 year, 14 days; empty where use is paid."""
    if is_missing(hours):
        return ""
    years = hours / YEAR_HOURS
    return counted(int(years), "year") if years == int(years) and years > 0 else counted(round(hours / DAY_HOURS), "day")


def signed(market_line: Row) -> str:
    """What the row's market commits to: $121,949 over 1 year; empty where use is paid."""
    if is_missing(market_line["committed_usd"]):
        return ""
    even = market_line["break_even_hours_per_month"]
    pays = "never: on demand is cheaper however much is used" if even > MEAN_MONTH_HOURS else f"from {even:,.0f} of 730 hours a month"
    against = "" if is_missing(even) else f" Against on demand it pays off {pays}."
    return f"Signed for: {usd(market_line['committed_usd'])} over {over(market_line['committed_hours'])}, used or not.{against}"


ASKED = TEXTS["ways"]["asked"]


def quota_of(row: Row, catalogs: Catalogs) -> Quota:
    """The quota that the row's instances count against on its market."""
    terms, family = MARKETS[row["market"]], catalogs.instances.at[row["instance"], "family"]
    return quota_for(family, catalogs, terms.interrupted, terms.block_hours)


def obtainable(row: Row, market_line: Row, catalogs: Catalogs) -> tuple[str, list[str]]:
    """The quota that the account needs, and the commands that ask AWS."""
    terms, quota = MARKETS[row["market"]], quota_of(row, catalogs)
    code = f" ({quota.code})" if quota.code else ""
    vcpus = row["instances"] * catalogs.instances.at[row["instance"], "vcpus"]
    need_text = f"{vcpus:,.0f} vCPUs for {row['instances']:.0f} × {row['instance']}"
    need = counted(1, "block") if quota.counts == "blocks" else need_text
    sentence = f"Quota **{quota.name}**{code} in {row['region']}: {need}; a new account has 0. A price is known, capacity is not promised."
    booked = market_line["billed_hours"] if terms.block_hours else 0
    return sentence, commands(row, quota, terms.interrupted, terms.block_hours, booked)


def answered(table: pd.DataFrame, quota: Quota) -> list[str]:
    """What AWS answered the account, a sentence each; how to have it asked where nothing was."""
    if not len(table):
        return [NOT_ASKED]
    return [f"{_answer(row, quota)} ({row['as_of']})." for row in table.to_dict("records")]


NOT_ASKED = "AWS was not asked for this account: `make prices` with credentials reads quotas, offers of blocks and spot scores."


def _answer(row: Row, quota: Quota) -> str:
    if row["answer"] == "refused":
        return f"{ASKED_FOR[row['signal']].format(**row)}: AWS refused the question ({row['error']}), which is not a no"
    if row["signal"] == "quota":
        means = f", {counted(int(row['instances']), 'instance')} of this type" if quota.counts == "vCPUs" else ""
        return f"Quota {row['of']} of the account: {row['value']:,.0f} {quota.counts}{means}"
    if row["signal"] == "score":
        place = f", zone {row['zone']}" if row["answer"] == "yes" and row["zone"] == row["zone"] else ""
        value = f"{row['value']:.0f} of 10{place}" if row["answer"] == "yes" else "none here"
        return f"Spot placement score of {row['of'].replace('+', ', ')} together: {value}"
    if row["answer"] == "none":
        return f"Capacity block of one {row['of']} for {row['hours'] / DAY_HOURS:.0f} days: asked, none offered"
    days = counted(round(row["hours"] / DAY_HOURS), "day")
    return f"Capacity block of one {row['of']}, {days} from {row['starts_on']} in {row['zone']}: {usd(row['usd_per_hour'])} an hour"


ASKED_FOR = {"quota": "Quota {of}", "score": "Spot placement score of {of}", "block": "Capacity block of {of}"}


def no_commitments(table: pd.DataFrame) -> str:
    """What to do where no price of a Savings Plan is known, or of no commitment at all."""
    commitments = {row for row in table["market"] if MARKETS[row].committed_years}
    if not commitments:
        return "No price of a commitment is known for it: `make prices` reads Savings Plans and reserved terms."
    plans = any("Savings Plan" in MARKETS[row].label for row in commitments)
    return "" if plans else "No price of a Savings Plan is known for it, which often is the cheapest: `make prices` reads them."


def _zones(row: Row) -> str:
    low, high = row["low_zone_usd_per_hour"], row["high_zone_usd_per_hour"]
    return "" if is_missing(low) or is_missing(high) else f" An instance asked {usd(low)} to {usd(high)}, by zone."


def cheapest(table: pd.DataFrame, market: str, ends: bool) -> str:
    """Which market costs least in all, against the row's own."""
    spare = " Capacity is not promised." if ends else " Spare instances are counted; capacity is not promised."
    priced = table[table["usd"].notna()].sort_values("usd", kind="stable")
    if not len(priced):
        return "No price of any kind is known for it."
    least, market_line = priced.iloc[0], table[table["market"] == market].iloc[0]
    if least["market"] == market or is_missing(market_line["usd"]):
        return f"Least in all: {MARKETS[least['market']].phrase}, as above."
    saved = percent(1 - least["usd"] / market_line["usd"])
    note = spare if MARKETS[least["market"]].interrupted else ""
    return f"Least in all: {MARKETS[least['market']].phrase}, {about(least['usd'])}, {saved} less.{note}"


NOT_IN_IT = TEXTS["ways"]["not_in_it"]
FURTHER = TEXTS["ways"]["further_attempt"]
NOT_IN_A_MONTH = TEXTS["ways"]["not_in_a_month"]


def not_in_it(row: Row) -> tuple[str, ...]:
    """What is not in the bill: what its storage comes to, and what nobody counted."""
    what = f"{row['kept_checkpoints']:g} checkpoints" if row["work"] == "training" else "the weights"
    return (
        *([FURTHER.format(usd(attempt_usd(row)))] if row["work"] == "training" else []),
        f"Storage: {what}, {gib(row['stored_bytes'] / GIB)}{_stored(row)}.",
        *(NOT_IN_IT if ends_of(row) else NOT_IN_A_MONTH),
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
            "What": f"{line['label']}{', once' if line['kind'].startswith('traffic') else ', a month'}",
            "GiB": f"{line['gib']:,.0f}" if line["gib"] >= 10 else f"{line['gib']:.2g}",
            "USD": "not known here" if is_missing(line["usd"]) else usd(line["usd"]),
            "Price of": line["as_of"],
            "Source": line["source"],
        }
        for line in table.to_dict("records")
    ]


SMALL_LINES = TEXTS["ways"]["small_lines"]


def per_token(row: Row, listed: dict[str, Any]) -> str:
    """The tokens a day from which own instances cost less than an endpoint (`listed`)."""
    tokens = row["endpoint_break_even_tokens"]
    if is_missing(tokens):
        return (
            f"Amazon Bedrock is not known to sell this model by the token in {row['region']}. Make prices reads its list; to compare "
            "with another endpoint, set its prices among the assumptions below."
        )
    whose = f"As Amazon Bedrock lists {listed['sold_as']} in {row['region']} ({listed['as_of']}), " if listed else ""
    price = f"{usd(row['endpoint_usd_per_million_tokens'])} for a million generated tokens, prompts included"
    price = f"{whose}{price}:" if whose else f"At {price},"
    if row["endpoint_break_even_ratio"] > 1:
        return f"{price} own instances never pay off: that takes {count(tokens)} a day, more than they can generate."
    share = percent(row["endpoint_break_even_ratio"])
    return f"{price} own instances pay off from {count(tokens)} generated tokens a day, {share} of what they can."
