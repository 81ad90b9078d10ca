"""Introduction for newcomers: what this is, that it is an example, and jobs to start from."""

import streamlit as st

from calc.studies.guide import ReadyJob, ready_jobs
from views.session import is_phone, job_state, kept_answers
from views.shared.elements import use_in_plan

PROMISE = "**GPU memory and AWS cost, before you rent.** An example:"
OTHER = "Start from another job"


def introduction() -> None:
    """One line and a list of ready jobs, until the first change."""
    if st.session_state.get("introduced") or kept_answers.entries() or not _is_first():
        return
    every = [*ready_jobs().setups, *ready_jobs().use_cases]
    others = {
        index: ready.name
        for index, ready in enumerate(every)
        if not job_state.is_first_visit(ready.asks)
    }
    with st.container(
        border=True, gap="xsmall", horizontal=True, vertical_alignment="center", key="introduction"
    ):
        st.markdown(PROMISE, width="content")
        look = {
            "label_visibility": "collapsed",
            "placeholder": OTHER,
            "width": "stretch" if is_phone() else 260,
        }
        use_in_plan(
            others,
            "start_from",
            lambda index: _start(every[index]),
            OTHER,
            **look,
        )


def _is_first() -> bool:
    """Return whether the job is that of a visitor who has set nothing."""
    fields, by_hand, _ = job_state.current()
    return not by_hand and fields == job_state.first_visit()


def _start(setup: ReadyJob) -> None:
    """Callback: the job of the set-up on a fresh plan."""
    job_state.start(setup.asks)
    st.session_state.pop("looked", None)
    st.session_state["introduced"] = True
