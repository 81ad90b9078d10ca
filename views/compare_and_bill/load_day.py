"""The tab Load over a day: a service's machines by hour, scaling and growth."""

from datetime import date, datetime, time
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.catalogs.load import Catalogs
from calc.cost.job import ends_of
from calc.evaluate import Row
from calc.files.csv.tables import to_csv
from calc.files.door import REFUSALS
from calc.files.traces import curve_of, load_curves, trace_of
from calc.plan.figures import records
from calc.plan.lending import free_windows, lent_pools
from calc.plan.load_day import Load, LoadDay, Trace, load_day
from calc.say.job import short_job
from calc.say.load_day import (
    day_sentences,
    hours_sentence,
    lending_sentence,
    machines_sentence,
    trace_sentence,
)
from calc.scenarios.problems import TableError, quote_cell
from calc.units import DAY_HOURS
from views.charts.load_day import by_hour, place_hours
from views.compare_and_bill import conversations, crossover, team
from views.compare_and_bill.teams import plans_in_bill
from views.session import SESSION, reading
from views.session import catalogs as session_catalogs
from views.shared import elements, tables
from views.shared.elements import button, expander, points, segments, show_error, theme_ink
from views.shared.markdown import plain

NAME, TRACE, OWN = "Load over a day", "load_trace", "own"
NO_SERVICE = "Keep a service on Plan, or plan one there: a run has no load of a day."
ABOUT = "The plan is made for the peak. Other hours take as many as their share of it needs."
PLACEHOLDER = "24 numbers from midnight on, or 168 from Monday's, joined by +"
LENT_DAYS = 7
PERCENT = 100


def draw(title: DeltaGenerator) -> None:
    """The tab; its heading goes above the tabs, into `title`."""
    catalogs = session_catalogs.catalogs()
    services = _services(plans_in_bill(catalogs))
    if not services:
        title.title("No service in the bill", anchor=False)
        title.markdown(NO_SERVICE)
        return
    heading = title.container()
    about = title.container()
    row = _service(services, catalogs)
    about.caption(plain(f"{_name(row, catalogs)}. {ABOUT}"))
    load = _load(catalogs)
    if load is None:
        heading.title("The load of a day", anchor=False)
        return
    most, to_zero = _limits()
    day = load_day(row, load, catalogs, to_zero, most)
    heading.title(plain(machines_sentence(day).rstrip(".")), anchor=False)
    if day.table["instances"].nunique() > 1:
        _chart(day)
    lending = [sentence] if (sentence := lending_sentence(day, row)) else []
    points([*day_sentences(day, load, most)[1:], *filter(None, [hours_sentence(row)]), *lending])
    _actions(row, day, bool(lending))
    conversation = partial(conversations.draw, row, catalogs)
    expander(conversations.TITLE, "conversations_open", conversation)
    expander(crossover.TITLE, "crossover_open", partial(crossover.draw, row, catalogs))


def midnight() -> datetime:
    """The beginning of today."""
    return datetime.combine(date.today(), time())


def _limits() -> tuple[int | None, bool]:
    """Draw the limits; return the most instances, if any, and whether idle hours run none."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        most = st.number_input(
            "Instances that there may be",
            1,
            value=None,
            key="load_most",
            placeholder="no limit",
            width=230,
            **SESSION,
        )
        to_zero = st.toggle("Run nothing in hours without load", key="load_to_zero", **SESSION)
    return most, to_zero


def _actions(row: Row, day: LoadDay, lends: bool) -> None:
    """Draw the download of the hours, and the button that lends the free ones."""
    with st.container(horizontal=True):
        text = partial(to_csv, day.table)
        tables.download("Hours as CSV", text, "headroom-load-day", "load_csv", type="tertiary")
        if lends:
            pools = lent_pools(row, free_windows(day), len(day.table), midnight(), LENT_DAYS)
            button("Lend the free hours of a week to Schedule", team.lend, pools, key="load_lend")


def _services(plans: pd.DataFrame) -> list[Row]:
    """The services among the plans that name an instance."""
    return [row for row in records(plans) if row["instance"] and not ends_of(row)]


def _name(row: Row, catalogs: Catalogs) -> str:
    """Return a service with its job: 8 bits · g6.xlarge: Serve Llama 3.1 8B."""
    job = row.get("job")
    work = job if job and job != row["scenario"] else short_job(row, catalogs)
    return f"{row['scenario']}: {work}"


def _service(services: list[Row], catalogs: Catalogs) -> Row:
    """The service whose day is shown, chosen where there are several."""
    by_name = {row["scenario"]: row for row in services}
    if len(by_name) == 1:
        return services[0]
    names = {name: _name(row, catalogs) for name, row in by_name.items()}
    chosen = st.selectbox(
        "Service", list(names), format_func=names.__getitem__, key="load_service", width=600
    )
    return by_name[chosen]


def _load(catalogs: Catalogs) -> Load | None:
    """Draw the inputs of the load; return it, or None while it is missing or cannot be read."""
    curves = load_curves().curves
    names = {name: curve.name.capitalize() for name, curve in curves.items()}
    st.session_state.setdefault("load_curve", "office")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = segments(
            "Load",
            {**names, OWN: "Numbers", TRACE: "A trace"},
            "load_curve",
            **SESSION,
        )
        growth_percent = st.number_input(
            "Growth a month, %", -50.0, 1000.0, value=0.0, key="load_growth", width=200, **SESSION
        )
        of_week = st.toggle("A week", key="load_week", **SESSION)
    hours = _trace_hours(catalogs, of_week) if chosen == TRACE else _typed_hours(chosen, of_week)
    if chosen in curves:
        curve = curves[chosen]
        st.caption(plain(f"{curve.about.capitalize()} ({curve.basis})."))
    return Load(hours, growth_percent / PERCENT) if hours else None


def _typed_hours(chosen: str, of_week: bool) -> tuple[float, ...]:
    """The loads of a curve, or those that are typed; empty where they are none."""
    if chosen != OWN:
        return curve_of(chosen, of_week)
    text = st.text_input(
        "Load by hour", key="load_hours", placeholder=PLACEHOLDER, max_chars=2000, **SESSION
    )
    if not text:
        return ()
    try:
        return curve_of(text, of_week)
    except TableError as error:
        show_error(error)
        return ()


def _trace_hours(catalogs: Catalogs, of_week: bool) -> tuple[float, ...]:
    """The loads of a file of requests; a file that cannot be read costs one sentence."""
    trace: Trace | None = st.session_state.get(TRACE)
    if trace:
        st.caption(plain(trace_sentence(trace)))
        button("Give another trace", _forget, key="load_forget", type="tertiary")
        day = trace.hours or curve_of("flat")
        return (trace.week or day * 7) if of_week else day
    file: Any = st.file_uploader(
        "Requests as CSV, also gzip: Azure's or BurstGPT's trace, or time, prompt_tokens and "
        "answer_tokens",
        type=["csv", "gz"],
        key="load_file",
    )
    if file is None:
        return ()
    try:
        st.session_state[TRACE] = reading.read(
            trace_of, file.getvalue(), quote_cell(file.name), catalogs=catalogs
        )
    except REFUSALS as error:
        show_error(error)
        return ()
    st.rerun()
    return ()


def _forget() -> None:
    """Callback: the trace is forgotten."""
    st.session_state.pop(TRACE, None)


def _chart(day: LoadDay) -> None:
    """The instances of each hour."""
    hours = day.table["instances"]
    period = "week" if len(hours) > DAY_HOURS else "day"
    alt = f"Instances by hour of the {period}: {', '.join(f'{value:.0f}' for value in hours)}"
    ink = theme_ink()
    elements.draw(by_hour(ink, period), place_hours(day.table), alt, f"load_{period}_chart")
