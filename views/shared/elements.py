"""Buttons, switches, tabs and charts as every page has them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from calc.evaluate import Row
from calc.mappings import Arguments
from views.charts.base import for_a_wall
from views.session import SESSION, is_wall
from views.session.tabs import key_of
from views.shared.markdown import plain
from views.shared.theme import INKS, Ink


def button(label: str, act: Callable[..., None], *args: Any, icon: str = "", **look: Any) -> bool:
    """A button that calls `act` before the page is drawn; `icon` names a Material symbol.

    Its label is never cut off: a long one takes several lines.
    """
    symbol = f":material/{icon}:" if icon else None
    return st.button(label, on_click=act, args=args, icon=symbol, wrap=True, **look)


def show_error(error: Exception | str) -> None:
    """Draw why something is not possible."""
    st.error(plain(str(error)), icon=":material/block:")


def theme_ink() -> Ink:
    """Return the colors of the theme in which the browser shows the page."""
    return INKS[st.context.theme.type or "light"]


def points(sentences: Sequence[str]) -> None:
    """Sentences as a list."""
    st.markdown(plain("\n".join(f"- {sentence}" for sentence in sentences)))


def segments(label: str, choices: Mapping[Any, str], key: str, **look: Any) -> Any:
    """One of a few choices, always one: value -> the words for it."""
    return st.segmented_control(
        label, list(choices), format_func=choices.__getitem__, key=key, required=True, **look
    )


def select(label: str, choices: Mapping[Any, str], key: str, **look: Any) -> Any:
    """One of several choices in a list that opens: value -> the words for it."""
    return st.selectbox(
        label, list(choices), format_func=choices.__getitem__, key=key, **(SESSION | look)
    )


def use_in_plan(
    choices: Mapping[Any, str],
    key: str,
    act: Callable[[Any], None],
    label: str = "Use in plan",
    **more: Any,
) -> None:
    """A list of candidates for the plan; `act` is called with the choice, then it is empty."""

    def take() -> None:
        choice, st.session_state[key] = st.session_state[key], None
        if choice is not None:
            act(choice)

    look: Arguments = {"placeholder": "Choose one", "on_change": take, "width": 360, **more}
    st.selectbox(label, list(choices), index=None, format_func=choices.__getitem__, key=key, **look)


def expander(label: str, key: str, body: Callable[[], Any], **look: Any) -> None:
    """A part of a page that is closed at first; `body` draws it when it is open."""
    pane = st.expander(label, on_change="rerun", key=key, **look)
    if pane.open:
        with pane:
            body()


def halves(width: int) -> tuple[DeltaGenerator, DeltaGenerator]:
    """Two parts side by side where each has so many pixels, else one below the other."""
    with st.grid(2, min_column_width=width, gap=("small", "large")):
        return st.container(), st.container()


def open_tabs(bodies: dict[str, Callable], first: str, key: str) -> None:
    """Tabs of which only the open one computes; `bodies`: title -> what draws the tab."""
    panes = st.tabs(list(bodies), default=first, on_change="rerun", key=key)
    for body, pane in zip(bodies.values(), panes, strict=True):
        if pane.open:
            with pane:
                body()


def tabs_of(
    page: str,
    bodies: Mapping[str, tuple[str, Callable[[DeltaGenerator], None]]],
    controls: Callable[[], None] | None = None,
) -> None:
    """A page of tabs: id -> title and what draws it with its heading; `controls` to the right."""
    title = st.container()
    titles = {tab: words for tab, (words, _) in bodies.items()}
    st.session_state.setdefault(key_of(page), next(iter(titles)))
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        tab = segments(
            "Part of the page", titles, key_of(page), label_visibility="collapsed", **SESSION
        )
        if controls:
            with st.container(horizontal=True, vertical_alignment="center", width="content"):
                controls()
    bodies[tab][1](title)


def dialog(title: str, key: str, body: Callable[[], None], **look: Any) -> None:
    """A dialog that is open while the session has its key; closing it forgets the key."""

    def drawn() -> None:
        if key not in st.session_state:  # a callback of the body has closed it
            st.rerun()
        body()

    if key in st.session_state:
        st.dialog(title, on_dismiss=lambda: st.session_state.pop(key, None), **look)(drawn)()


def draw(
    spec: Row, rows: pd.DataFrame, alt: str, key: str, cards: pd.DataFrame | None = None
) -> None:
    """A chart: its specification with the table of this run; the cards' rules are a second one."""
    spec = for_a_wall(spec) if is_wall() else spec
    if cards is None:
        st.vega_lite_chart(rows, spec, alt=alt, key=key, width="stretch")
    else:
        both = {**spec, "data": {"name": "rows"}, "datasets": {"rows": rows, "cards": cards}}
        st.vega_lite_chart(both, alt=alt, key=key, width="stretch")
