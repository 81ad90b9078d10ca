"""Saved answers: name, job, market, choices, figures of the day and the tick, in the link."""

import re
from dataclasses import replace
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
from calc.mappings import Arguments, Cells
from calc.plan.bill import bill_rows
from calc.plan.drift import figures_of
from calc.plan.figures import records
from calc.plan.kept_answer import KeptAnswer
from calc.plan.ownership import DAYS, OWNERSHIP
from calc.say.answer_name import answer_name
from calc.say.job import short_job
from calc.say.setting import name_of
from calc.scenarios.inputs import DEFAULTS
from calc.scenarios.private_prices import paid_share
from views.session import catalogs as session_catalogs
from views.session import extra_state, job_state
from views.session.recent_results import recent_result
from views.session.worker import options

PLANNED = ("runs_per_month", "plan_months")  # of the bill, and no part of the answer


def entries() -> list[KeptAnswer]:
    """The kept answers in their order."""
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
    record = link_record(row)
    scenario = dict(record.scenario)
    if ends_of(row) and not is_planned:
        scenario["plan_months"] = 1
    if texts["have"]:
        scenario["start_seconds"] = 0
    short_texts: Arguments = {field: linkable(text, TEXTS[field]) for field, text in texts.items()}
    answer = replace(
        record,
        name=_free_of_model(scenario_name(name or answer_name(row, catalogs)), row, catalogs),
        scenario=scenario,
        is_in_bill=row.get("in_bill") == "yes",
        **short_texts,
    )
    _replace_entries([*entries(), answer])


def keep_all(rows: list[Row], names: list[str] | None = None) -> None:
    """Callback: keep the rows that are not kept yet, in one step; `names` are those of all rows."""
    for number, row in enumerate(rows):
        if not is_kept(row):
            keep(row, names[number] if names else None)


def link_record(row: Row) -> KeptAnswer:
    """Return a row as the link holds it, without a name and with the figures of today."""
    catalogs = session_catalogs.catalogs()
    scenario = differing(row, catalogs, _own_assumptions(row))
    figures = figures_of(row, catalogs, date.today())
    return KeptAnswer(row.get("market") or "on-demand", scenario, then=figures)


def _own_assumptions(row: Row) -> set[str]:
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
    scenario = _answer(differing(row, session_catalogs.catalogs(), _own_assumptions(row)))
    for place, entry in enumerate(entries()):
        if _answer(entry.scenario) == scenario and entry.market == row.get("market"):
            return place
    return None


def _answer(scenario: Cells) -> Row:
    """The scenario without what the bill is planned with."""
    return {name: value for name, value in scenario.items() if name not in PLANNED}


def remove(index: int) -> None:
    """Callback: keep an answer no longer; Undo brings it back."""
    _replace_entries([entry for place, entry in enumerate(entries()) if place != index])


def rename(index: int, name: str) -> None:
    """Callback: give an answer another name."""
    _replace_entries(
        [
            replace(entry, name=_free(scenario_name(name), index)) if place == index else entry
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
    texts: Arguments = {name: linkable(text, TEXTS[name]) for name, text in owners.items()}
    several = [*entries()]
    several[index] = replace(several[index], **texts)
    _replace_entries(several)


def take_discount(percent: float | None) -> None:
    """Callback: set the discount of the job and of every kept answer; below 0 it is a tax."""
    share = paid_share(percent) if percent else None
    extra_state.put("paid_ratio", share)
    _replace_entries([_with(entry, {"paid_ratio": share}) for entry in entries()])


def _with(answer: KeptAnswer, columns: Arguments) -> KeptAnswer:
    """Return a kept answer with other columns, without the saved figures that they change."""
    scenario = {**answer.scenario, **columns}
    for name, value in columns.items():
        if value in (None, DEFAULTS.get(name)):
            del scenario[name]
    figures_stay = columns.keys() <= {*PLANNED}
    return replace(answer, scenario=scenario, then=answer.then if figures_stay else {})


def tick(index: int, places: list[int]) -> None:
    """Callback: put this answer in the bill, instead of the others at `places`."""
    several = [*entries()]
    for place in places:
        several[place] = replace(several[place], is_in_bill=False)
    several[index] = replace(several[index], is_in_bill=True)
    _replace_entries(several)


def duplicate(index: int) -> None:
    """Callback: insert a copy of an answer right after it."""
    if not is_full():
        entry = entries()[index]
        copy = replace(entry, name=_free(entry.name), is_in_bill=False)
        _replace_entries([*entries()[: index + 1], copy, *entries()[index + 1 :]])


def move(index: int, by: int) -> None:
    """Callback: move an answer by a number of places."""
    to = index + by
    if 0 <= to < len(entries()):
        rest = [entry for place, entry in enumerate(entries()) if place != index]
        _replace_entries([*rest[:to], entries()[index], *rest[to:]])


def take(index: int) -> None:
    """Callback: a kept scenario becomes the plan; Undo restores the former one."""
    entry = entries()[index]
    catalogs = session_catalogs.catalogs()
    scenario = _with_choices(entry, rows(catalogs).iloc[index])
    job_state.adopt(scenario, entry.market, catalogs)


def jobs_of(answers: list[Row], catalogs: Catalogs) -> list[tuple[Row, Row]]:
    """Return each of the kept answers with its job, all its choices fixed."""
    by_name = {entry.name: entry for entry in entries()}
    pairs = []
    for row in answers:
        entry = by_name[row["scenario"]]
        job = job_state.job_of_scenario(_with_choices(entry, row), entry.market, catalogs)
        if entry.have:
            job = job | {"have": entry.have}
        pairs.append((row, job))
    return pairs


def _with_choices(entry: KeptAnswer, row: Row | pd.Series) -> Row:
    """The scenario of a kept answer with the choices of its row.

    They are set even if they are defaults: an answer would choose them anew.
    """
    choices = {name: row[name] for name in CHOSEN if not pd.isna(row[name])}
    return {**choices, **entry.scenario}


def rows(catalogs: Catalogs) -> pd.DataFrame:
    """Every kept answer estimated and billed anew, with job, market, have and in_bill."""
    return recent_result(
        "kept", (entries(), catalogs.version), lambda: _estimate(entries(), catalogs)
    )


def _estimate(answers: list[KeptAnswer], catalogs: Catalogs) -> pd.DataFrame:
    """Estimate and bill the kept answers anew."""
    table = pd.DataFrame(
        [{**answer.scenario, "scenario": answer.name} for answer in answers],
        columns=None if answers else ["model"],
    )
    frame: pd.DataFrame = estimate(table, catalogs, solve=False)
    jobs = [
        answer.job or short_job(row, catalogs)
        for answer, row in zip(answers, records(frame), strict=True)
    ]
    columns = {
        name: [getattr(answer, name) for answer in answers]
        for name in ("market", "have", *OWNERSHIP, *DAYS)
    }
    columns["in_bill"] = ["yes" if answer.is_in_bill else "" for answer in answers]
    return pd.concat(
        [pd.DataFrame({"job": jobs}), bill_rows(frame.assign(**columns), catalogs)], axis="columns"
    )


def _replace_entries(answers: list[KeptAnswer]) -> None:
    """Set the kept answers of this session."""
    st.session_state["kept"] = answers


def _free_of_model(name: str, row: Row, catalogs: Catalogs) -> str:
    """The name of a new answer, with its model if answers of other models alone have that name."""
    models = {entry.scenario.get("model") for entry in entries() if entry.name == name}
    if models and row["model"] not in models:
        name = scenario_name(f"{name} · {name_of('model', row['model'], catalogs)}")
    return _free(name)


def _free(name: str, index: int | None = None) -> str:
    """The name, with a number if another answer has it."""
    names = {entry.name for place, entry in enumerate(entries()) if place != index}
    plain = re.sub(r" \d+$", "", name)
    numbers = (f"{plain} {number}" for number in range(2, MOST_KEPT + 2))
    return next(free for free in (name, *numbers) if free not in names)
