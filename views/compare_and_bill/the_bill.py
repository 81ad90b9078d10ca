"""The bill of the ticked answers: once, a month, 12 months; discount and budget."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from calc.cost.job import ends_of
from calc.cost.markets import MARKETS
from calc.evaluate import Row
from calc.mappings import Arguments
from calc.plan.cases import cases
from calc.plan.figures import records
from calc.plan.plan_bill import PERIOD_MONTHS, AgainstBudget, against_budget
from calc.say.cases import HOW_CASES, Money, hour_summands, range_words, summands
from calc.say.numbers import percent, with_noun
from calc.scenarios.private_prices import discount_percent
from views.compare_and_bill.compared_answers import (
    BUDGET_FOR,
    BUDGET_USD,
    CONTINGENCY,
    DECISION,
    budget_period,
)
from views.compare_and_bill.moves import cases_of
from views.session import SESSION, kept_answers
from views.session.kept_answers import PLANNED
from views.shared.elements import expander, select
from views.shared.markdown import plain
from views.shared.row_words import own_share
from views.shared.tables import text_table

COLUMNS = {"once_usd": "Once", "monthly_usd": "A month", "year_usd": "12 months"}
HOURS = "GPU-hours"
HEADS = ("", *COLUMNS.values(), HOURS)
PERIODS = dict(zip(PERIOD_MONTHS, ("The first month", "3 months", "12 months"), strict=True))
HOW = """A run is paid each time that it is repeated, a service by the month. A commitment is paid
every month of its term, whether it is used or not. To commit to a base load and run peaks
On-Demand, keep the service twice, each with its own hours and copies."""


def heading(bill: pd.DataFrame, money: Money) -> str:
    """The sum of the bill, as in its last line: $49 once, and $1,359 a month."""
    if (bill["have"] != "").all():
        return "Nothing to pay: the machines are your own"
    sums = {
        words: summands(bill[name].tolist(), money)[1]
        for name, words in (("once_usd", "once"), ("monthly_usd", "a month"))
    }
    sum_words = (f"{total} {words}" for words, total in sums.items() if total)
    return ", and ".join(sum_words) or "No price is known"


def draw(bill: pd.DataFrame, places: list[int], money: Money) -> None:
    """The lines and their sum; `places` are those of the kept answers, none without any."""
    st.header("The bill", anchor=False)
    text_table(lines(bill, money), "The bill by answer")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _discount(records(bill))
        look: Arguments = {
            "step": 1000.0,
            "format": "%.0f",
            "placeholder": "none",
            "width": 170,
        }
        budget = st.number_input("Budget, $", 0.01, value=None, key=BUDGET_USD, **look, **SESSION)
        budget_period()  # sets the one that is chosen first
        period = select("For", PERIODS, BUDGET_FOR, width=170)
    cases_of(bill, f"{period}_usd", money)
    if budget:
        against = against_budget(bill, budget, period)
        st.progress(min(1.0, max(0.0, against.used_ratio)), plain(_against(against, money)))
    if plans_without_price := int((bill["year_usd"].isna() & (bill["have"] == "")).sum()):
        st.caption(
            f"{with_noun(plans_without_price, 'answer')} without a price "
            f"{'is' if plans_without_price == 1 else 'are'} not in it."
        )
    if places:
        expander("How often, for how long", "planned", lambda: _plan_fields(records(bill), places))


def lines(
    bill: pd.DataFrame, money: Money, write: Callable[[str], str] = plain
) -> list[dict[str, str]]:
    """Return a line for each answer and one for their sum, rounded so that they add up.

    `bill` is a table of with_gpu_hours; `write` escapes texts.
    """
    names_job = "job" in bill and bill["job"].nunique() > 1
    amounts = {label: summands(bill[name].tolist(), money) for name, label in COLUMNS.items()}
    once_hours, all_once = hour_summands(bill["once_gpu_hours"].tolist())
    month_hours, all_of_month = hour_summands(bill["monthly_gpu_hours"].tolist())
    result, sums = [], {"": "**Together**"}
    for place, row in enumerate(records(bill)):
        line = {"": write(_what(row, money, names_job))}
        for label, (texts, _) in amounts.items():
            line[label] = write(texts[place])
        line[HOURS] = _hours(once_hours[place], month_hours[place])
        result.append(line)
    if len(result) > 1:
        for label, (_, total) in amounts.items():
            sums[label] = f"**{write(total)}**" if total else ""
        together = _hours(all_once, all_of_month)
        sums[HOURS] = f"**{together}**" if together else ""
        result.append(sums)
    return result


def gpu_hours_words(once: Sequence[float], monthly: Sequence[float]) -> str:
    """The GPU-hours of several lines: 117 once, 5,840 a month; empty if neither is known."""
    return _hours(hour_summands(once)[1], hour_summands(monthly)[1])


def _hours(once: str, monthly: str) -> str:
    """Both kinds of GPU-hours, each where it is known."""
    words = {"once": once, "a month": monthly}
    return ", ".join(f"{hours} {when}" for when, hours in words.items() if hours)


def _what(row: Row, money: Money, names_job: bool) -> str:
    """Return the line of a row: Full · p5.48xlarge, 1 run, $9 of it for starting.

    Among several jobs each names its own at the end.
    """
    has_cost = row["year_usd"] > 0
    starting = (
        f"{money(row['start_usd'])} of it for starting" if has_cost and row["start_usd"] > 0 else ""
    )
    phrase = MARKETS[row["market"]].phrase
    market = "" if row["market"] == "on-demand" or phrase in row["scenario"] else phrase
    parts = (
        row["scenario"],
        market,
        _frequency(row),
        starting,
        own_share(row),
        "on your machines" if row["have"] else "",
    )
    job = f" ({row['job']})" if names_job else ""
    return ", ".join(filter(None, parts)) + job


def _frequency(row: Row) -> str:
    """Return how often a row is paid: 4 runs a month for 5 months; 3 copies, 730 h for 2 months."""
    count = row["runs_per_month"]
    is_whole = count == int(count)
    runs = with_noun(int(count), "run") if is_whole and count else f"{count:g} runs"
    if row["is_once"]:
        return runs
    is_part_of_year = row["plan_months"] < PERIOD_MONTHS["year"]
    months = f" for {with_noun(int(row['plan_months']), 'month')}" if is_part_of_year else ""
    if ends_of(row):
        return f"{runs} a month{months}"
    copies = "" if count == 1 else f"{count:g} copies, "
    return f"{copies}{row['hours']:,.0f} h{months}"


def _discount(rows: list[Row]) -> None:
    """Draw the discount from list prices, for the job and for everything saved."""
    ratios = {row["paid_ratio"] for row in rows}
    st.session_state["bill_discount"] = (
        discount_percent(ratios.pop()) or None if len(ratios) == 1 else None
    )
    look: Arguments = {"format": "%g", "placeholder": "0", "width": 150}
    st.number_input(
        "Your discount, %",
        -900.0,
        99.0,
        value=None,
        key="bill_discount",
        on_change=_take_discount,
        **look,
    )


def _take_discount() -> None:
    kept_answers.take_discount(st.session_state["bill_discount"])


def said_of(bill: pd.DataFrame, money: Money) -> list[str]:
    """The decision, the bill as a range, and the budget, as a report says them."""
    state = st.session_state
    period = budget_period()
    column = f"{period}_usd"
    bill_cases = cases(bill, column, state.get(CONTINGENCY) or 0.0)
    sentences = [f"Decision: {state.get(DECISION) or 'none yet'}"]
    range_text = range_words(bill_cases, bill[column].tolist(), money)
    sentences.append(f"{PERIODS[period]}: {range_text}. {HOW_CASES}")
    if budget := state.get(BUDGET_USD):
        against = against_budget(bill, budget, period)
        sentences.append(f"Budget {money(budget)}: {_against(against, money)}")
    return sentences


def _against(against: AgainstBudget, money: Money) -> str:
    """The bill beside the budget: 82 % of the budget; $3,652 left."""
    left = against.left_usd
    return (
        f"{percent(against.used_ratio)} of the budget; "
        f"{money(abs(left))} {'left' if left >= 0 else 'over it'}."
    )


def _plan_fields(rows: list[Row], places: list[int]) -> None:
    """A line of fields for each answer in the bill."""
    for row, place in zip(rows, places, strict=True):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            whose = plain(row["scenario"])
            look: Arguments = {"on_change": _plan, "width": 300}
            runs, months = (f"{name}_{place}" for name in PLANNED)
            st.session_state.update(
                {runs: float(row["runs_per_month"]), months: int(row["plan_months"])}
            )
            what = "Runs a month" if ends_of(row) else "Copies"
            st.number_input(
                f"{what} of {whose}",
                0.01,
                key=runs,
                format="%g",
                args=(place, "runs_per_month"),
                **look,
            )
            st.number_input(
                f"Months of {whose}", 1, 120, key=months, args=(place, "plan_months"), **look
            )
    st.caption(HOW)


def _plan(place: int, name: str) -> None:
    kept_answers.plan(place, **{name: st.session_state[f"{name}_{place}"]})
