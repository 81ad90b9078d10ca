"""What stands below the cards, by a row of radio buttons, and the one button that keeps it."""

from typing import Any, Literal

import streamlit as st

from calc.catalogs.load import Catalogs
from calc.say.cards import Card
from views.plan.answer_cards import is_shown
from views.session import is_phone, kept
from views.session.present_plan import Present, look_at
from views.shared import row_words
from views.shared.elements import button
from views.shared.markdown import faint, plain

KEY = "shown"


def choice(cards: list[Card], plan: Present, catalogs: Catalogs) -> None:
    """One of the cards, or the row of the board that was chosen; on a phone Keep stands above."""
    if not cards or not plan.row["memory_bytes"] > 0:
        return
    names = [plain(card.name) for card in cards]
    number = next((index for index, card in enumerate(cards) if is_shown(card, plan)), len(cards))
    names += [plain(row_words.where(plan.row, catalogs))] if number == len(cards) else []
    st.session_state[KEY] = number
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        horizontal_alignment="distribute",
        gap="small",
        key="shown_below",
    ):
        with st.container(
            horizontal=True, vertical_alignment="center", gap="small", width="content"
        ):
            if not is_phone():
                st.markdown(faint("Shown below:"), width="content")
            look: dict[str, Any] = {
                "horizontal": True,
                "label_visibility": "collapsed",
                "width": "content",
                "args": (cards,),
            }
            st.radio(
                "Shown below",
                list(range(len(names))),
                format_func=names.__getitem__,
                key=KEY,
                on_change=_look,
                **look,
            )
        if not is_phone():
            keep(plan)


def keep(plan: Present, look: Literal["primary", "secondary"] = "primary") -> None:
    """The one button that keeps what is shown."""
    done = kept.is_kept(plan.row)
    label, icon = ("Kept", "bookmark_added") if done else ("Keep this answer", "bookmark_add")
    button(
        label,
        kept.keep,
        plan.row,
        icon=icon,
        disabled=done or kept.is_full(),
        type=look,
        key="keep",
    )


def _look(cards: list[Card]) -> None:
    """Callback: everything below starts from the card."""
    number = st.session_state[KEY]
    if number < len(cards):
        look_at(cards[number].row, **cards[number].changes)
