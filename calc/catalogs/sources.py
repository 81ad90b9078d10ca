"""The source of a figure of a catalog: who says it, of which day, in which entry.

The rule is one for all: a figure that a formula makes has the sources of the columns that it reads;
a column whose name begins with a word that has a `_source` of its own has that one
(spot_low_usd_per_hour: spot_source); the rest have the source of their entry, and where it names
none that of the file.
"""

from collections.abc import Mapping
from typing import NamedTuple

from calc.catalogs import figures
from calc.catalogs.load import Catalogs
from calc.catalogs.rooms import ROOM_OF, label_of
from calc.evaluate import formulas_of, parameters_of
from calc.mappings import Cells

FIGURES = {formula.__name__: formula for formula in formulas_of(figures)}
SHOWN_AS = (("_gib", "_bytes"), ("_percent", "_ratio"))  # endings on screen and in the catalogs
OF_CARD = "gpu_"  # before a column of the card in the table of instances
DAYS = ("as_of", "seen_on", "checked_on")  # of an entry
UNVERIFIED = "no source at hand"


class Source(NamedTuple):
    """Who says a figure, the day on which it stood so (ISO), its basis, and its entry's file."""

    text: str
    day: str
    basis: str
    place: str


def sources_of(
    column: str, entries: Mapping[str, tuple[str, Cells]], catalogs: Catalogs
) -> list[Source]:
    """The sources of a column on screen; `entries`: catalog -> name and row of the entry.

    The first catalog that has a column tells its source; a figure of several columns has the source
    of each, once.
    """
    sources = (_of_leaf(leaf, entries, catalogs) for leaf in columns_behind(column))
    return list(dict.fromkeys(filter(None, sources)))


def columns_behind(column: str) -> list[str]:
    """The catalog columns that a column on screen shows or is computed from."""
    names = [
        column,
        *(
            column.removesuffix(shown) + stored
            for shown, stored in SHOWN_AS
            if column.endswith(shown)
        ),
    ]
    formula = next((FIGURES[name] for name in names if name in FIGURES), None)
    if formula is None:
        return names[-1:]
    return [leaf for name in parameters_of(formula) for leaf in columns_behind(name)]


def _of_leaf(
    column: str, entries: Mapping[str, tuple[str, Cells]], catalogs: Catalogs
) -> Source | None:
    """The source of a column: that of your own card, or of the first catalog that has it."""
    of_card = column.removeprefix(OF_CARD)
    if of_card != column and of_card in entries.get("gpus", ("", {}))[1]:
        return _source("gpus", of_card, *entries["gpus"], catalogs)
    for catalog, (name, row) in entries.items():
        if column in row or _date_prefix(column, row):
            return _source(catalog, column, name, row, catalogs)
    return None


def _date_prefix(column: str, row: Cells) -> str:
    """The beginning of a column's name with a source of its own in the row; empty without."""
    words = column.split("_")
    stems = ["_".join(words[:count]) for count in range(len(words), 0, -1)]
    return next(
        (
            stem
            for stem in stems
            if f"{stem}_source" in row and (f"{stem}_as_of" in row or column == f"{stem}_bytes")
        ),
        "",
    )


def _source(catalog: str, column: str, name: str, row: Cells, catalogs: Catalogs) -> Source:
    """The source of a column in one row: its own, that of the row, or that of the file."""
    about = catalogs.about.get(catalog, {})
    stem = _date_prefix(column, row)
    begins = f"{stem}_" if stem else ""
    text = row.get(f"{begins}source") or row.get("source") or about.get("source", "")
    day = row.get(f"{begins}as_of") or next(
        (row[day] for day in DAYS if row.get(day)), about.get("checked_on", "")
    )
    is_unverified = column in (row.get("unverified") or ())
    file = label_of(catalog) if catalog in ROOM_OF else label_of("choices")
    return Source(
        UNVERIFIED if is_unverified else text,
        str(day),
        str(row.get(f"{begins}basis") or ""),
        f"{file}, {name}",
    )
