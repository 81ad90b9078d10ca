"""Numbers that count nothing: releases of programs, numbers of orders, and repeated numbers."""

import re
from collections.abc import Iterable
from dataclasses import replace

from calc.files.words.items import Item

RELEASE = re.compile(r"v?\d+(?:\.\d+)+")
ORDER = re.compile(r"\d{8,}")  # PO 4500012345
ENDS = frozenset({"end", ",", "silent", "and", "or"})
SEPARATORS = ("/", "+")
MOST_SEPARATORS = 1  # marks between spaces; more of them set the facts of a text apart


def with_labels(items: list[Item]) -> list[Item]:
    """Return the items, those that are labels without a number, and none in words again."""
    marks = [
        near[1].text
        for near in zip(items, items[1:], items[2:], strict=False)
        if _is_separator(*near)
    ]
    several: list[Item] = []
    repeated: set[int] = set()
    for place, item in enumerate(items):
        if place in repeated:
            continue
        if _is_label(items, place):
            several.append(replace(item, tags=frozenset({"LABEL", "silent"}), value=None))
        elif marks.count(item.text) > MOST_SEPARATORS and _is_separator(
            *items[place - 1 : place + 2]
        ):
            several.append(replace(item, tags=frozenset({","})))
        else:
            several.append(item)
        repeated |= set(_repeated(items, place))
    return several


def _is_label(items: list[Item], place: int) -> bool:
    """Return whether a number is a release behind its program, or too long to count anything."""
    item, behind = items[place], items[place + 1 : place + 2]
    ends = not behind or bool(behind[0].tags & ENDS)
    if "N" not in item.tags or not ends or not place:
        return False
    is_release = RELEASE.fullmatch(item.text) and "software" in items[place - 1].tags
    return bool(is_release or ORDER.fullmatch(item.text))


def _is_separator(*near: Item) -> bool:
    """Return whether the middle of three is a mark between spaces: phi-4 / 9 users / L4."""
    if len(near) < len(("before", "slash", "behind")):
        return False
    before, slash, behind = near
    return slash.text in SEPARATORS and before.end < slash.start and slash.end < behind.start


def _repeated(items: list[Item], place: int) -> Iterable[int]:
    """The places of a parenthesis that says a number again in words: 30 (thirty) users."""
    first, *rest = items[place : place + 4]
    if "N" not in first.tags or [one.text for one in rest[::2]] != ["(", ")"]:
        return ()
    again = rest[1].value if rest[1].tags & {"N", "ONE"} else None
    return range(place + 1, place + 4) if again == first.value else ()
