"""Traits of the catalog of precisions beside widths: defaults, and where each is tried.

The traits are read once, when the program starts, as the columns and assumptions are.
"""

from calc.catalogs.load import FOLDER, read_document

_DOCUMENT = read_document(FOLDER, "precisions")
_ENTRIES = _DOCUMENT["precisions"]
DEFAULT_PRECISION = {
    "training": _DOCUMENT["defaults"]["full_training"],
    "inference": _DOCUMENT["defaults"]["inference"],
}
# The precision of as many bits for cards without bf16, by the one that needs bf16.
WITHOUT_BF16 = {
    name: entry["without_bf16"] for name, entry in _ENTRIES.items() if "without_bf16" in entry
}


def tried_for(work: str) -> tuple[str, ...]:
    """The precisions that the search tries for a kind of work without being asked."""
    return tuple(name for name, entry in _ENTRIES.items() if work in entry.get("tried_for", ()))


def with_and_without_bf16(work: str) -> tuple[str, str]:
    """The one precision tried for a kind of work on cards with bf16, and on those without."""
    (name,) = tried_for(work)
    return name, WITHOUT_BF16.get(name, name)
