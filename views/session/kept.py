"""Kept scenarios: name, market, choices and figures of the day, all in the link."""

import re
from datetime import date
from typing import Any

import pandas as pd
import streamlit as st

from calc import estimate
from calc.catalogs.load import Catalogs
from calc.cost.job import job_of_rows
from calc.evaluate import Row
from calc.files.link.kept import MOST_KEPT, differing, scenario_name
from calc.plan.aged import figures_of
from calc.scenarios.inputs import DEFAULTS
from calc.search.job_fields import CHOSEN
from views.session import catalogs as session_catalogs
from views.session import extra_state, job_state
from views.session.remembered import remembered


def kept() -> list[dict[str, Any]]:
    """The kept scenarios in their order: name, market, scenario."""
    return st.session_state["kept"]


def is_full() -> bool:
    """Whether no more can be kept."""
    return len(kept()) >= MOST_KEPT


def keep(row: Row, name: str | None = None) -> None:
    """Callback: a row with its inputs and its market is kept, under a name of its own."""
    if is_full():
        return
    _set([*kept(), {"name": _free(scenario_name(name or _usual_name(row))), **written_down(row)}])


def keep_all(rows: list[Row]) -> None:
    """Callback: those of the rows that are not kept yet, in one step."""
    for row in rows:
        if not is_kept(row):
            keep(row)


def written_down(row: Row) -> dict[str, Any]:
    """A row as the link holds it: market, scenario and, as `then`, its figures of the day."""
    catalogs = session_catalogs.catalogs()
    scenario = differing(row, catalogs, extra_state.assumed())
    return {"market": row.get("market") or "on-demand", "scenario": scenario, "then": figures_of(row, catalogs, date.today())}


def is_kept(row: Row) -> bool:
    """Whether the scenario of a row is kept already."""
    if not kept():
        return False
    scenario = differing(row, session_catalogs.catalogs(), extra_state.assumed())
    return any(entry["scenario"] == scenario and entry["market"] == row.get("market") for entry in kept())


def remove(index: int) -> None:
    """Callback: no longer kept; Undo brings it back."""
    _set([entry for place, entry in enumerate(kept()) if place != index])


def rename(index: int, name: str) -> None:
    """Callback: another name."""
    _set([entry | {"name": _free(scenario_name(name), index)} if place == index else entry for place, entry in enumerate(kept())])


def plan(index: int, **columns: Any) -> None:
    """Callback: set the runs a month and the months of a kept scenario."""
    scenario = kept()[index]["scenario"] | columns
    scenario = {name: value for name, value in scenario.items() if name not in columns or value != DEFAULTS[name]}
    changed = {name: value for name, value in kept()[index].items() if name != "then"} | {"scenario": scenario}
    _set([changed if place == index else entry for place, entry in enumerate(kept())])


def duplicate(index: int) -> None:
    """Callback: once more, right after itself."""
    if not is_full():
        entry = kept()[index]
        _set([*kept()[: index + 1], entry | {"name": _free(entry["name"])}, *kept()[index + 1 :]])


def move(index: int, by: int) -> None:
    """Callback: so many places further."""
    to = index + by
    if 0 <= to < len(kept()):
        rest = [entry for place, entry in enumerate(kept()) if place != index]
        _set([*rest[:to], kept()[index], *rest[to:]])


def take(index: int) -> None:
    """Callback: a kept scenario becomes the plan; Undo restores the former one."""
    entry, catalogs = kept()[index], session_catalogs.catalogs()
    row = rows(catalogs).iloc[index]
    chosen = {name: row[name] for name in CHOSEN if row[name] == row[name]}  # also where it is the default, or an answer chooses anew
    job_state.adopt({**chosen, **entry["scenario"]}, entry["market"], catalogs)


def rows(catalogs: Catalogs) -> pd.DataFrame:
    """Every kept scenario estimated anew, with market, usd, hours and usd_per_hour."""
    return remembered("kept", (kept(), catalogs.version), lambda: _estimated(kept(), catalogs))


def _estimated(entries: list[dict[str, Any]], catalogs: Catalogs) -> pd.DataFrame:
    table = pd.DataFrame([{**entry["scenario"], "scenario": entry["name"]} for entry in entries], columns=None if entries else ["model"])
    frame: pd.DataFrame = estimate(table, catalogs, solve=False)
    markets = [entry["market"] for entry in entries]
    done = job_of_rows(frame, markets, 0, catalogs)
    return frame.assign(market=markets, usd=done.usd, hours=done.hours, usd_per_hour=done.usd_per_hour, seconds=done.seconds)


def _set(entries: list[dict[str, Any]]) -> None:
    st.session_state["kept"] = entries


def _usual_name(row: Row) -> str:
    """1 x p5.48xlarge; a card or nothing where no instance is named."""
    count = row.get("instances_needed")
    place = row.get("instance") or row.get("gpu") or row["model"]
    return f"{count:.0f} x {place}" if row.get("instance") and count == count and count else str(place)


def _free(name: str, index: int | None = None) -> str:
    """The name, numbered where another scenario has it."""
    taken = {entry["name"] for place, entry in enumerate(kept()) if place != index}
    plain = re.sub(r" \d+$", "", name)
    numbers = (f"{plain} {number}" for number in range(2, MOST_KEPT + 2))
    return next(free for free in (name, *numbers) if free not in taken)
