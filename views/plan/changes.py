"""What to change about the row on view: three changes, more on request."""

from typing import Any

import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.memory.fit import HOLDS
from calc.say.numbers import about, gib, is_missing, percent, span, three, usd
from calc.search.advice import advise
from calc.search.standing import scenario_of
from views.session import job_state, kept
from views.session.remembered import remembered
from views.shared.answer_words import day_text
from views.shared.elements import button
from views.shared.markdown import faint, plain

SHOWN = 3
SAME = {"training": "Trains the same", "inference": "Serves the same"}
OTHER = "Other work on the same machine: look at what it costs in quality first"
MACHINES = "Another machine"
NOTHING_SAVES = "No change that was tried saves money or memory worth naming."
NOTHING_FITS = "No change or pair of changes that was tried makes it fit: take a smaller model, LoRA or more GPUs."
TELLING_RATIO = 0.005  # nobody can tell half a per cent apart
TELLING_GIB = 0.05


def panel(row: Row, market: str, job: dict[str, Any], catalogs: Catalogs) -> None:
    """The useful changes within the job's limits; for a refused row, its own remedy."""
    if row["problem"] and not row["fits"]:
        return
    fits = row["fits"] in HOLDS
    st.subheader("What to change" if fits else "What would make it fit", anchor=False)
    tried = changes(row, market, job, catalogs)
    if not len(tried):
        st.markdown(NOTHING_SAVES if fits else NOTHING_FITS)
        return
    more = st.session_state.get("more_changes", False)
    shown = tried if more else tried.head(SHOWN)
    with st.container(border=True):
        for title, part in _groups(shown, row["work"]):
            st.caption(title)
            for index, change in part.iterrows():
                _line(index, change.to_dict(), row, market, fits, catalogs)
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(tried) > SHOWN:
            st.toggle(f"All {len(tried)} changes", key="more_changes", persist_state="session")
        st.caption(_caption(row))


def changes(row: Row, market: str, job: dict[str, Any], catalogs: Catalogs) -> pd.DataFrame:
    """Useful changes of a row, tried once for each scenario, market and job."""
    key = (scenario_of(row), market, job, catalogs.version)
    return remembered("advice", key, lambda: advise(row, catalogs, market, job))


def _line(index: int, change: Row, row: Row, market: str, fits: bool, catalogs: Catalogs) -> None:
    scenario, market = {**scenario_of(row), **change["set"]}, change["set"].get("market", market)
    scenario.pop("market", None)
    text = plain(f"**{change['change']}**: {'; '.join(_effects(change, bool(ends_of(row)), fits))}.")
    words, buttons = st.columns([4, 1], vertical_alignment="center")
    source = f" ({change['source']})" if change["source"] else ""
    quality = f"Quality: {change['quality']}{source}."
    words.markdown(f"{text}  \n{faint(plain(quality))}" if change["quality"] else text)
    with buttons, st.container(horizontal=True, gap="xsmall", horizontal_alignment="right"):
        name, full = change["change"], kept.is_full()
        take = f"The plan becomes this with {name}; Undo brings today's back."
        button("Take", job_state.adopt, scenario, market, catalogs, key=f"take_{index}", help=take)
        row, keep = {**scenario, "market": market, "instances_needed": None}, "Keeps it beside the plan."
        button("Keep", kept.keep, row, name, disabled=full, key=f"keep_change_{index}", help=keep)


def _groups(changes: pd.DataFrame, work: str) -> list[tuple[str, pd.DataFrame]]:
    """The changes under their headings: the same machine first, and there the same work."""
    stays, same = changes["same_machine"], changes["same_work"]
    parts = ((f"{SAME[work]} on the same machine", changes[stays & same]), (OTHER, changes[stays & ~same]), (MACHINES, changes[~stays]))
    return [(title, part) for title, part in parts if len(part)]


def _effects(change: Row, ends: bool, fits: bool) -> list[str]:
    """The job's money and time with the change; per hour, memory and speed against now."""
    parts = []
    if not is_missing(change["usd"]):
        time = f" in {span(change['hours'])}" if ends else " a month"
        same_bill = abs(change["saved_usd_per_hour"]) < TELLING_RATIO * change["usd_per_hour"]
        share = room(change) if not ends and same_bill else _share(change["saved_work_ratio"])
        parts.append(f"{about(change['usd'])}{time}{share}")
    if not is_missing(change["usd_per_hour"]):
        parts.append(f"{usd(change['usd_per_hour'])} an hour")
    if abs(change["saved_gib"]) >= TELLING_GIB:
        parts.append(f"{'−' if change['saved_gib'] > 0 else '+'}{gib(abs(change['saved_gib']))} per GPU")
    slow = change["slowdown_ratio"]
    if not is_missing(slow) and abs(slow - 1) >= TELLING_RATIO:
        parts.append(f"{three(1 / slow)} × as fast" if slow < 1 else f"takes {three(slow)} × as long")
    if not fits or change["fits"] == "tight":
        parts.append({"yes": "fits", "tight": "fits tightly: it may run out of memory"}[change["fits"]])
    return parts


def room(change: Row) -> str:
    """What a service could carry beside its load where the bill stays."""
    more = 1 / (1 - change["saved_work_ratio"]) - 1
    return f" (room for {percent(more)} more load)" if more > TELLING_RATIO else ""


def _share(saved: float) -> str:
    """(23 % less) of the same work's cost."""
    if is_missing(saved) or abs(saved) < TELLING_RATIO:
        return ""
    return f" ({percent(abs(saved))} {'less' if saved > 0 else 'more'} for the same work)"


def _caption(row: Row) -> str:
    """What all changes have in common, and what to know of spot and of other regions."""
    spot = f"Spot prices are the median of {day_text(row['spot_as_of'])}; capacity is not promised" if row["spot_as_of"] else ""
    spot += "; the spare instances of a service are counted" if spot and not ends_of(row) else ""
    taken = f", and {row['interruption_band']} of such instances are taken back in a month" if spot and row["interruption_band"] else ""
    day = (
        f"Other regions at their prices of {day_text(row['on_demand_as_of'])}: ask whether they have capacity."
        if row["on_demand_as_of"]
        else ""
    )
    estimated = "Each was estimated anew, with nothing else changed, and keeps the limits of the job."
    return " ".join(filter(None, (estimated, f"{spot}{taken}." if spot else "", day)))
