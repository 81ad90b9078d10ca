"""What to change about the row on view: three changes, more on request."""

from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.memory.fit import HOLDS
from calc.search.advice import advise
from calc.search.standing import scenario_of
from views.elements import button
from views.session import job_state, kept
from views.session.remembered import remembered
from views.wording import advice as advice_words
from views.wording.markdown import faint, plain

SHOWN = 3


def panel(row: Row, market: str, job: dict[str, Any], catalogs: Catalogs) -> None:
    """The useful changes within the job's limits; for a refused row, its own remedy."""
    if row["problem"] and not row["fits"]:
        return
    fits = row["fits"] in HOLDS
    st.subheader("What to change" if fits else "What would make it fit", anchor=False)
    tried = changes(row, market, job, catalogs)
    if not len(tried):
        st.markdown(advice_words.nothing(fits))
        return
    more = st.session_state.get("more_changes", False)
    shown = tried if more else tried.head(SHOWN)
    with st.container(border=True):
        for title, part in advice_words.groups(shown, row["work"]):
            st.caption(title)
            for at, change in part.iterrows():
                _line(at, change.to_dict(), row, market, fits, catalogs)
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(tried) > SHOWN:
            st.toggle(f"All {len(tried)} changes", key="more_changes", persist_state="session")
        st.caption(advice_words.caption(row))


def changes(row: Row, market: str, job: dict[str, Any], catalogs: Catalogs) -> pd.DataFrame:
    """Useful changes of a row, tried once for each scenario, market and job."""
    key = (scenario_of(row), market, job, catalogs.version)
    return remembered("advice", key, lambda: advise(row, catalogs, market, job))


def _line(at: int, change: Row, row: Row, market: str, fits: bool, catalogs: Catalogs) -> None:
    scenario, market = {**scenario_of(row), **change["set"]}, change["set"].get("market", market)
    scenario.pop("market", None)
    text = plain(f"**{change['change']}**: {'; '.join(advice_words.effects(change, row['work'], fits))}.")
    words, buttons = st.columns([4, 1], vertical_alignment="center")
    words.markdown(f"{text}  \n{faint(plain(quality))}" if (quality := advice_words.quality(change)) else text)
    with buttons, st.container(horizontal=True, gap="xsmall", horizontal_alignment="right"):
        button(
            "Take",
            job_state.adopt,
            scenario,
            market,
            catalogs,
            key=f"take_{at}",
            help=f"The plan becomes this with {change['change']}; Undo brings today's back.",
        )
        button(
            "Keep",
            kept.keep,
            {**scenario, "market": market, "instances_needed": None},
            change["change"],
            disabled=kept.is_full(),
            key=f"keep_change_{at}",
            help="Keeps it beside the plan.",
        )
