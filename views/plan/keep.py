"""The one button that keeps the row that the page shows, and lets it go again."""

from typing import Literal

from calc.mappings import Arguments
from views.session import kept_answers
from views.session.present_plan import Present
from views.shared.elements import button


def keep(plan: Present, look: Literal["primary", "secondary"] = "primary") -> None:
    """Keep what is shown, or let it go; nothing where it cannot be estimated.

    A press leaves the button enabled, so that the focus stays on it.
    """
    if not plan.row["memory_bytes"] > 0:
        return
    state: Arguments = {"type": look, "key": "keep"}
    place = kept_answers.place_of(plan.row)
    if place is None:
        full = kept_answers.is_full()
        button(
            "Keep this answer",
            kept_answers.keep,
            plan.row,
            icon="bookmark_add",
            disabled=full,
            **state,
        )
    else:
        button("Kept", kept_answers.remove, place, icon="bookmark_added", **state)
