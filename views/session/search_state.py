"""The wide search of the session: it runs on a click and is kept with its job."""

from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from calc.catalogs.load import Catalogs
from calc.cost.job import Job, job_of_rows
from calc.search.job_row import JobError, JobRow
from calc.search.reasons import reasons
from calc.search.wide import best, estimated, wide_search, within
from calc.search.widened import FORMS, form_of, widened
from views.elements import button
from views.session.present_plan import Present
from views.wording.markdown import plain

SLOW_SECONDS = 1.0
STOPPED = "The search was stopped before it had tried everything, and says nothing. Search begins it anew."


def shown(plan: Present, catalogs: Catalogs, sets: dict[str, Any], limits: dict[str, float]) -> dict[str, Any] | None:
    """The search of the session with its rows; None after a message that says why.

    A search that came with the link waits for its button: opening a link must not cost a shared server minutes.
    """
    state = st.session_state
    key = (widened(plan.job, sets, limits, catalogs), catalogs.version)
    clicked, kept = state.pop("search_now", False), state.get("found")
    if state["search_waits"] and not clicked:
        st.info("This search came with the link and has not run yet.", icon=":material/link:")
        _button("Search")
        return None
    state["search_waits"] = False
    if clicked or kept is None or kept["work"] != plan.scenario["work"]:
        state["found"] = kept = _run(plan, catalogs, key)
    if kept["problem"]:
        st.error(plain(kept["problem"]), icon=":material/block:")
        return None
    if kept["key"] != key:
        older = "These were found for another plan or other sets than the present ones."
        st.warning(older, title="Search again to see today's", icon=":material/update:")
        _button("Search again")
    against = repr((plan.scenario, plan.market))
    if (kept["against"] != against and kept["key"] == key) or kept["rows"] is None:
        kept["rows"] = reasons(best(kept["search"], catalogs), plan.row, plan.market, _users(kept), catalogs)
        kept["against"] = against
    return kept


def _button(label: str) -> None:
    button(label, st.session_state.update, {"search_now": True}, key="again")


def four_forms(plan: Any, catalogs: Catalogs) -> Any:
    """One load in four forms, searched once: the cheapest hour and the fastest of each."""
    state = st.session_state
    places = {name: state["allowed"][name] for name in ("family", "region", "market")}
    key = repr((plan.scenario, places, catalogs.version))
    if state.get("four_forms", {}).get("key") != key:
        jobs = {name: form_of(plan.job, plan.scenario, form, places, catalogs) for name, form in FORMS.items()}
        searches = {name: wide_search(job, catalogs) for name, job in jobs.items()}
        state["four_forms"] = {"key": key, "found": searches}
    several = {name: search for name, search in state["four_forms"]["found"].items() if not search.problem}
    return {name: estimated(search, np.array(within(search, state["budget"])), catalogs) for name, search in several.items()}


def before(plan: Present, kept: Any, catalogs: Catalogs) -> Job:
    """The money and time of the present plan."""
    return job_of_rows(pd.DataFrame([plan.row]), [plan.market], _users(kept), catalogs)


def _users(kept: Any) -> Any:
    job = kept["search"].ranked.job
    return 0 if job["requests_per_second"] or kept["work"] == "training" else job["users"]


def _run(plan: Present, catalogs: Catalogs, key: tuple[JobRow, str]) -> dict[str, Any]:
    """Search; once it takes more than a second, with a bar and a button that stops it."""
    made = {"key": key, "work": plan.scenario["work"], "rows": None, "against": ""}
    started, holder = perf_counter(), st.empty()
    bars: list[Any] = []

    def progress(share: float) -> None:
        if perf_counter() - started > SLOW_SECONDS:
            if not bars:
                with holder.container(horizontal=True, vertical_alignment="center"):
                    bars.append(st.empty())
                    button("Stop", _stop, made, icon="stop", key="stop_search")
            bars[0].progress(share, text="Trying every combination")

    try:
        search = wide_search(key[0], catalogs, progress)
    except JobError as error:
        return made | {"problem": str(error)}
    finally:
        holder.empty()
    return made | {"problem": "", "search": search, "seconds": perf_counter() - started}


def _stop(made: Any) -> None:
    """Callback: the search that runs is given up; Search begins it anew."""
    st.session_state["found"] = made | {"problem": STOPPED}
