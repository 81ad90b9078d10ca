"""Prices of the job on every market, with terms and dates, and what they leave out."""

from datetime import date

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS, SAVINGS_PLANS
from calc.evaluate import Row
from calc.job.fields import JOB
from calc.plan.bill import attempt_usd
from calc.say.markets import what_it_binds_to
from calc.say.numbers import (
    billed_usd,
    gib_of,
    is_missing,
    percent,
    three_digits,
    usd,
    with_noun,
)
from calc.units import DAY_HOURS, GIB, MEAN_MONTH_HOURS, YEAR_HOURS
from views.compare_and_bill.bill_lines import TEXTS, price_day_words
from views.session import job_state
from views.session.present_plan import Present
from views.shared.elements import use_in_plan
from views.shared.tables import columns_of, grid, text_table


def markets(table: pd.DataFrame, today: date) -> None:
    """A line for each market: price, term, basis and day."""
    grid(
        pd.DataFrame(_lines(table, today)),
        columns_of("ways_to_pay"),
        "The same job on every market",
        "bill_markets",
    )


def _lines(table: pd.DataFrame, today: date) -> list[Row]:
    """A line for each way to pay."""
    return [_line(row, today) for row in table.to_dict("records")]


def _line(row: Row, today: date) -> Row:
    """The line of one way to pay; without a price its hours are empty."""
    has_price = bool(row["basis"])
    market = MARKETS[row["market"]]
    return {
        "Paid as": market.title,
        "$ an hour": row["usd_per_hour"],
        "Hours billed": row["billed_hours"] if has_price else float("nan"),
        "GPU-hours": row["billed_gpu_hours"] if has_price else float("nan"),
        "Cost": row["usd"],
        "Price of": price_day_words(row["as_of"], row["market"], today),
        "You sign for, $": row["committed_usd"],
        "Term": over(row["committed_hours"]),
        "Breaks even from, hours a month": row["break_even_hours_per_month"],
        "Basis": row["basis"] or "not known here",
        "Limits of it": what_it_binds_to(row["market"]) + _zones(row),
        "Source": row["source"],
    }


def over(hours: float) -> str:
    """The term of a commitment or a block: 1 year, 14 days; empty where use is paid."""
    if is_missing(hours):
        return ""
    years = hours / YEAR_HOURS
    if years == int(years) and years > 0:
        return with_noun(int(years), "year")
    return with_noun(round(hours / DAY_HOURS), "day")


def commitment_words(market_line: Row) -> str:
    """Return the commitment of a market, as $121,949 over 1 year; empty if use is paid."""
    if is_missing(market_line["committed_usd"]):
        return ""
    even = market_line["break_even_hours_per_month"]
    even_words = (
        "never: on demand is cheaper however much is used"
        if even > MEAN_MONTH_HOURS
        else f"from {even:,.0f} of 730 hours a month"
    )
    against = "" if is_missing(even) else f" Against on demand it breaks even {even_words}."
    return (
        f"You sign for {usd(market_line['committed_usd'])} over "
        f"{over(market_line['committed_hours'])}, used or not.{against}"
    )


def no_commitments(table: pd.DataFrame) -> str:
    """Return what to do if no price of a Savings Plan, or of any commitment, is known."""
    commitments = {row for row in table["market"] if MARKETS[row].committed_years}
    if not commitments:
        return (
            "No price of a commitment is known for it: `make prices` reads Savings Plans and "
            "reserved terms."
        )
    if commitments & SAVINGS_PLANS:
        return ""
    return (
        "No price of a Savings Plan is known for it, which often is the cheapest: `make "
        "prices` reads them."
    )


def _zones(row: Row) -> str:
    """Return the range of prices by zone; empty if it is not known."""
    low, high = row["low_zone_usd_per_hour"], row["high_zone_usd_per_hour"]
    if is_missing(low) or is_missing(high):
        return ""
    return f" An instance asked {usd(low)} to {usd(high)}, by zone."


def cheapest(table: pd.DataFrame, market: str, ends: bool) -> str:
    """Which market costs least in all, against the row's own."""
    spare = (
        " Capacity is not promised."
        if ends
        else " Spare instances are counted; capacity is not promised."
    )
    offers = table[table["usd"].notna()].sort_values("usd", kind="stable")
    if not len(offers):
        return "No price of any kind is known for it."
    least, market_line = offers.iloc[0], table[table["market"] == market].iloc[0]
    if least["market"] == market or is_missing(market_line["usd"]):
        return f"Cheapest for these machines: {MARKETS[least['market']].phrase}, as on Plan."
    saved_percent = percent(1 - least["usd"] / market_line["usd"])
    note = spare if MARKETS[least["market"]].interrupted else ""
    return (
        f"Cheapest for these machines: {MARKETS[least['market']].phrase}, "
        f"{billed_usd(least['usd'])}, {saved_percent} less.{note}"
    )


def use_market(markets: pd.Series, plan: Present, catalogs: Catalogs) -> None:
    """Make the same plan on another market the plan; Undo brings the present one back."""
    others = [
        market for market in markets if market in JOB["markets"].choices and market != plan.market
    ]
    labels = {market: MARKETS[market].label for market in others}
    use_in_plan(
        labels, "use_market", lambda market: job_state.adopt(plan.scenario, market, catalogs)
    )


def not_in_it(row: Row) -> tuple[str, ...]:
    """Return what is not in the bill: the cost of storage, and what was not counted."""
    what = (
        f"{row['kept_checkpoints']:g} checkpoints" if row["work"] == "training" else "the weights"
    )
    return (
        *([TEXTS["further"].format(usd(attempt_usd(row)))] if row["work"] == "training" else []),
        f"Storage: {what}, {gib_of(row['stored_bytes'])}{_storage_words(row)}.",
        *TEXTS["not_in_it" if ends_of(row) else "not_in_a_month"],
    )


def energy(row: Row, catalogs: Catalogs) -> str:
    """Electricity: 7.94 kWh and 3.15 kg CO2e a run, and what that rests on."""
    if is_missing(row["carbon_kg"]):
        return "Electricity: not known for this card and region."
    grid = catalogs.grids.loc[row["region"]]
    often = "a run on demand" if ends_of(row) else "a month"
    power = percent(
        row["training_power_ratio" if row["work"] == "training" else "serving_power_ratio"]
    )
    where = (
        f"{grid['grid_g_per_kwh']:.0f} g for a kWh in {catalogs.regions.at[row['region'], 'name']}"
    )
    rests = f"{power} of the rated power, PUE {grid['pue']:.2f}, {where}"
    return (
        f"Electricity, in the price: {three_digits(row['energy_kwh'])} kWh and "
        f"{three_digits(row['carbon_kg'])} kg CO2e {often} ({rests})."
    )


def _storage_words(row: Row) -> str:
    """Return the cost of storage a month, and of a GiB."""
    month, gib = row["storage_usd_per_month"], row["stored_bytes"] / GIB
    where = "as set" if row["storage_usd_per_gib_month"] > 0 else "on S3"
    if is_missing(month) or not gib > 0:
        return ""
    return f", {usd(month)} a month {where} at ${month / gib:.4g} a GiB"


def small_lines(table: pd.DataFrame) -> list[dict[str, str]]:
    """Each line beside the bill on a line: what it is, how much, USD, of when."""
    return [_small_line(line) for line in table.to_dict("records")]


def _small_line(line: Row) -> dict[str, str]:
    """One line of storage or traffic: what it is, its size, its cost and its price's source."""
    period = "once" if line["kind"].startswith("traffic") else "a month"
    return {
        "What": f"{line['label']}, {period}",
        "GiB": f"{line['gib']:,.0f}" if line["gib"] >= 10 else f"{line['gib']:.2g}",
        "USD": "not known here" if is_missing(line["usd"]) else usd(line["usd"]),
        "Price of": line["as_of"],
        "Source": line["source"],
    }


def small(table: pd.DataFrame) -> None:
    """Storage and traffic, a line each."""
    text_table(small_lines(table), "Storage and traffic, each by itself")
    st.caption(TEXTS["small_lines"])
