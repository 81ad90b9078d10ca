"""Every assumption of time and cost: value, unit, meaning and source, all editable."""

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.say.numbers import is_missing, percent, three
from calc.scenarios.inputs import Input, bounded_inputs
from calc.units import HOUR_SECONDS
from views.session import extra_state, job_state
from views.shared.elements import button
from views.shared.markdown import plain
from views.shared.texts import TEXTS

UNITS = TEXTS["assumptions"]["units"]
CALIBRATED = "calibrated: published runs by card and kind of matrix product, see the Accuracy page"


def editor(row: Row, catalogs: Catalogs) -> None:
    """A field for each assumption, empty where the catalog's value applies."""
    with st.expander("Assumptions of time and cost", icon=":material/tune:", key="assumptions"):
        _fields(row, catalogs)


def _fields(row: Row, catalogs: Catalogs) -> None:
    changed = extra_state.assumed()
    table, inputs = catalogs.assumptions, bounded_inputs(catalogs)
    st.markdown(
        f"{len(changed)} of {len(table) + 2} changed. An empty field takes the value shown in grey. What is set here "
        "is an input like the others: it is in the link, in the CSV, and in every page's figures."
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
        f"{row['start_hours'] / (row['attempts'] if row['work'] == 'training' else 1) * HOUR_SECONDS:,.0f} for this plan"
        if not is_missing(row["start_hours"])
        else "by machine",
        "From the request of the machines to the first step or token, reading the weights left out; 0 counts no start.",
        "reports of launch and boot, image, engine and compilation: Starts, under Models & prices",
    )
    elsewhere = ["share_active"] if job_state.counts_people() else []
    for name, entry in table.drop(elsewhere).sort_values("basis", key=lambda basis: basis.map(_order)).iterrows():
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
