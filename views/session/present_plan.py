"""The plan on screen as one scenario with its estimate, for the pages that start from it."""

from typing import NamedTuple

import streamlit as st

from calc.plan import plan
from calc.scenarios.read import inputs_by_name
from calc.search.allowed import USUAL_TRAIN_TOKENS
from views.session import plan_state


class Present(NamedTuple):
    """The Plan page's answer: its state, row, scenario and market; whether the run's length is ours."""

    state: str
    row: dict
    scenario: dict
    market: str
    assumes_tokens: bool
    ranked: object


def present(catalogs):
    """What the Plan page answers now; a run of unknown length counts a billion tokens."""
    state = st.session_state
    chosen = plan_state.scenario_choices(catalogs)
    assumes = chosen["work"] == "training" and not chosen["train_tokens"]
    if assumes:
        chosen["train_tokens"] = USUAL_TRAIN_TOKENS
    ranked = plan.rank(plan.scenarios(chosen, catalogs, state["layout"], solve=False), state["market"], state["period"])
    answer = plan.answer(ranked)
    return of_row(answer["row"], answer["state"], state["market"], assumes, ranked)


def of_row(row, state, market, assumes, ranked):
    """A result row as the present plan."""
    row = row.to_dict()
    scenario = {name: row[name] for name in inputs_by_name() if name in row}
    return Present(state, row, scenario, market, assumes, ranked)
