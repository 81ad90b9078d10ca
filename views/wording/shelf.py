"""The wording of the shelf: the plans, when they were saved, their cost then and today."""

from datetime import datetime

from calc.evaluate import Row
from calc.plan.aged import changes
from calc.say.numbers import changed_by, counted, is_missing
from shelf.plans import Plan
from views.wording.plan import day_text

ABOUT = (
    "Plans that the team keeps by name. Saving adds a version and never replaces one; a link is enough to pass a plan on without the "
    "shelf. Names are as typed: nobody is asked to sign in, so anyone who reaches this page can read, open and add."
)
EMPTY = "Nothing stands here yet. Put the present plan on it: give it a name and say who you are."
NOTHING_TO_SAVE = "The present plan has no answer: there is nothing to put on the shelf."


def heading(plans: list[Plan]) -> str:
    """3 plans on the shelf."""
    return f"{counted(len(plans), 'plan')} on the shelf" if plans else "The shelf is empty"


def when(saved_at: str) -> str:
    """22 November 2026, 11:02 UTC."""
    try:
        return f"{day_text(saved_at[:10])}, {datetime.fromisoformat(saved_at):%H:%M} UTC"
    except ValueError:
        return saved_at


def moved(row: Row | None) -> str:
    """9 % more; the same; empty where one of the two is not known."""
    if row is None or is_missing(row["then_usd"]) or is_missing(row["usd"]):
        return ""
    change = next((each for each in changes(row) if each.figure == "usd"), None)
    return changed_by(change.ratio) if change else "the same"


def saved(plan: Plan, stand: list[Plan], seen: str) -> str:
    """What saving did; and whose versions came in between, which stand beside it."""
    others = [each for each in stand if each.id != plan.id and each.saved_at > seen] if seen else []
    sentence = f"**{plan.name}** is on the shelf, version {len(stand)}."
    names = ", ".join(dict.fromkeys(each.saved_by for each in others))
    return f"{sentence} {names} saved this name too since you looked: both stand." if others else sentence


def version(plan: Plan, number: int) -> str:
    """Version 2 by Ana, 22 November 2026, 11:02 UTC: the answer."""
    return f"Version {number} by {plan.saved_by}, {when(plan.saved_at)}: {plan.answer}"
