"""Cheaper if you sign, and what no line of the bill holds."""

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.plan.bill import attempt_usd, on_markets, spare_usd, worth_signing
from calc.say.cases import Money
from calc.say.markets import what_it_binds_to
from calc.say.numbers import day_text, is_missing
from calc.say.paid import nothing_to_sign
from calc.say.setting import name_of
from calc.units import MEAN_MONTH_HOURS
from views.shared.elements import points
from views.shared.markdown import plain
from views.shared.tables import text_table

NOTHING_COUNTED = "Storage, traffic, tax, support and the time of people"


def cheaper(rows: list[Row], money: Money, catalogs: Catalogs) -> None:
    """For each answer in the bill what costs less when one signs, and what that binds to."""
    st.header("Cheaper if you sign", anchor=False)
    tables = [
        (row, on_markets(row, catalogs))
        for row in rows
        if row["market"] and not row["have"] and not row["problem"]
    ]
    offers = [(row, table, worth_signing(table, row["market"])) for row, table in tables]
    offers = [
        (row, table, commitments) for row, table, commitments in offers if len(commitments) > 1
    ]
    for row, table, commitments in offers:
        lines = [_line(row, line, money) for line in commitments.to_dict("records")]
        text_table(lines, f"What may be signed for: {row['scenario']}, {row['job']}")
        st.caption(plain(" ".join([*_binds(commitments), *_spot(row, table, money)])))
    if not offers:
        st.markdown(nothing_to_sign(_without_commitments(tables)))


def _without_commitments(tables: list[tuple[Row, pd.DataFrame]]) -> list[str]:
    """The services for which no price of a commitment is known; a run of hours needs none."""
    return [
        plain(row["scenario"])
        for row, table in tables
        if not ends_of(row) and not any(MARKETS[name].committed_years for name in table["market"])
    ]


def _line(row: Row, line: Row, money: Money) -> dict[str, str]:
    """One way to pay for a row: its price, what is signed for, and when that breaks even."""
    day = day_text(line["as_of"][:10]) or line["basis"]
    committed_usd = line["committed_usd"]
    return {
        plain(f"For {row['scenario']} ({row['job']})"): f"{MARKETS[line['market']].title}, {day}",
        "Once" if ends_of(row) else "A month": plain(money(line["usd"])),
        "You sign for": "nothing" if is_missing(committed_usd) else plain(money(committed_usd)),
        "Breaks even from": _breaks_even(line),
    }


def _breaks_even(line: Row) -> str:
    """When signing pays: from 460 of 730 h a month; for a block, the day on which it ends."""
    if MARKETS[line["market"]].block_hours:
        return "paid up front, ends on a date"
    hours = line["break_even_hours_per_month"]
    return "" if is_missing(hours) else f"{hours:,.0f} of {MEAN_MONTH_HOURS:,.0f} h a month"


def _binds(commitments: pd.DataFrame) -> list[str]:
    """Return what each commitment binds to: the type and region for the term."""
    return list(
        dict.fromkeys(what_it_binds_to(market) for market in commitments["market"].iloc[1:])
    )


def _spot(row: Row, table: pd.DataFrame, money: Money) -> list[str]:
    """Return the cost on Spot for comparison, if its price is known."""
    spot = table[(table["market"] == "spot") & table["usd"].notna()]
    if row["market"] == "spot" or not len(spot):
        return []
    cost = float(spot["usd"].iloc[0])
    return [
        (
            f"Spot is {'cheaper' if cost < row['usd'] else 'no cheaper'} here: {money(cost)}, and "
            f"capacity is not promised."
        )
    ]


def not_in_it(rows: list[Row], money: Money, catalogs: Catalogs) -> None:
    """Draw what is not counted, with the cost of a further attempt and of a spare instance."""
    st.header("Not in the bill", anchor=False)
    parts = [
        f"Another attempt at {_name(row, catalogs)}: {money(attempt_usd(row))}"
        if ends_of(row)
        else f"A spare instance for {_name(row, catalogs)}: {money(spare_usd(row))} a month"
        for row in rows
        if not is_missing(row["usd"])
    ]
    points([NOTHING_COUNTED, *parts])


def _name(row: Row, catalogs: Catalogs) -> str:
    """Return a kept answer with its model: Llama 3.1 8B, Full · p4d.24xlarge."""
    return f"{name_of('model', row['model'], catalogs)}, {row['scenario']}"
