"""The search of this session: run when it is asked for, kept with what it was made of, never run again unasked."""

from time import perf_counter

import pandas as pd
import streamlit as st

from calc.cost.job import job_of_rows
from calc.search.budget import under, ways
from calc.search.frontier import best
from calc.search.limits import limits_of
from calc.search.reasons import reasons
from calc.search.search import SearchError, search
from calc.search.space import names_for
from views.wording.markdown import plain

SLOW_SECONDS = 1.0
STOPPED = "The search was stopped before it had tried everything, and says nothing. Search begins it anew."
FOLLOWED = ("instance", "gpu", "scenario", "region")  # what a search chooses by itself, beside the sets


def found(now, catalogs, sets, limits):
    """The result of the search with its rows and reasons; None after saying why there is none.

    A search that came with the link waits for its button: opening a link must not cost a shared server minutes.
    """
    state = st.session_state
    key = _key(now, catalogs, sets, limits)
    asked = state.pop("search_now", False)
    if state["search_waits"] and not asked:
        st.info("This search came with the link and has not run yet.", icon=":material/link:")
        _button("Search")
        return None
    state["search_waits"] = False
    kept = state.get("found")
    if asked or kept is None or kept["work"] != now.scenario["work"]:
        state["found"] = kept = _run(now, catalogs, sets, limits, key)
    if kept["problem"]:
        st.error(plain(kept["problem"]), icon=":material/block:")
        return None
    if kept["key"] != key:
        st.warning(
            "These were found for another plan or other sets than the present ones.",
            title="Search again to see today's",
            icon=":material/update:",
        )
        _button("Search again")
    against = repr((now.scenario, now.market))
    if (kept["against"] != against and kept["key"] == key) or kept["rows"] is None:
        users = kept["limits"].users
        kept["rows"] = reasons(best(kept["result"], catalogs), now.row, now.market, users, catalogs)
        kept["against"] = against
    return kept


def _button(label):
    st.button(label, on_click=st.session_state.update, args=({"search_now": True},), key="again")


def four_ways(now, catalogs):
    """The workload under a budget, four ways; searched once for a workload and its places."""
    state = st.session_state
    places = {name: state["allowed"][name] for name in ("family", "region", "market")}
    key = repr((now.scenario, places, catalogs.version))
    if state.get("four_ways", {}).get("key") != key:
        state["four_ways"] = {"key": key, "found": ways(now.scenario, places, catalogs)}
    return under(state["four_ways"]["found"], state["budget"], catalogs)


def before(now, limits, catalogs):
    """The job of the present plan: its USD, hours, seconds."""
    return job_of_rows(pd.DataFrame([now.row]), [now.market], limits.users, catalogs)


def _run(now, catalogs, sets, limits, key):
    """Search; once it takes more than a second, with a bar and a button that stops it."""
    made = {"key": key, "work": now.scenario["work"], "limits": limits_of(limits), "rows": None, "against": ""}
    started, holder, bars = perf_counter(), st.empty(), []

    def progress(share):
        if perf_counter() - started > SLOW_SECONDS:
            if not bars:
                with holder.container(horizontal=True, vertical_alignment="center"):
                    bars.append(st.empty())
                    st.button("Stop", on_click=_stop, args=(made,), icon=":material/stop:", key="stop_search")
            bars[0].progress(share, text="Trying every combination")

    try:
        result = search(now.scenario, sets, limits_of(limits), catalogs, progress)
    except SearchError as error:
        return made | {"problem": str(error)}
    finally:
        holder.empty()
    return made | {"problem": "", "result": result, "seconds": perf_counter() - started}


def _stop(made):
    """Callback: the search that runs is given up; Search begins it anew."""
    st.session_state["found"] = made | {"problem": STOPPED}


def _key(now, catalogs, sets, limits):
    """What a search depends on: the workload without what varies, the sets, the limits, the catalogs."""
    varied = {*names_for(now.scenario["work"]), *FOLLOWED}
    workload = {name: value for name, value in now.scenario.items() if name not in varied}
    same = {name: sorted(map(str, values)) for name, values in sets.items()}
    return repr((workload, same, limits, catalogs.version))
