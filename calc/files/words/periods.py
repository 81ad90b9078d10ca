"""Times over which a text has counted something: 3M requests last month."""

from dataclasses import replace

from calc.files.words.items import Item
from calc.files.words.vocabulary import signals, vocabulary

COUNTED = frozenset({"request", "token", "document", "question", "prompt", "image", "session"})
PERIODS = {"last_day": "day", "last_week": "week", "last_month": "month"}  # signal -> unit
FARTHEST_NUMBER = 3  # items before what is counted


def with_counted_periods(items: list[Item]) -> list[Item]:
    """Return the items, a past time behind what was counted in it as the one of a rate."""
    return [_as_rate(items, place) for place in range(len(items))]


def _as_rate(items: list[Item], place: int) -> Item:
    """The item of a place, or the rate that its time makes of the number before it."""
    item = items[place]
    unit = next((unit for unit in PERIODS if item.text in signals(unit)), "")
    before = items[max(place - FARTHEST_NUMBER, 0) : place]
    counts = bool(before and before[-1].tags & COUNTED) and any("N" in one.tags for one in before)
    if not unit or not counts:
        return item
    seconds = vocabulary().units[PERIODS[unit]].factor
    return replace(item, tags=frozenset({"RATE"}), value=seconds)
