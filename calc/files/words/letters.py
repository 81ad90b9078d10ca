"""Signatures of letters: what stands below a closing says nothing of the job."""

from calc.files.words.items import Item

MOST_LINES = 8  # of a signature: name, role, company, street, town, phone
FARTHEST_LINE_END = 6  # items behind a closing: best regards from all of us
OF_JOB = frozenset({"MODEL", "CARD", "INST", "DUR", "USD", "BYTES", "PCT"})
POSTSCRIPTS = frozenset({"ps", "p.s", "nb", "edit"})


def signature_of(items: list[Item]) -> set[int]:
    """The numbers of the items of a signature: from a closing at the start of a line to the end.

    A line that begins with PS goes on with the letter. What names a model, a machine or an amount
    is no signature.
    """
    for place in range(1, len(items)):
        if "closing" in items[place].tags and "\n" in items[place - 1].text:
            end = _end(items, place)
            stretch = range(place, end)
            lines = sum("\n" in items[number].text for number in stretch)
            if lines <= MOST_LINES and not any(_is_of_job(items, number) for number in stretch):
                return set(stretch)
    return set()


def _end(items: list[Item], first: int) -> int:
    """The number of the item at which a signature ends: that of a postscript, or of none."""
    for place in range(first + 1, len(items)):
        if items[place].text in POSTSCRIPTS and "\n" in items[place - 1].text:
            return place
    return len(items)


def _is_of_job(items: list[Item], place: int) -> bool:
    """Return whether an item says something of a job: a name, an amount, a number of something."""
    item, behind = items[place], items[place + 1 : place + 2]
    counts = "N" in item.tags and any(one.tags - {"silent", "end", ",", "N"} for one in behind)
    return bool(item.tags & OF_JOB) or counts
