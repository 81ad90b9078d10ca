"""Every assumption of time and cost: value, unit, meaning and source, all editable."""

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.say.numbers import is_missing, percent, span, three
from calc.scenarios.inputs import Input, bounded_inputs
from calc.units import HOUR_SECONDS
from views.session import extra_state
from views.shared.elements import button
from views.shared.markdown import plain
from views.shared.texts import TEXTS
from views.sidebar.fields import popover

ASKED_ABOVE = ["share_active", "spare", "paid_ratio"]  # the job has fields for them
UNITS = TEXTS["assumptions"]["units"]
CALIBRATED = "calibrated: published runs by card and kind of matrix product, see the Accuracy page"


def counted(row: Row, catalogs: Catalogs) -> None:
    """The starting time that is counted; it opens a field for each assumption."""
    with popover(f"{_starting(row)} :primary[Change]", "assumptions", type="tertiary", wrap=True) as pane:
        if pane.open:
            _fields(row, catalogs)


def editor(row: Row, catalogs: Catalogs) -> None:
    """The same in a closed group, on a page that draws no job."""
    with st.expander("Assumptions of time and cost", key="assumptions"):
        _fields(row, catalogs)


def _starting(row: Row) -> str:
    """Counted: 10 min to start and load."""
    if not row["start_hours"] > 0:
        return "Starting is not counted."
    return f"Counted: {span(row['start_hours'] / _starts(row))} to start and load."


def _starts(row: Row) -> float:
    return row["attempts"] if row["work"] == "training" else 1


def _fields(row: Row, catalogs: Catalogs) -> None:
    changed = extra_state.assumed()
    table, inputs = catalogs.assumptions, bounded_inputs(catalogs)
    st.markdown(
        f"**Assumptions of time and cost**, {len(changed)} of {len(table) + 2} changed. An empty field takes the value in grey. "
        "The link and the CSV contain what you set."
    )
    reached = row["utilization_ratio"]
    present_share = "" if is_missing(reached) else f"; now {percent(reached)}"
    _field(
        inputs["utilization"],
        "Utilization",
        UNITS["ratio"],
        f"{three(reached)} for this plan",
        f"Share of the card's dense rate that a GPU reaches while it computes{present_share}.",
        CALIBRATED,
    )
    _field(
        inputs["start_seconds"],
        "Start",
        UNITS["seconds"],
        f"{row['start_hours'] / _starts(row) * HOUR_SECONDS:,.0f} for this plan" if not is_missing(row["start_hours"]) else "by machine",
        "From the request of the machines to the first step or token, reading the weights left out; 0 counts no start.",
        "reports of launch and boot, image, engine and compilation: Starts, under Models & prices",
    )
    for name, entry in table.drop(ASKED_ABOVE).sort_values("basis", key=lambda basis: basis.map(_order)).iterrows():
        unit = UNITS.get(entry["unit"], entry["unit"])
        basis = f"{entry['basis']}: {entry['source']}"
        sentence = entry["meaning"][:1].upper() + entry["meaning"][1:] + "."
        _field(inputs[name], entry["label"], unit, f"{entry['value']:,.12g}", sentence, basis)
    button("The catalog's values again", _reset, icon="restart_alt", type="tertiary", key="unassume")


def _order(basis: str) -> int:
    order = ("input", "assumed", "recalled", "calibrated", "published")
    return order.index(basis) if basis in order else len(order)


def _field(column: Input, label: str, unit: str, default: str, meaning: str, basis: str) -> None:
    field, words = st.columns([1, 2], vertical_alignment="bottom")
    with field:
        st.number_input(
            f"{label}, {unit}" if unit else label,
            min_value=float(column.least),
            max_value=float(column.most),
            value=None,
            format="%.10g",
            placeholder=default,
            key=column.name,
            persist_state="session",
        )
    with words:
        st.caption(plain(f"{meaning} *{basis}*"))


def _reset() -> None:
    for name in extra_state.assumptions():
        extra_state.put(name, None)
