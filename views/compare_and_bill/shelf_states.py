"""The state of plans on the shelf: proposed, approved, running, done, rejected; by whom."""

import os
from contextlib import suppress

import streamlit as st

from calc.mappings import Arguments
from calc.say.numbers import with_noun
from shelf import states as shelf_states
from shelf.plans import LONGEST, Plan, Run, ShelfError
from shelf.states import DECIDED, FOLLOWS, LONGEST_OF, PROPOSED, State
from views.session import kept_answers
from views.session.owners import owners
from views.shared.elements import button, show_error
from views.shared.markdown import plain

HEADER, APPROVERS = "HEADROOM_USER_HEADER", "HEADROOM_APPROVERS"
REFUSAL, EVERY = "state_refusal", "Every state"
LABELS = {
    "proposed": "Propose again",
    "approved": "Approve",
    "running": "It is running",
    "done": "It is done",
    "rejected": "Reject",
}
NO_STATE = "not proposed"
BETWEEN_TEAMS = ", "
NONE_CHOSEN = "No plan has this state and this team; every plan is shown."


def _signed_in_name() -> str:
    """The name that the proxy in front passes in its header; empty without one."""
    header = os.environ.get(HEADER, "")
    return st.context.headers.get(header, "").strip()[: LONGEST["saved_by"]] if header else ""


def _may_decide(name: str) -> bool:
    """Return whether a name may approve and reject; a list of names may restrict it."""
    approvers = os.environ.get(APPROVERS, "")
    names = {entry.strip().casefold() for entry in approvers.split(",")} - {""}
    return not names or name.strip().casefold() in names


def propose(run: Run, plan: Plan) -> None:
    """A plan that was put on the shelf for the first time is proposed, for its teams."""
    teams = {answer.team for answer in kept_answers.entries()}
    if not teams:
        teams = {owners().get("team", "")}
    teams.discard("")
    if shelf_states.newest_states(run).get(plan.name) is None:
        with suppress(ShelfError):  # another has proposed it at the same moment
            team = BETWEEN_TEAMS.join(sorted(teams))[: LONGEST_OF["team"]]
            shelf_states.set_state(
                run, plan.name, PROPOSED, plan.saved_by, plan.id, None, team=team
            )


def filter_plans(run: Run, plans: list[Plan]) -> tuple[list[Plan], dict[str, State]]:
    """The plans of the state and team that are chosen, and the state of each by name."""
    try:
        states = shelf_states.newest_states(run)
    except ShelfError as error:
        st.caption(plain(f"States are out of reach. {error}"))
        return plans, {}
    known_states = sorted({states[plan.name].state for plan in plans if plan.name in states})
    teams = sorted({team for plan in plans for team in _teams(states, plan)})
    state = team = None
    with st.container(horizontal=True):
        look: Arguments = {"index": None, "width": 220, "label_visibility": "collapsed"}
        if len(known_states) > 1:
            state = st.selectbox(
                "State", known_states, key="shelf_state", placeholder=EVERY, **look
            )
        if teams:
            team = st.selectbox("Team", teams, key="shelf_team", placeholder="Every team", **look)
    selection = [
        plan
        for plan in plans
        if (not state or state_of(states, plan) == state)
        and (not team or team in _teams(states, plan))
    ]
    if not selection:
        st.caption(NONE_CHOSEN)
    return selection or plans, states


def state_of(states: dict[str, State], plan: Plan) -> str:
    """The state of a plan in a word."""
    return states[plan.name].state if plan.name in states else NO_STATE


def _teams(states: dict[str, State], plan: Plan) -> list[str]:
    """The teams of a plan, each by itself."""
    text = states[plan.name].team if plan.name in states else ""
    return text.split(BETWEEN_TEAMS) if text else []


def panel(run: Run, plan: Plan, states: dict[str, State]) -> None:
    """The state of a plan, what it can become, and its history."""
    present = states.get(plan.name)
    st.markdown(plain(_sentence(present, plan)))
    if refusal := st.session_state.pop(REFUSAL, ""):
        show_error(refusal)
    with st.popover("Change its state", icon=":material/rule:"):
        name = _signed_in_name()
        if name:
            st.caption(plain(f"As {name}."))
        else:
            st.text_input(
                "Your name",
                st.session_state.get("shelf_who", ""),
                max_chars=LONGEST["saved_by"],
                key="state_by",
            )
        team = present.team if present else ""
        st.text_input("Team", team, max_chars=LONGEST_OF["team"], key="state_team")
        budget = present.budget if present else ""
        st.text_input(
            "Against which budget", budget, max_chars=LONGEST_OF["budget"], key="state_budget"
        )
        st.text_input("Why", max_chars=LONGEST_OF["note"], key="state_note")
        with st.container(horizontal=True):
            for state in FOLLOWS[present.state] if present else (PROPOSED,):
                label = "Propose" if present is None else LABELS[state]
                button(label, _set, run, plan, present, state, key=f"state_{state}")
    if present:
        _history(run, plan)


def _history(run: Run, plan: Plan) -> None:
    past = shelf_states.history(run, plan.name)
    with st.expander(f"History ({with_noun(len(past), 'change')})", key="state_history"):
        for state in past:
            st.markdown(plain(f"- {_change(state)}"))


def _set(run: Run, plan: Plan, present: State | None, state: str) -> None:
    """Callback: another state, by whoever is signed in or the typed name."""
    session = st.session_state
    name = _signed_in_name() or session.get("state_by", "")
    texts = {field: session.get(f"state_{field}", "") for field in LONGEST_OF}
    try:
        if state in DECIDED and not _may_decide(name):
            raise ShelfError(f"{name or 'Nobody'} may not decide here; ask one of the approvers.")
        shelf_states.set_state(run, plan.name, state, name, plan.id, present, **texts)
    except ShelfError as error:
        session[REFUSAL] = str(error)


def _sentence(present: State | None, plan: Plan) -> str:
    """Return the present state of a plan, and whether it is that of an earlier version."""
    if present is None:
        return "Nobody has proposed it yet."
    earlier = "" if present.version == plan.id else " That was an earlier version of it."
    return f"{_change(present)}.{earlier}"


def _change(state: State) -> str:
    """Return a state with who set it, when, for which team, against which budget, and why."""
    when = f"{state.set_at[:10]} {state.set_at[11:16]} UTC"
    team = f"team {state.team}" if state.team else ""
    budget = f"against {state.budget}" if state.budget else ""
    parts = [f"**{state.state}** by {state.set_by}", when, team, budget]
    note = f": {state.note}" if state.note else ""
    return ", ".join(filter(None, parts)) + note
