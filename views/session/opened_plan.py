"""The answer that a link brought, with its figures of the day on which it was written: carried on until the plan is another one."""

from datetime import date

import streamlit as st

from calc.doors.link_kept import differing
from calc.plan.aged import figures_of, rows_now
from views.session import extra_state
from views.session.present_plan import present


def note(made):
    """Once the link is read: from which job its answer came."""
    st.session_state["opened_job"] = _job(made)


def then_row(catalogs):
    """The link's answer estimated anew, with then_* as it was; None where none was brought or the plan is another one."""
    entry = st.session_state.get("link_then")
    return rows_now([entry], catalogs)[0] if entry else None


def is_same(row, first, catalogs):
    """Whether today's first answer is the scenario of a row."""
    return all(entry_of(row, catalogs)[name] == entry_of(first, catalogs)[name] for name in ("market", "scenario"))


def forget():
    """Callback: from now on the link says what is true today."""
    st.session_state["link_then"] = None


def for_link(made, catalogs):
    """What the link carries: the answer of an earlier day while the plan is the same, else today's; None where there is none."""
    state = st.session_state
    if state.get("link_then") and _job(made) == state["opened_job"]:
        return state["link_then"]
    state["link_then"] = None
    row = present(catalogs).options.answers.iloc[0].to_dict()
    return entry_of(row, catalogs) if row["answer"] else None


def entry_of(row, catalogs):
    """A row as the link holds it: market, scenario and today's figures."""
    scenario = differing(row, catalogs, extra_state.assumed())
    return {"market": row.get("market") or "on-demand", "scenario": scenario, "then": figures_of(row, catalogs, date.today())}


def _job(made):
    """What the answer depends on, of all that the user made."""
    return {name: values for name, values in made.items() if name != "kept"}
