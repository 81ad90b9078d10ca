"""The cards or instances that a team has: kind and count of each."""

from functools import partial
from typing import Any

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.job.cells import MOST_MACHINES
from calc.mappings import Arguments
from calc.say.place import card_name
from views.session.questions import Kinds, take_machines, widget_of
from views.session.questions import machines as kinds_of
from views.shared.elements import button
from views.sidebar.fields import instance_names, row


def machines(catalogs: Catalogs) -> None:
    """A row for each kind; a count of 0 takes it away."""
    kinds = kinds_of(catalogs)
    names = {gpu: card_name(gpu, catalogs) for gpu in catalogs.gpus.index} | instance_names(
        catalogs
    )
    for place, (name, count) in enumerate(kinds):
        look: Arguments = {} if place == 0 else {"label_visibility": "collapsed"}
        with row():
            state = widget_of(f"kind_{place}", name, partial(_take, kinds, place, 0))
            st.selectbox(
                "Card or instance",
                list(names),
                index=None,
                format_func=names.__getitem__,
                **look,
                **state,
            )
            state = widget_of(f"count_{place}", count, partial(_take, kinds, place, 1))
            st.number_input(
                "How many", 0, MOST_MACHINES, value=None, step=1, width=88, **look, **state
            )
    if kinds[-1][0]:
        button("Another kind", _one_more, icon="add", type="tertiary", key="add_kind")


def _take(kinds: Kinds, place: int, part: int, value: Any) -> None:
    """Callback: another name or count of a kind."""
    new = [*kinds[place][:part], value, *kinds[place][part + 1 :]]
    take_machines([*kinds[:place], (new[0], new[1] or 0), *kinds[place + 1 :]])


def _one_more() -> None:
    """Callback: a row for another kind."""
    st.session_state["another_kind"] = True
