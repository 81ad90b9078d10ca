"""The source of a figure of a catalog: who says it, as of which day, in which entry.

One rule holds for all figures. A figure that a formula makes has the sources of the columns that it
reads. A column has the source that its entry has for the beginning of the column's name
(spot_low_usd_per_hour: spot_source), else that of its entry, else that of the file.
"""

from collections.abc import Mapping
from typing import NamedTuple

from calc.catalogs import figures
from calc.catalogs.load import Catalogs
from calc.catalogs.rooms import ROOM_OF, label_of
from calc.evaluate import formulas_of, parameters_of
from calc.mappings import Cells

FIGURES = {formula.__name__: formula for formula in formulas_of(figures)}
UNITS = (("_gib", "_bytes"), ("_percent", "_ratio"))  # endings on screen and in the catalogs
OF_CARD = "gpu_"  # begins a column of the card in the table of instances
DAYS = ("as_of", "seen_on", "checked_on")  # fields of an entry
UNVERIFIED = "no source at hand"


class Source(NamedTuple):
    """Who says a figure, as of which day (ISO), on what basis, and the file and entry."""

    text: str
    day: str
    basis: str
    place: str


def sources_of(
    column: str, entries: Mapping[str, tuple[str, Cells]], catalogs: Catalogs
) -> list[Source]:
    """Return the sources of a column on screen; `entries`: catalog -> name and row of the entry.

    The source of a column is that in the first catalog that has it. A figure that is computed from
    several columns has the sources of all.
    """
    sources = (_of_leaf(leaf, entries, catalogs) for leaf in columns_behind(column))
    return list(dict.fromkeys(filter(None, sources)))


def columns_behind(column: str) -> list[str]:
    """Return the catalog columns that a column on screen shows or is computed from."""
    names = [column]
    names += [column.removesuffix(end) + base for end, base in UNITS if column.endswith(end)]
    formula = next((FIGURES[name] for name in names if name in FIGURES), None)
    if formula is None:
        return names[-1:]
    return [leaf for name in parameters_of(formula) for leaf in columns_behind(name)]


def _of_leaf(
    column: str, entries: Mapping[str, tuple[str, Cells]], catalogs: Catalogs
) -> Source | None:
    """Return the source of a column of the card, or of the first catalog that has the column."""
    of_card = column.removeprefix(OF_CARD)
    if of_card != column and of_card in entries.get("gpus", ("", {}))[1]:
        return _source("gpus", of_card, *entries["gpus"], catalogs)
    for catalog, (name, row) in entries.items():
        if column in row or _prefix_with_source(column, row):
            return _source(catalog, column, name, row, catalogs)
    return None


def _prefix_with_source(column: str, row: Cells) -> str:
    """Return the longest prefix of a column's name for which the row has a source; else ""."""
    words = column.split("_")
    for count in range(len(words), 0, -1):
        prefix = "_".join(words[:count])
        has_day = f"{prefix}_as_of" in row or column == f"{prefix}_bytes"
        if f"{prefix}_source" in row and has_day:
            return prefix
    return ""


def _source(catalog: str, column: str, name: str, row: Cells, catalogs: Catalogs) -> Source:
    """Return the source of a column in one row: its own, that of the row, or that of the file."""
    about = catalogs.about.get(catalog, {})
    prefix = _prefix_with_source(column, row)
    prefix = f"{prefix}_" if prefix else ""
    text = row.get(f"{prefix}source") or row.get("source") or about.get("source", "")
    day = row.get(f"{prefix}as_of") or next(
        (row[day] for day in DAYS if row.get(day)), about.get("checked_on", "")
    )
    is_unverified = column in (row.get("unverified") or ())
    file = label_of(catalog) if catalog in ROOM_OF else label_of("choices")
    return Source(
        UNVERIFIED if is_unverified else text,
        str(day),
        str(row.get(f"{prefix}basis") or ""),
        f"{file}, {name}",
    )
