"""The assumptions of time and cost: value, unit, meaning and source, all editable."""

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.mappings import Json
from calc.say.numbers import is_missing, span, three_digits, with_capital
from calc.scenarios.inputs import Input, bounded_inputs
from calc.search.row_status import scenario_of
from calc.studies.assumptions import assumptions_of
from calc.units import HOUR_SECONDS
from views.session import extra_state
from views.session.recent_results import recent_result
from views.shared.elements import button, dialog, expander
from views.shared.markdown import plain
from views.shared.texts import TEXTS

ASKED_ABOVE = [
    "share_active",
    "spare",
    "paid_ratio",
    "think_seconds",
]  # the job has fields for them
TITLE, OPEN = "Assumptions of time and cost", "assumptions_open"
ALL = "Also those that change nothing in this plan"
UNITS = TEXTS["assumptions"]["units"]
ORDER = ("input", "assumed", "recalled", "calibrated", "published")


def start_time(row: Row, catalogs: Catalogs) -> None:
    """The starting time that is counted; it opens a dialog with a field for each assumption."""
    starting = (
        f"Counted: {span(_start_hours(row))} to start and load."
        if row["start_hours"] > 0
        else "Starting is not counted."
    )
    starting = "Assumptions of time and cost." if is_missing(row["start_hours"]) else starting
    button(
        f"{starting} :primary[Change]",
        lambda: st.session_state.update({OPEN: True}),
        type="tertiary",
        key="open_assumptions",
    )
    dialog(TITLE, OPEN, lambda: _fields(row, catalogs), width="large")


def editor(row: Row, catalogs: Catalogs) -> None:
    """Draw the assumptions in a closed group, on a page that draws no job."""
    expander(TITLE, "all_assumptions", lambda: _fields(row, catalogs))


def _start_hours(row: Row) -> float:
    """Hours to start the machines once."""
    return row["start_hours"] / (row["attempts"] if row["work"] == "training" else 1)


def _fields(row: Row, catalogs: Catalogs) -> None:
    """Draw the fields of the assumptions that the plan reads, or of all."""
    every = st.toggle("All", key="all_assumptions_shown", help=ALL, persist_state="session")
    read = {*(catalogs.assumptions.index if every else _assumptions_of_plan(row, catalogs))}
    table = catalogs.assumptions.drop(ASKED_ABOVE)
    table = table[table.index.isin(read | extra_state.own_assumptions().keys())]
    entries = {
        **TEXTS["assumptions"]["compute"],
        **table.sort_values("basis", key=lambda basis: basis.map(ORDER.index)).to_dict("index"),
    }
    changes = len(extra_state.own_assumptions().keys() & entries)
    which = "All of them" if every else "Those that the plan reads"
    st.markdown(
        f"{which}, {changes} of {len(entries)} changed. An empty field takes the value in gray. "
        "The link and the CSV contain what you set."
    )
    starts = _start_hours(row) * HOUR_SECONDS
    plan = {
        "utilization": three_digits(row["utilization_ratio"]),
        "start_seconds": "by machine" if is_missing(starts) else f"{starts:,.0f}",
    }
    inputs = bounded_inputs(catalogs)
    for name, entry in entries.items():
        _field(inputs[name], entry, plan[name] if name in plan else f"{entry['value']:,.12g}")
    button(
        "The catalog's values again", _reset, icon="restart_alt", type="tertiary", key="unassume"
    )


def _assumptions_of_plan(row: Row, catalogs: Catalogs) -> list[str]:
    """The names of the assumptions that the plan's figures rest on."""
    key = (scenario_of(row), row.get("market"), catalogs.version)
    return recent_result("assumptions", key, lambda: assumptions_of(row, catalogs))


def _field(column: Input, entry: Json, default: str) -> None:
    """Draw the field of one assumption, with its meaning and source."""
    unit = UNITS.get(entry["unit"], entry["unit"])
    field, words = st.columns([1, 2], vertical_alignment="bottom")
    with field:
        st.number_input(
            f"{entry['label']}, {unit}" if unit else entry["label"],
            min_value=float(column.least),
            max_value=float(column.most),
            value=None,
            format="%.10g",
            placeholder=default,
            key=column.name,
            persist_state="session",
        )
    with words:
        st.caption(
            plain(f"{with_capital(entry['meaning'])}. *{entry['basis']}: {entry['source']}*")
        )


def _reset() -> None:
    for name in extra_state.assumptions():
        extra_state.put(name, None)
