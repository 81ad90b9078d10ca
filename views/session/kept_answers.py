"""Saved answers: name, job, market, choices, figures of the day and the tick, in the link."""

import re
from datetime import date
from typing import Any

import pandas as pd
import streamlit as st

from calc import estimate
from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.files.link.kept_answers import (
    MOST_KEPT,
    TEXTS,
    differing,
    linkable,
    scenario_name,
    set_assumptions,
)
from calc.job.fields import CHOSEN
from calc.mappings import Arguments, Json
from calc.plan.bill import billed
from calc.plan.drift import figures_of
from calc.plan.figures import records
from calc.plan.ownership import DAYS, OWNERSHIP
from calc.say.answer_name import answer_name
from calc.say.job import short_job
from calc.scenarios.inputs import DEFAULTS
from calc.scenarios.private_prices import paid_share
from views.session import catalogs as session_catalogs
from views.session import extra_state, job_state
from views.session.recent_results import recent_result
from views.session.worker import options

PLANNED = ("runs_per_month", "plan_months")  # of the bill, and no part of the answer


def entries() -> list[Row]:
    """The kept answers in their order: name, market, scenario; job, have, then, in_bill if any."""
    return st.session_state["kept"]


def is_full() -> bool:
    """Return whether no more can be kept."""
    return len(entries()) >= MOST_KEPT


def keep(row: Row, name: str | None = None, job: str = "", is_planned: bool = False) -> None:
    """Callback: keep a row with its inputs and its market, under a unique name.

    `job` is its job in short, by default the job on screen. A run is planned once, unless its
    months are planned already.
    """
    if is_full():
        return
    catalogs = session_catalogs.catalogs()
    asks = {} if job else options(job_state.current().job, catalogs).job
    texts = {
        "job": job or short_job(asks, catalogs),
        "have": row.get("have") or asks.get("have") or "",
        **{name: str(row.get(name) or "") for name in (*OWNERSHIP, *DAYS)},
    }
    fields = {field: linkable(text, TEXTS[field]) for field, text in texts.items() if text}
    if row.get("in_bill") == "yes":
        fields["in_bill"] = "yes"
    entry: Json = {
        "name": _free(scenario_name(name or answer_name(row, catalogs))),
        **fields,
        **link_record(row),
    }
    if ends_of(row) and not is_planned:
        entry["scenario"]["plan_months"] = 1
    if "have" in fields:
        entry["scenario"]["start_seconds"] = 0
    _replace_entries([*entries(), entry])


def keep_all(rows: list[Row], names: list[str] | None = None) -> None:
    """Callback: keep the rows that are not kept yet, in one step; `names` are those of all rows."""
    for number, row in enumerate(rows):
        if not is_kept(row):
            keep(row, names[number] if names else None)


def link_record(row: Row) -> Row:
    """Return a row as the link holds it: market, scenario, and today's figures as `then`."""
    catalogs = session_catalogs.catalogs()
    scenario = differing(row, catalogs, _assumed(row))
    return {
        "market": row.get("market") or "on-demand",
        "scenario": scenario,
        "then": figures_of(row, catalogs, date.today()),
    }


def _assumed(row: Row) -> set[str]:
    """The assumptions that the session or the row itself has set."""
    own = set_assumptions(row, session_catalogs.catalogs())
    return {*extra_state.own_assumptions(), *own}


def is_kept(row: Row) -> bool:
    """Return whether the scenario of a row is kept already."""
    return place_of(row) is not None


def place_of(row: Row) -> int | None:
    """The index of the kept answer with the scenario of a row; None if there is none."""
    if not entries():
        return None
    scenario = _answer(differing(row, session_catalogs.catalogs(), _assumed(row)))
    for place, entry in enumerate(entries()):
        if _answer(entry["scenario"]) == scenario and entry["market"] == row.get("market"):
            return place
    return None


def _answer(scenario: Row) -> Row:
    """The scenario without what the bill is planned with."""
    return {name: value for name, value in scenario.items() if name not in PLANNED}


def remove(index: int) -> None:
    """Callback: keep an answer no longer; Undo brings it back."""
    _replace_entries([entry for place, entry in enumerate(entries()) if place != index])


def rename(index: int, name: str) -> None:
    """Callback: give an answer another name."""
    _replace_entries(
        [
            entry | {"name": _free(scenario_name(name), index)} if place == index else entry
            for place, entry in enumerate(entries())
        ]
    )


def plan(index: int, **columns: Any) -> None:
    """Callback: set the runs a month, the months or another column of a kept scenario."""
    _replace_entries(
        [
            _with(entry, columns) if place == index else entry
            for place, entry in enumerate(entries())
        ]
    )


def own(index: int, **owners: str) -> None:
    """Callback: set the team, owner or project of a kept answer."""
    texts = {name: linkable(text, TEXTS[name]) for name, text in owners.items()}
    entry = {name: value for name, value in entries()[index].items() if name not in texts}
    entry |= {name: text for name, text in texts.items() if text}
    _replace_entries([entry if place == index else other for place, other in enumerate(entries())])


def take_discount(percent: float | None) -> None:
    """Callback: set the discount of the job and of every kept answer; below 0 it is a tax."""
    paid = paid_share(percent) if percent else None
    extra_state.put("paid_ratio", paid)
    _replace_entries([_with(entry, {"paid_ratio": paid}) for entry in entries()])


def _with(entry: Json, columns: Arguments) -> Row:
    """A kept entry with other columns, and without figures of the day that they change."""
    scenario = entry["scenario"] | columns
    scenario = {
        name: value
        for name, value in scenario.items()
        if name not in columns or value not in (None, DEFAULTS.get(name))
    }
    stays = {
        name: value
        for name, value in entry.items()
        if name != "then" or columns.keys() <= {*PLANNED}
    }
    return stays | {"scenario": scenario}


def tick(index: int, places: list[int]) -> None:
    """Callback: put this answer in the bill, instead of the others at `places`."""
    ticked = [*entries()]
    for place in places:
        ticked[place] = {name: cell for name, cell in ticked[place].items() if name != "in_bill"}
    ticked[index] = ticked[index] | {"in_bill": "yes"}
    _replace_entries(ticked)


def duplicate(index: int) -> None:
    """Callback: insert a copy of an answer right after it."""
    if not is_full():
        entry = entries()[index]
        copy = {name: value for name, value in entry.items() if name != "in_bill"} | {
            "name": _free(entry["name"])
        }
        _replace_entries([*entries()[: index + 1], copy, *entries()[index + 1 :]])


def move(index: int, by: int) -> None:
    """Callback: move an answer by a number of places."""
    to = index + by
    if 0 <= to < len(entries()):
        rest = [entry for place, entry in enumerate(entries()) if place != index]
        _replace_entries([*rest[:to], entries()[index], *rest[to:]])


def take(index: int) -> None:
    """Callback: a kept scenario becomes the plan; Undo restores the former one."""
    entry, catalogs = entries()[index], session_catalogs.catalogs()
    row = rows(catalogs).iloc[index]
    chosen = {
        name: row[name] for name in CHOSEN if row[name] == row[name]
    }  # also where it is the default, or an answer chooses anew
    job_state.adopt({**chosen, **entry["scenario"]}, entry["market"], catalogs)


def jobs_of(answers: list[Row], catalogs: Catalogs) -> list[tuple[Row, Row]]:
    """Return each of the kept answers with its job, all its choices fixed."""
    by_name = {entry["name"]: entry for entry in entries()}
    found = []
    for row in answers:
        entry = by_name[row["scenario"]]
        chosen = {name: row[name] for name in CHOSEN if row[name] == row[name]}
        job = job_state.job_of_scenario(chosen | entry["scenario"], entry["market"], catalogs)
        found.append((row, job | ({"have": entry["have"]} if "have" in entry else {})))
    return found


def rows(catalogs: Catalogs) -> pd.DataFrame:
    """Every kept answer estimated and billed anew, with job, market, have and in_bill."""
    return recent_result(
        "kept", (entries(), catalogs.version), lambda: _estimate(entries(), catalogs)
    )


def _estimate(entries: list[Row], catalogs: Catalogs) -> pd.DataFrame:
    """Estimate and bill the kept answers anew."""
    table = pd.DataFrame(
        [{**entry["scenario"], "scenario": entry["name"]} for entry in entries],
        columns=None if entries else ["model"],
    )
    frame: pd.DataFrame = estimate(table, catalogs, solve=False)
    jobs = [
        entry.get("job") or short_job(row, catalogs)
        for entry, row in zip(entries, records(frame), strict=True)
    ]
    columns = {
        name: [entry.get(name, "") for entry in entries]
        for name in ("market", "have", "in_bill", *OWNERSHIP, *DAYS)
    }
    return pd.concat(
        [pd.DataFrame({"job": jobs}), billed(frame.assign(**columns), catalogs)], axis="columns"
    )


def _replace_entries(entries: list[Row]) -> None:
    """Set the kept answers of this session."""
    st.session_state["kept"] = entries


def _free(name: str, index: int | None = None) -> str:
    """The name, with a number if another answer has it."""
    taken = {entry["name"] for place, entry in enumerate(entries()) if place != index}
    plain = re.sub(r" \d+$", "", name)
    numbers = (f"{plain} {number}" for number in range(2, MOST_KEPT + 2))
    return next(free for free in (name, *numbers) if free not in taken)
