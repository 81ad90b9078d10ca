"""The one button that keeps the row that the page shows."""

from typing import Literal

from views.session import kept
from views.session.present_plan import Present
from views.shared.elements import button


def keep(plan: Present, look: Literal["primary", "secondary"] = "primary") -> None:
    """Keep what is shown; nothing where it cannot be estimated."""
    if not plan.row["memory_bytes"] > 0:
        return
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
