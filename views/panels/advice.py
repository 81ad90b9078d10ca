"""What to change about the scenario on screen: each change with what it saves and costs, one click to take it."""

import streamlit as st

from calc.plan.ranking import offered, scenario_of
from calc.search.advice import advise
from views.session import catalogs as session_catalogs
from views.session import job_state
from views.wording.numbers import gib, is_missing, percent, plain, three, usd

SHOWN = 8


def panel(row, catalogs, market):
    """An expander, open where nothing fits; the changes are tried only while it is open, once for a scenario.

    A plan that is refused says in its own words what to change.
    """
    if row["problem"]:
        return
    held = bool(offered(row)[0])
    title = "What to change: what saves most" if held else "What to change to make it fit and run"
    pane = st.expander(title, icon=":material/lightbulb:", on_change="rerun", key="advice", expanded=not held)
    if not pane.open:
        return
    scenario, tried = scenario_of(row), changes(row, catalogs, market)
    with pane:
        if not len(tried):
            st.markdown("No change or pair of changes that was tried helps: take a smaller model or more GPUs.")
            return
        if not held and tried["kind"].iloc[0] == "pair":
            alone = "cheaper than any alone" if (tried["kind"] != "pair").any() else "for no single change makes it fit"
            st.markdown(f"Two changes at once first, {alone}:")
        for at, change in enumerate(tried.head(SHOWN).to_dict("records")):
            _line(at, change, scenario, market, held)
        more = len(tried) - SHOWN
        st.caption(
            f"{f'The first {SHOWN} of {len(tried)}. ' if more > 0 else ''}Each was estimated with nothing else "
            "changed. Savings are of the same work done; spot includes its interruptions."
        )


def changes(row, catalogs, market):
    """The changes of a result row's scenario that hold, the most useful first; tried once for a scenario and market."""
    state, scenario = st.session_state, scenario_of(row)
    key = repr((scenario, market, catalogs.version))
    if state.get("advised", {}).get("key") != key:
        state["advised"] = {"key": key, "changes": advise(scenario, catalogs, market)}
    return state["advised"]["changes"]


def _line(at, change, scenario, market, held):
    words, button = st.columns([5, 1], vertical_alignment="center")
    with words:
        st.markdown(plain(f"**{change['change']}**: {'; '.join(_said(change, held))}."))
        if change["quality"]:
            source = f" ({change['source']})" if change["source"] else ""
            st.caption(f"Quality: {change['quality']}{source}.")
    with button:
        st.button(
            "Take it",
            on_click=_take,
            args=(scenario, change["set"], market),
            key=f"advice_{at}",
            help=f"Make the plan this scenario with {change['change']}.",
            width="stretch",
        )


def _said(change, held):
    """Cost of the work, GiB, USD per hour, slowdown: what it saves and what it costs."""
    parts = []
    if held and not is_missing(change["saved_work_ratio"]) and abs(change["saved_work_ratio"]) >= 0.005:
        saved = change["saved_work_ratio"]
        parts.append(f"the same work costs {percent(abs(saved))} {'less' if saved > 0 else 'more'}")
    if not is_missing(change["usd_per_hour"]):
        less = change["saved_usd_per_hour"]
        by = f" ({usd(abs(less))} {'less' if less > 0 else 'more'})" if abs(less) >= 0.005 else " as now"
        parts.append(f"{usd(change['usd_per_hour'])} per hour{'' if is_missing(less) else by}")
    gap = change["saved_gib"]
    if abs(gap) >= 0.05:
        parts.append(f"{gib(abs(gap))} {'less' if gap > 0 else 'more'} per GPU")
    slow = change["slowdown_ratio"]
    if not is_missing(slow) and abs(slow - 1) >= 0.005:
        parts.append(f"takes {three(slow)} × as long" if slow > 1 else f"{three(1 / slow)} × as fast")
    return parts + ([{"yes": "fits", "tight": "fits tightly"}[change["fits"]]] if not held else [])


def _take(scenario, change, market):
    """Callback: the scenario with the change becomes the plan."""
    taken = {**scenario, **{name: value for name, value in change.items() if name != "market"}}
    job_state.adopt(taken, change.get("market", market), session_catalogs.catalogs())
