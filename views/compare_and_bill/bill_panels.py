"""The tables of the Bill page."""

from datetime import date

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.charts.lines import chart_lines
from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.say.numbers import count, usd
from calc.search.job_fields import JOB
from views.charts.base import DOLLARS, THREE
from views.compare_and_bill import bill_words as words
from views.compare_and_bill import ways_words as ways
from views.session import job_state
from views.session.present_plan import Present
from views.shared.elements import use_in_plan
from views.shared.markdown import plain
from views.shared.tables import columns_of, grid, text_table
from views.shared.theme import Ink
from views.understand.comparisons import draw_lines


def paid(lines: list[tuple[str, ...]]) -> None:
    """What is paid, how long, USD."""
    rows = [dict(zip(("What is paid", "For", "Time", "USD per hour", "USD"), map(plain, line), strict=True)) for line in lines]
    text_table(rows, "The lines of the bill")


def points(sentences: list[str] | tuple[str, ...]) -> None:
    """Sentences as a list."""
    st.markdown(plain("\n".join(f"- {sentence}" for sentence in sentences)))


def details(pairs: tuple[tuple[str, str], ...]) -> None:
    """A label and a value to a line."""
    text_table([{"": label, " ": plain(value)} for label, value in pairs], "Details", hide_header=True)


def markets(lines: list[Row], names: pd.Series, today: date) -> None:
    """The same job on every market."""
    table = pd.DataFrame(lines)
    days = [words.dated(day, name, today) for day, name in zip(table.pop("Of"), names, strict=True)]
    table.insert(table.columns.get_loc("USD in all") + 1, "Of", days)
    grid(table, columns_of("ways_to_pay"), "The same job on every market", "bill_markets")


def use_market(priced: pd.Series, plan: Present, catalogs: Catalogs) -> None:
    """The same plan, paid otherwise, becomes the plan; Undo brings today's back."""
    others = [market for market in priced if market in JOB["markets"].choices and market != plan.market]
    labels = {market: MARKETS[market].label for market in others}
    use_in_plan(labels, "use_market", lambda market: job_state.adopt(plan.scenario, market, catalogs))


def over_tokens(row: Row, table: pd.DataFrame, ink: Ink) -> None:
    """What the run costs if it is shorter or longer."""
    x = (f"times the run of {words.tokens(row)}", THREE)
    alt = f"{usd(row['run_usd_on_demand'])} on demand, {usd(row['run_usd_spot'])} on spot; cost grows with the tokens"
    _lines("Cost of the run", x, ("USD", DOLLARS), table, table["times"], alt, "over_tokens", ink)


def over_concurrency(row: Row, table: pd.DataFrame, ink: Ink) -> None:
    """What a million generated tokens cost as more sequences are served at once."""
    x, y = ("sequences at once on a replica; ringed: this plan", "d"), ("USD", DOLLARS)
    alt = f"{usd(row['usd_per_million_output_tokens'])} per million generated tokens on demand at {row['batch']:.0f} at once"
    _lines("A million generated tokens", x, y, table, table["sequences"], alt, "over_concurrency", ink)


def over_use(row: Row, table: pd.DataFrame, ink: Ink) -> None:
    """Every way to pay over the hours of use: where lines cross, the other one pays off."""
    of = "of use, runs after one another" if ends_of(row) else "of use in a month"
    _lines(
        "What it costs by use",
        (f"hours {of}", THREE),
        ("USD", DOLLARS),
        table,
        table["hours"],
        f"{usd(row['usd'])} at {row['hours']:,.0f} hours; where two lines cross, the other way to pay costs less from there on",
        "over_use",
        ink,
    )


def over_load(row: Row, table: pd.DataFrame, ink: Ink) -> None:
    """Own instances against an endpoint over the tokens of a day."""
    x = ("generated tokens a day; ringed: as dear either way", ",.2~s")
    alt = f"own instances and the endpoint cost the same at {count(row['endpoint_break_even_tokens'])} generated tokens a day"
    _lines("A month by load", x, ("USD a month", DOLLARS), table, table["tokens"], alt, "over_load", ink)


def small(table: pd.DataFrame) -> None:
    """Storage and traffic, a line each."""
    text_table(ways.small_lines(table), "Storage and traffic, each by itself")
    st.caption(ways.SMALL_LINES)


def _lines(
    title: str, x: tuple[str, str], y: tuple[str, str], table: pd.DataFrame, across: pd.Series, alt: str, key: str, ink: Ink
) -> None:
    if not len(table):
        st.info("No price is known for it in this region.", icon=":material/money_off:")
        return
    points = chart_lines(table, across, table["usd"], {name: name for name in table["line"].unique()}).table
    draw_lines(points, title, x, y, alt, key, ink)
