"""Advice on the shown row: two changes, the others on request."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from calc.answers.advice import advise
from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.memory.fit import HOLDS
from calc.say.change import effect, nothing_helps
from calc.say.numbers import day_text, with_noun
from calc.search.row_status import scenario_of
from views.session import job_state
from views.session.recent_results import recent_result
from views.session.worker import in_worker
from views.shared.elements import button
from views.shared.markdown import plain
from views.shared.row_words import capital

MOST_SHOWN = 2
MOST_NAMED = 2  # in the heading of a closed group
COMPARED = ("precision", "optimizer", "tuning", "kv_precision")  # shown by Compare choices
PRICED_ELSEWHERE = ("market", "region")  # by the line of what the limits cost


def panel(row: Row, market: str, job: Row, catalogs: Catalogs) -> Row | None:
    """Draw the useful changes within the job's limits, and return the first of them."""
    if row["problem"] and not row["fits"]:
        return None
    fits = row["fits"] in HOLDS
    st.header("What to change" if fits else "What would make it fit", anchor=False)
    every_change = changes(row, market, job, catalogs)
    if not len(every_change):
        st.markdown(nothing_helps(row))
        return None
    is_shown = every_change.index.isin(_first(every_change, fits))
    lines(every_change[is_shown], row, market, catalogs)
    others(every_change[~is_shown], row, market, catalogs, is_all=not is_shown.any())
    first: Row = (every_change[is_shown] if is_shown.any() else every_change).iloc[0].to_dict()
    return first


def changes(
    row: Row, market: str, job: Row, catalogs: Catalogs, lacking_bytes: float = 0.0
) -> pd.DataFrame:
    """Useful changes of a row, tried once for each scenario, market and job."""
    key = (scenario_of(row), market, job, catalogs.version, lacking_bytes)
    return recent_result(
        "advice",
        key,
        lambda: in_worker(
            job, catalogs, advise, row, market=market, limits=job, lacking_bytes=lacking_bytes
        ),
    )


def others(rest: pd.DataFrame, row: Row, *look: Any, is_all: bool = False) -> bool:
    """The changes that are not shown first, in a closed group; whether one was pressed.

    `is_all`: none is shown before them, so that the group says what is in it.
    """
    if not len(rest):
        return False
    names = rest["change"].head(MOST_NAMED)
    more_count = len(rest) - MOST_NAMED
    label = "; ".join(names) + (f" and {more_count} more" if more_count > 0 else "")
    label = plain(capital(label)) if is_all else with_noun(len(rest), "more change")
    with st.expander(label, on_change="rerun", key="more_changes") as more:
        is_pressed = bool(more.open) and lines(rest, row, *look)
        if (
            more.open
            and not rest["set"].map(lambda change: change.keys().isdisjoint(PRICED_ELSEWHERE)).all()
        ):
            st.caption(_caption(row))
    return is_pressed


def lines(
    shown: pd.DataFrame,
    row: Row,
    market: str,
    catalogs: Catalogs,
    mends: bool = False,
    adopt: Callable = job_state.adopt,
) -> bool:
    """A button for each change, which makes it the plan, and its effect, other work last."""
    is_pressed = False
    for index, change in shown.sort_values("same_work", ascending=False, kind="stable").iterrows():
        scenario = {**scenario_of(row), **change["set"]}
        market_then = scenario.pop("market", market)
        with st.container(horizontal=True, vertical_alignment="center"):
            label, words = map(
                capital, (change["change"], effect(change.to_dict(), row, catalogs, mends))
            )
            is_pressed |= button(label, adopt, scenario, market_then, catalogs, key=f"take_{index}")
            st.markdown(plain(words), width="content")
    return is_pressed


def _first(every_change: pd.DataFrame, fits: bool) -> list[int]:
    """The changes shown first: the same work for no more, and not what is compared elsewhere."""
    elsewhere = {*PRICED_ELSEWHERE, *COMPARED}
    is_own = every_change["same_work"] & every_change["set"].map(
        lambda sets: sets.keys().isdisjoint(elsewhere)
    )
    if fits:
        return every_change.index[is_own & ~(every_change["saved_work_ratio"] < 0)][
            :MOST_SHOWN
        ].to_list()
    return (
        every_change.index[is_own][:MOST_SHOWN].to_list()
        or every_change.index[:MOST_SHOWN].to_list()
    )


def _caption(row: Row) -> str:
    """The day of spot prices and the share of instances taken back; other regions' prices."""
    spot = ""
    if row["spot_as_of"]:
        spot = (
            f"Spot prices are the median of {day_text(row['spot_as_of'])}; capacity is not promised"
        )
    take_words = ""
    if spot and row["interruption_band"]:
        take_words = f", and {row['interruption_band']} of such instances are taken back in a month"
    day = ""
    if row["on_demand_as_of"]:
        day = f"Other regions at their prices of {day_text(row['on_demand_as_of'])}."
    return " ".join(filter(None, (f"{spot}{take_words}." if spot else "", day)))
