"""The answer that a link brought, carried with its figures until the plan changes."""

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.plan.drift import rows_now
from calc.plan.kept_answer import KeptAnswer
from views.session import job_state, kept_answers
from views.session.worker import options


def note(query: dict[str, list[str]]) -> None:
    """Once the link is read: from which job its answer came."""
    st.session_state["opened_job"] = _job(query)


def then_row(catalogs: Catalogs) -> Row | None:
    """The link's answer estimated anew, with its former figures as then_*; else None."""
    entry = st.session_state.get("link_then")
    return rows_now([entry], catalogs)[0] if entry else None


def is_same(row: Row, first: Row) -> bool:
    """Return whether today's first answer is the scenario of a row."""
    one = kept_answers.link_record(row)
    other = kept_answers.link_record(first)
    return (one.market, one.scenario) == (other.market, other.scenario)


def forget() -> None:
    """Callback: from now on the link says what is true today."""
    st.session_state["link_then"] = None


def for_link(query: dict[str, list[str]], catalogs: Catalogs) -> KeptAnswer | None:
    """The answer to write into the link: the earlier one of the same plan, or today's."""
    state = st.session_state
    if state.get("link_then") and _job(query) == state["opened_job"]:
        return state["link_then"]
    state["link_then"] = None
    row = options(job_state.current().job, catalogs).rows[0]
    return kept_answers.link_record(row) if row["answer"] else None


def _job(query: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the part of the user's settings that the answer depends on."""
    return {name: values for name, values in query.items() if name != "kept"}
