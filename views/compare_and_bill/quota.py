"""Quota and availability: what an account must be allowed, and what AWS answered it."""

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.cost.markets import MARKETS
from calc.cost.quotas import Quota, quota_for
from calc.evaluate import Row
from calc.plan.bill import answers_of_aws
from calc.say.aws_commands import commands
from calc.say.numbers import is_missing, usd, with_noun
from calc.say.place import region_name
from calc.units import DAY_HOURS
from views.compare_and_bill.bill_lines import TEXTS
from views.shared.elements import points
from views.shared.markdown import plain


def draw(row: Row, market_line: Row, catalogs: Catalogs) -> None:
    """The quota, AWS's answers to the account, and the commands that ask."""
    sentence, questions = obtainable(row, market_line, catalogs)
    st.markdown(plain(sentence))
    quota = quota_of(row, catalogs)
    points(answer_sentences(answers_of_aws(row, quota.code, catalogs), quota))
    st.code("\n".join(questions), language="bash", wrap_lines=True)
    st.caption(TEXTS["asked"])


def quota_of(row: Row, catalogs: Catalogs) -> Quota:
    """Return the quota that the row's instances count against on its market."""
    terms, family = MARKETS[row["market"]], catalogs.instances.at[row["instance"], "family"]
    return quota_for(family, catalogs, terms.interrupted, terms.block_hours)


def obtainable(row: Row, market_line: Row, catalogs: Catalogs) -> tuple[str, list[str]]:
    """The quota that the account needs, and the commands that ask AWS."""
    terms = MARKETS[row["market"]]
    quota = quota_of(row, catalogs)
    code = f" ({quota.code})" if quota.code else ""
    vcpus = row["instances"] * catalogs.instances.at[row["instance"], "vcpus"]
    need_text = f"{vcpus:,.0f} vCPUs for {row['instances']:.0f} × {row['instance']}"
    need = with_noun(1, "block") if quota.counts == "blocks" else need_text
    head = f"Quota **{quota.name}**{code} in {region_name(row['region'], catalogs)}"
    sentence = f"{head}: {need}; a new account has 0. A price is known, capacity is not promised."
    booked_hours = market_line["billed_hours"] if terms.block_hours else 0
    return sentence, commands(row, quota, terms.interrupted, terms.block_hours, booked_hours)


def answer_sentences(table: pd.DataFrame, quota: Quota) -> list[str]:
    """Return AWS's answers to the account, a sentence each, or how to ask for them."""
    if not len(table):
        return [TEXTS["not_asked"]]
    return [f"{_answer(row, quota)} ({row['as_of']})." for row in table.to_dict("records")]


def _answer(row: Row, quota: Quota) -> str:
    """Return what AWS answered to a question about quota, Spot or capacity."""
    if row["answer"] == "refused":
        return (
            f"{TEXTS['asked_for'][row['signal']].format(**row)}: AWS refused the question "
            f"({row['error']}), which is not a no"
        )
    if row["signal"] == "quota":
        means = ""
        if quota.counts == "vCPUs":
            means = f", {with_noun(int(row['instances']), 'instance')} of this type"
        return f"Quota {row['of']} of the account: {row['value']:,.0f} {quota.counts}{means}"
    if row["signal"] == "score":
        place = ""
        if row["answer"] == "yes" and not is_missing(row["zone"]):
            place = f", zone {row['zone']}"
        value = f"{row['value']:.0f} of 10{place}" if row["answer"] == "yes" else "none here"
        return f"Spot placement score of {row['of'].replace('+', ', ')} together: {value}"
    if row["answer"] == "none":
        return (
            f"Capacity block of one {row['of']} for {row['hours'] / DAY_HOURS:.0f} days: asked, "
            f"none offered"
        )
    days = with_noun(round(row["hours"] / DAY_HOURS), "day")
    return (
        f"Capacity block of one {row['of']}, {days} from {row['starts_on']} in {row['zone']}: "
        f"{usd(row['usd_per_hour'])} an hour"
    )
