"""A scenario becomes the plan: every choice is set to it, in the session and with the next run in the link."""

import math

import streamlit as st

from calc.doors.link import VIEW_CHOICES
from calc.scenarios.read import DEFAULTS, SAME_AS_SEQUENCE
from views.session import extra_state
from views.session.plan_state import LISTS, WHOLE

PLAN = "views/pages/plan.py"


def take(scenario, market, show=True):
    """Callback of a button: set all choices; `show` opens the Plan page in the same run."""
    state = st.session_state
    for name in DEFAULTS:
        if name != "scenario":
            value = _plain(name, scenario.get(name, DEFAULTS[name]), scenario)
            state[name] = [value] if name in LISTS else value
    for name in extra_state.assumptions():
        if state.get(name) is not None and not _missing(scenario.get(name)):
            state[name] = float(scenario[name])
    if scenario.get("instance"):
        state["gpu"] = ""
    state["layout"] = "given"
    if market in VIEW_CHOICES["market"]:
        state["market"] = market
    state["show_plan"] = show


def follow():
    """At the top of a page: to the Plan page where something was taken."""
    if st.session_state.pop("show_plan", False):
        st.switch_page(PLAN)


def _missing(value):
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _plain(name, value, scenario):
    """As the widgets hold it: whole numbers as int, nothing as None, a length that follows the sequence as None."""
    if name in SAME_AS_SEQUENCE and value == scenario.get("sequence_tokens"):
        return None
    if name in WHOLE or name in ("train_tokens", "hours_per_month"):
        return None if _missing(value) else int(value) if name in WHOLE else float(value)
    return "" if _missing(value) else value
