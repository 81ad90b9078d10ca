"""The cards or instances that a team has: kind and count of each."""

from functools import partial

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.say.place import card_name
from calc.search.job_row import MOST_MACHINES
from views.session.questions import Kinds, shown, take_machines
from views.session.questions import machines as kinds_of
from views.shared.elements import button
from views.sidebar.fields import instance_names, row


def machines(catalogs: Catalogs) -> None:
    """A row for each kind; a count of 0 takes it away."""
    kinds = kinds_of(catalogs)
    names = {gpu: card_name(gpu, catalogs) for gpu in catalogs.gpus.index} | instance_names(catalogs)
    for place, (name, count) in enumerate(kinds):
        with row():
            state = shown(f"kind_{place}", name, partial(_take_kind, kinds, place))
            st.selectbox("Card or instance", list(names), index=None, format_func=names.__getitem__, placeholder="Choose one", **state)
            state = shown(f"count_{place}", count, partial(_take_count, kinds, place))
            st.number_input("How many", 0, MOST_MACHINES, value=None, step=1, width=88, **state)
    if kinds[-1][0]:
        button("Another kind", _one_more, icon="add", type="tertiary", key="add_kind")


def _take_kind(kinds: Kinds, place: int, name: str | None) -> None:
    take_machines([*kinds[:place], (name, kinds[place][1]), *kinds[place + 1 :]])


def _take_count(kinds: Kinds, place: int, count: int | None) -> None:
    take_machines([*kinds[:place], (kinds[place][0], count or 0), *kinds[place + 1 :]])


def _one_more() -> None:
    """Callback: a row for another kind."""
    st.session_state["another_kind"] = True
