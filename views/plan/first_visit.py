"""What a newcomer reads first: what this is, that it is an example, six jobs to start from."""

import streamlit as st

from calc.studies.guide import ReadyJob, ready_jobs
from views.session import is_phone, job_state, kept
from views.shared.elements import button, use_in_plan

PROMISE = "**GPU memory and AWS cost, before you rent.** This is an example."


def introduction() -> None:
    """Until the first change; on a phone one line and a list."""
    if st.session_state.get("introduced") or kept.kept() or not _is_first():
        return
    with st.container(border=True, gap="xsmall", key="introduction"):
        if is_phone():
            st.markdown(PROMISE)
            names = dict(enumerate(setup.name for setup in ready_jobs()["setups"]))
            look = {
                "label_visibility": "collapsed",
                "placeholder": "Start from another",
                "width": "stretch",
            }
            use_in_plan(
                names,
                "start_from",
                lambda index: _start(ready_jobs()["setups"][index]),
                "Start from another",
                **look,
            )
            return
        st.markdown(f"{PROMISE} Change the job on the left, or start from:")
        with st.container(horizontal=True, gap="xsmall"):
            for index, setup in enumerate(ready_jobs()["setups"]):
                button(setup.name, _start, setup, key=f"setup_{index}")


def _is_first() -> bool:
    """Whether the job is that of a visitor who has set nothing."""
    fields, by_hand, _ = job_state.current()
    return not by_hand and fields == job_state.first_visit()


def _start(setup: ReadyJob) -> None:
    """Callback: the job of the set-up on a fresh plan."""
    job_state.start(setup.asks)
    st.session_state.pop("looked", None)
    st.session_state["introduced"] = True
