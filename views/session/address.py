"""The link of the session: read once, written at every run, and the steps of Undo."""

from typing import NamedTuple

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.files.link import link
from calc.files.link.link import VIEW_INPUTS
from calc.files.link.short import expand
from calc.files.request_job import prompt_with_images
from calc.search.board import RANKED
from views.session import extra_state, job_state, opened_plan, tabs
from views.session.catalogs import own_models, readings, rest_on, take_models

VIEW = ("looked", "sort", *VIEW_INPUTS, "budget_for", "tuned_rounds")


class Address(NamedTuple):
    """The query, its complaints, the values that gave way, and the day of its prices."""

    query: dict
    complaints: list
    notes: list
    prices_as_of: str


def address() -> Address:
    """Return the query of the link, complaints and notes on it, and the day of its prices."""
    state = st.session_state
    return Address(
        state["query"], state["link_complaints"], state["notes"], state["link_prices_as_of"]
    )


def read_link(catalogs: Catalogs) -> None:
    """Once per session: apply the choices of the address; keep its complaints."""
    if "link_complaints" not in st.session_state:
        query = {name: st.query_params.get_all(name) for name in st.query_params}
        query, is_broken = expand(query)
        open_link(query, catalogs)
        if is_broken:
            st.session_state["link_complaints"].append(is_broken)
        if view := link.parse(query, catalogs)[0].get("view"):
            tabs.open_tab(view)


def open_link(query: dict[str, list[str]], catalogs: Catalogs) -> None:
    """All that a link says is what the session holds; what was not understood is kept."""
    state = st.session_state
    choices, complaints = link.parse(query, catalogs)
    state["link_prices_as_of"] = choices.pop("prices_as_of", "")
    state["link_then"] = choices.pop("then", None)
    state["link_complaints"] = complaints + take_models(choices.pop("custom_models", {}), catalogs)
    if "readings" in choices:
        rest_on(choices.pop("readings"))
    state["link_fields"] = set(choices)
    take(
        choices | (prompt_with_images(choices, catalogs) if choices.get("goal") == "serve" else {})
    )
    for name in VIEW:
        state.pop(name, None)
        if name in choices:
            state[name] = choices[name]
    state.pop("looked_in", None)
    state.setdefault("sort", RANKED)


def take(choices: Row) -> None:
    """The session's job, assumptions and kept scenarios become these."""
    state = st.session_state
    job_state.start(choices)
    extra_state.take_assumptions(choices, extra_state.assumptions())
    state["kept"] = choices.get("kept", [])


def settle(catalogs: Catalogs) -> None:
    """Before any widget: let impossible values give way, and read the job."""
    state = st.session_state
    notes = job_state.settle(catalogs)
    _read()
    fields = state.pop("link_fields", None)
    if fields is not None:
        complaints = [note for note in notes if not fields.isdisjoint(note.fields)]
        state["link_complaints"] += [note.sentence for note in complaints]
        notes = [note for note in notes if note not in complaints]
        opened_plan.note(state["made"])
    state["notes"] = [note.sentence for note in notes]


def _read() -> None:
    """Return the job of this run, and the query of everything that the user has set."""
    state = st.session_state
    assumptions = extra_state.own_assumptions()
    fields = job_state.job_fields()
    by_hand = job_state.set_by_hand()
    job_state.read(fields, by_hand, assumptions)
    state["made"] = link.compose({**fields, **by_hand, **assumptions, "kept": state["kept"]})


def write_link(catalogs: Catalogs, page: str) -> None:
    """Write the job, the answer with its figures, and the view of a page into the address."""
    state, made = st.session_state, st.session_state["made"]
    view = {name: state[name] for name in VIEW if state.get(name)} | tabs.view(page)
    rest = {
        "custom_models": own_models(),
        "readings": readings(catalogs),
        "prices_as_of": catalogs.prices_as_of,
        **view,
    }
    query = made | link.compose(rest | {"then": opened_plan.for_link(made, catalogs)})
    st.query_params.from_dict(query)
    state["query"] = query
