"""The answer used otherwise: a longer run, spot with its interruptions, more load, tokens."""

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.lines import chart_lines
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.say.fine_tune_then_serve import endpoint_price, not_sold
from calc.say.numbers import (
    count,
    duration,
    gib_of,
    is_missing,
    percent,
    span,
    three_digits,
    usd,
    with_noun,
)
from calc.say.speed import one_unit, pace_range_seconds, pace_unit, run_amount
from views.charts.base import DOLLARS, LARGE_COUNT, THREE
from views.compare_and_bill.bill_lines import TEXTS
from views.shared.markdown import plain
from views.shared.row_words import capital
from views.shared.tables import metric, text_table
from views.shared.theme import Ink
from views.understand.comparisons import draw_lines


def spot(row: Row) -> None:
    """Draw what interruptions do to a run on Spot."""
    text_table(
        [{"": label, " ": plain(value)} for label, value in _spot(row)], "Details", hide_header=True
    )
    st.caption(plain(TEXTS["spot_sources"]))


def _spot(row: Row) -> tuple[tuple[str, str], ...]:
    """Return what interruptions do to a run on Spot, as labels and values."""
    young = duration(row["young_interval_seconds"])
    overhead = row["spot_overhead_ratio"]
    return (
        ("Interruptions expected in the run", _rate_words(row["expected_interruptions"])),
        ("Mean time between two of them", duration(row["mean_uninterrupted_seconds"])),
        (
            "One checkpoint",
            (
                f"{gib_of(row['checkpoint_bytes'])}, written in "
                f"{duration(row['checkpoint_seconds'])}"
            ),
        ),
        (
            "Best interval between checkpoints",
            f"{duration(row['checkpoint_interval_seconds'])} (Daly; to first order {young}, Young)",
        ),
        (
            "Time that spot adds",
            "unknown" if is_missing(overhead) else f"{100 * overhead:.2g} % of the run",
        ),
        ("Saved after that, against on demand", percent(row["spot_saving_ratio"])),
        (
            "Sober case, an interruption a day",
            (
                f"{usd(row['sober_run_usd'])} in {span(row['sober_run_hours'])}, waits for "
                f"capacity counted"
            ),
        ),
        (
            f"If no instance comes back at {percent(row['fallback_ratio'])}",
            f"{usd(row['fallback_run_usd'])}, the rest on demand",
        ),
    )


def _rate_words(interruptions: float) -> str:
    """A number of interruptions: 0.0123; under 1 in 1,000."""
    return "under 1 in 1,000" if interruptions < 0.001 else three_digits(interruptions)


def serving(row: Row, catalogs: Catalogs) -> None:
    """Draw how fast the service answers, and what a million tokens cost."""
    with st.container(horizontal=True):
        for label, value, note in (*_paces(row, catalogs), *_token_prices(row)):
            metric(label, value, note)


def _paces(row: Row, catalogs: Catalogs) -> list[tuple[str, str, str]]:
    """Label, value, range: how fast it answers, in the unit of what is served."""
    seconds, low, high = pace_range_seconds(row, catalogs)
    pace_range = f"{duration(low)} to {duration(high)}"
    if pace_unit(row, catalogs) != "token":
        return [(capital(one_unit(row, catalogs)), duration(seconds), pace_range)]
    first, first_low, first_high = (
        duration(row[f"time_to_first_token_{end}seconds"]) for end in ("", "low_", "high_")
    )
    return [
        ("First token", first, f"{first_low} to {first_high}"),
        ("Each further token", duration(seconds), pace_range),
    ]


def _token_prices(row: Row) -> list[tuple[str, str, str]]:
    """Label, value, market: what a million tokens cost, of the kinds that the model has."""
    usd_per_million = {
        "Million prompt tokens": row["usd_per_million_input_tokens"],
        "Million generated tokens": row["usd_per_million_output_tokens"],
    }
    return [
        (label, usd(price), "on demand")
        for label, price in usd_per_million.items()
        if not is_missing(price)
    ]


def load(row: Row) -> str:
    """Return how many deployments a load takes, or where to set the load."""
    if is_missing(row["load_deployments"]):
        return "To be billed for a load, set “Load to serve” among the assumptions below."
    load_text = f"{three_digits(row['served_tokens_per_second'])} tokens a second"
    return (
        f"{load_text} take {with_noun(int(row['load_deployments']), 'deployment')} on "
        f"{with_noun(int(row['load_instances']), 'instance')}."
    )


def per_token(row: Row, prices: Row, catalogs: Catalogs) -> str:
    """The tokens a day from which own instances cost less than an endpoint (`prices`)."""
    tokens = row["endpoint_break_even_tokens"]
    if is_missing(tokens):
        return not_sold(row, catalogs)
    price = endpoint_price(row, prices, catalogs)
    if row["endpoint_break_even_ratio"] > 1:
        return (
            f"{price}: own instances never pay off: that takes {count(tokens)} a day, more than "
            f"they can generate."
        )
    share = percent(row["endpoint_break_even_ratio"])
    return (
        f"{price}: own instances pay off from {count(tokens)} generated tokens a day, {share} of "
        f"what they can."
    )


def over_tokens(row: Row, table: pd.DataFrame, ink: Ink, catalogs: Catalogs) -> None:
    """Draw what the run costs if it is shorter or longer."""
    x = (f"times the run of {run_amount(row, catalogs)}", THREE)
    alt = (
        f"{usd(row['run_usd_on_demand'])} on demand, {usd(row['run_usd_spot'])} on spot; cost "
        f"grows with the tokens"
    )
    _lines("Cost of the run", x, ("$", DOLLARS), table, table["times"], alt, "over_tokens", ink)


def over_concurrency(row: Row, table: pd.DataFrame, ink: Ink) -> None:
    """Draw the cost of a million generated tokens by concurrency."""
    x, y = ("concurrent sequences on a replica; ringed: this plan", "d"), ("$", DOLLARS)
    alt = (
        f"{usd(row['usd_per_million_output_tokens'])} per million generated tokens on demand at "
        f"{row['batch']:.0f} concurrent sequences"
    )
    _lines(
        "A million generated tokens", x, y, table, table["sequences"], alt, "over_concurrency", ink
    )


def over_use(row: Row, table: pd.DataFrame, ink: Ink) -> None:
    """Every way to pay over the hours of use: where lines cross, the other one pays off."""
    of = "of use, runs after one another" if ends_of(row) else "of use in a month"
    _lines(
        "What it costs by use",
        (f"hours {of}", THREE),
        ("$", DOLLARS),
        table,
        table["hours"],
        (
            f"{usd(row['usd'])} at {row['hours']:,.0f} hours; where two lines cross, the other "
            f"way to pay costs less from there on"
        ),
        "over_use",
        ink,
    )


def over_load(row: Row, table: pd.DataFrame, ink: Ink) -> None:
    """Own instances against an endpoint over the tokens of a day."""
    x = ("generated tokens a day; ringed: as dear either way", LARGE_COUNT)
    alt = (
        f"own instances and the endpoint cost the same at "
        f"{count(row['endpoint_break_even_tokens'])} generated tokens a day"
    )
    _lines(
        "A month by load", x, ("$ a month", DOLLARS), table, table["tokens"], alt, "over_load", ink
    )


def _lines(
    title: str,
    x: tuple[str, str],
    y: tuple[str, str],
    table: pd.DataFrame,
    across: pd.Series,
    alt: str,
    key: str,
    ink: Ink,
) -> None:
    """Draw USD over `across`, a line for each way to pay."""
    if not len(table):
        st.info("No price is known for it in this region.", icon=":material/money_off:")
        return
    names = {name: name for name in table["line"].unique()}
    points = chart_lines(table, across, table["usd"], names)
    draw_lines(points, title, x, y, alt, key, ink)
