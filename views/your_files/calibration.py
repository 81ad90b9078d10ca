"""Calibration: the error of the estimate by a run's log, and the button that applies it."""

from contextlib import suppress
from datetime import date
from functools import partial

import pandas as pd
import streamlit as st

from calc import estimate
from calc.catalogs.load import Catalogs, with_readings
from calc.evaluate import Row
from calc.files.calibration.entries import calibration_text, entries_of_readings
from calc.files.calibration.run_logs import LoggedRun, runs_of_log
from calc.files.calibration.run_readings import RunReading, measured_words, readings_of_runs
from calc.files.door import REFUSALS
from calc.files.imported_run import ImportedRun
from calc.files.oom.explain import tells
from calc.mappings import Json
from calc.say.numbers import day_text, is_missing, with_noun
from calc.say.place import short_card
from calc.say.setting import setting
from calc.search.row_status import scenario_of
from views.session import catalogs as session_catalogs
from views.session import reading
from views.session.recent_results import recent_result
from views.shared.elements import button, points
from views.shared.markdown import plain
from views.shared.tables import TEXT, grid

TITLE = "What your runs say of the estimate"
USE = "Calibrate the plan on it"
TAKE_OFF = "Take the calibration off"
SAVE = "Save as calibration.yaml"
RESTS = (
    "The plan is calibrated on {}. Kept in catalogs/own/, calibration.yaml does so for everybody "
    "who uses this installation."
)
RESTED = (
    "Not used so far: press the button, and every figure that it bears on says that it rests on it."
)
HEADINGS = ("Day", "From", "Measured", "Beside the estimate", "Model", "On")
MUCH = 1.005  # half a per cent is as estimated


def of_memory_alone(logs: list[bytes], catalogs: Catalogs) -> list[bytes]:
    """The texts that are explained by their memory: all but those that tell a run's speed alone."""
    return [
        content
        for content in logs
        if _is_failure(content, catalogs) or not _runs(content, catalogs)
    ]


def panel(
    logs: list[bytes], imported_run: ImportedRun | None, plan_row: Row | None, catalogs: Catalogs
) -> None:
    """The runs that figures rest on, and what these logs say of the run brought or the plan."""
    in_use = session_catalogs.readings(catalogs)
    row, run_catalogs = (
        (imported_run.row, imported_run.catalogs) if imported_run else (plan_row, catalogs)
    )
    read: list[RunReading] = []
    left_out: list[str] = []
    if row:
        runs = [run for content in logs for run in _runs(content, catalogs)]
        read, left_out = _read(runs, row, run_catalogs)
    if not (read or left_out or in_use):
        return
    st.header(TITLE, anchor=False)
    if left_out:
        points(left_out)
    if read and row:
        whose = "your run" if imported_run else "the plan"
        st.caption(
            plain(f"The estimate is that of {whose} without it: {setting(row, run_catalogs)}")
        )
    fresh = [entry for entry in entries_of_readings(read).values() if entry not in in_use.values()]
    if fresh or in_use:
        _entries([*in_use.values(), *fresh], bool(fresh), bool(in_use), run_catalogs)


def _entries(several: list[Json], is_fresh: bool, is_in_use: bool, catalogs: Catalogs) -> None:
    """Draw the readings as a table, whether the plan rests on them, and what to do with them."""
    grid(
        pd.DataFrame([_line(entry, catalogs) for entry in several]),
        {name: TEXT(name) for name in HEADINGS},
        "Runs of your own beside the estimate",
        "own_runs",
    )
    count = with_noun(len(several), "figure")
    st.markdown(RESTED if is_fresh else plain(RESTS.format(f"{count} of your runs")))
    entries = {f"run-{number:02d}": entry for number, entry in enumerate(several, start=1)}
    with st.container(horizontal=True, vertical_alignment="center"):
        _presses(entries, is_fresh, is_in_use)


def _presses(entries: Json, is_fresh: bool, is_in_use: bool) -> None:
    """Use them, take them off, save them."""
    if is_fresh:
        button(USE, session_catalogs.rest_on, entries, icon="tune", type="primary", key="calibrate")
    if is_in_use:
        button(TAKE_OFF, session_catalogs.rest_on, {}, icon="undo", key="calibration_off")
    text = partial(calibration_text, entries)
    st.download_button(
        SAVE,
        text,
        "calibration.yaml",
        on_click="ignore",
        icon=":material/download:",
        key="calibration_file",
    )


def _runs(content: bytes, catalogs: Catalogs) -> list[LoggedRun]:
    with suppress(*REFUSALS):  # which the explanation of the text tells
        return reading.read(runs_of_log, content, catalogs=catalogs)
    return []


def _is_failure(content: bytes, catalogs: Catalogs) -> bool:
    """Return whether a log says why a run failed; such logs are explained, not compared.

    A log that cannot be read counts as one, so that its refusal is shown.
    """
    with suppress(*REFUSALS):
        return reading.read(tells, content, catalogs=catalogs)
    return True


def _read(
    several: list[LoggedRun], row: Row, catalogs: Catalogs
) -> tuple[list[RunReading], list[str]]:
    """Return what runs say of a row estimated without them, and why others are left out."""
    if not several or is_missing(row["memory_bytes"]):
        return [], []
    without = with_readings(catalogs, {})
    plain_row = recent_result(
        "uncalibrated",
        (row, without.version),
        lambda: estimate(scenario_of(row), without, solve=False),
    )
    return readings_of_runs(several, [plain_row], without, date.today().isoformat())


def _line(entry: Json, catalogs: Catalogs) -> dict[str, str]:
    """One reading as a row of the table."""
    card = short_card(entry["gpu"], catalogs)
    model = str(catalogs.models["name"].get(entry["model"], entry["model"]))
    cells = (
        day_text(entry["made_on"]),
        entry["tool"],
        measured_words(entry["quantity"], entry["work"]),
        _deviation_words(entry["ratio"]),
        model,
        f"{entry['gpus']:.0f} × {card}, batch {entry['batch']:,.0f}",
    )
    return dict(zip(HEADINGS, cells, strict=True))


def _deviation_words(ratio: float) -> str:
    """The difference of a measurement from its estimate: 12.0 % more."""
    if 1 / MUCH < ratio < MUCH:
        return "as estimated"
    direction = "more" if ratio > 1 else "less"
    return f"{100 * abs(ratio - 1):.1f} % {direction}"
