"""Numbers that are labels and count nothing: vLLM 0.11, transformers 4.57."""

import re
from dataclasses import replace

from calc.files.words.items import Item

RELEASE = re.compile(r"v?\d+(?:\.\d+)+")
ENDS = frozenset({"end", ",", "silent", "and", "or"})


def with_labels(items: list[Item]) -> list[Item]:
    """Return the items, the release of a program behind its name as a label."""
    several = list(items)
    for place, item in enumerate(items):
        if (
            place
            and _is_release(item, items[place + 1 : place + 2])
            and "software" in items[place - 1].tags
        ):
            several[place] = replace(item, tags=frozenset({"LABEL", "silent"}), value=None)
    return several


def _is_release(item: Item, behind: list[Item]) -> bool:
    """Return whether an item is written as a release and no unit or noun follows it."""
    ends = not behind or bool(behind[0].tags & ENDS)
    return bool(item.tags & {"N"} and RELEASE.fullmatch(item.text)) and ends
