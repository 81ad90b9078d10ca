"""Fields of the job as the sidebar draws them: counts, amounts, choices and popovers."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.files.words.numbers import read_count
from calc.say.numbers import exact_amount
from calc.say.place import short_card
from views.session import SESSION, job_state
from views.session.questions import widget_of
from views.shared.elements import segments
from views.shared.markdown import plain

NO_LIMIT = "no limit"
WRITTEN = "_written"  # ends the key of a count that is written in words


def row() -> Any:
    """Fields side by side; so narrow they leave out the buttons for more and less."""
    return st.container(horizontal=True, wrap=False, gap="xsmall", vertical_alignment="bottom")


def choice(label: str, key: str, words: dict[str, str], **look: Any) -> None:
    """One of a few in a row of buttons as wide as the sidebar."""
    segments(
        label, words, key, width="stretch", **{"label_visibility": "collapsed", **SESSION, **look}
    )


def count_field(label: str, key: str, empty: str = "", **look: Any) -> None:
    """A field of a count; `empty` says what an empty field means, else it is never empty."""
    look = {"step": 1, "placeholder": empty, **look, **SESSION}
    st.number_input(label, 1, value=_last(key, empty), key=key, **look)


def large_count(label: str, key: str, empty: str = "") -> None:
    """A field of the job for a count that people write as 50,000, 50k or 50 million.

    `empty` says what an empty field means, else it is never empty.
    """
    written_count(
        label, st.session_state[key], lambda new: job_state.choose(**{key: new}), key, empty
    )


def written_count(
    label: str,
    value: float | None,
    take: Callable[[int | None], None],
    key: str,
    empty: str = "",
    least: int = 1,
    **look: Any,
) -> None:
    """A text field for a count, which people write as 50,000, 50k or 50 million.

    `take` is called with a new count of at least `least`, or with None where the field is emptied;
    `empty` says what an empty field means, else it is never empty.
    """

    def read(text: str) -> None:
        new = read_count(text)
        if (new and new >= least) or (empty and not text):
            take(new)
        elif text:
            st.toast(plain(f"'{text}' is not a count. Write 50,000, 50k or 50 million."))

    shown = "" if value is None else exact_amount(value)
    state = widget_of(f"{key}{WRITTEN}", shown, read)
    st.text_input(label, placeholder=empty, **state, **look)


def number(label: str, key: str, empty: str = NO_LIMIT, **look: Any) -> None:
    """A field of an amount, likewise."""
    st.number_input(
        label,
        0.0,
        value=_last(key, empty),
        key=key,
        placeholder=empty,
        **{"format": "%g", **look},
        **SESSION,
    )


def popover(label: str, key: str, **look: Any) -> Any:
    """A popover whose label stays while it is open, since with another one it would close."""
    state = st.session_state
    if not state.get(key):
        state[f"{key}_label"] = label
    return st.popover(state[f"{key}_label"], on_change="rerun", key=key, **look)


@cached_per_catalogs("gpus", "instances")
def instance_names(catalogs: Catalogs) -> dict[str, str]:
    """Every instance type with its cards: p5.48xlarge · 8 × H100."""
    rows = zip(
        catalogs.instances.index, catalogs.instances["gpus"], catalogs.instances["gpu"], strict=True
    )
    return {
        instance: f"{instance} · {gpus:.0f} × {short_card(gpu, catalogs)}"
        for instance, gpus, gpu in rows
    }


def _last(key: str, empty: str) -> Any:
    """Return what a cleared field shows: nothing if it may be empty, else its last value."""
    return None if empty else st.session_state[key]


def scaled_number(
    label: str,
    key: str,
    value: float | None,
    factor: float,
    take: Callable[[float | None], None],
    empty: str,
    **look: Any,
) -> None:
    """A field of an amount in a unit that is `factor` times as small."""
    state = widget_of(
        key,
        None if value is None else round(value * factor, 9),
        lambda new: take(None if new is None else new / factor),
    )
    st.number_input(label, 0.0, value=None, format="%g", placeholder=empty, **state, **look)
