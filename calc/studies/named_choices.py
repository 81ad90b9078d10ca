"""The choices that a text leaves, as "p4d or p5", each with its own first answer."""

from collections.abc import Mapping
from typing import NamedTuple

from calc.catalogs.load import Catalogs
from calc.evaluate import Row
from calc.job.cells import listed
from calc.mappings import Cells
from calc.search.first_rows import first_rows

CHOICES = ("instance", "gpu", "markets", "regions")
MOST_CHOICES = 4


class NamedChoice(NamedTuple):
    """A choice that a text leaves open, and its first answer; no row if nothing qualifies."""

    name: str
    row: Row | None


def named_choices(
    job: Cells, said_choices: Cells, words: Mapping[str, str], catalogs: Catalogs
) -> list[NamedChoice]:
    """Answer each of the choices that a text leaves open; empty if it leaves none.

    `said_choices`: the columns that the text sets; `words`: the words of each.
    """
    for column in CHOICES:
        values = [
            one for value in listed(said_choices.get(column)) for one in str(value).split("+")
        ]
        several = _groups(column, values, words.get(column, ""))
        if 1 < len(several) <= MOST_CHOICES:
            jobs = [{**job, column: "+".join(values)} for values in several.values()]
            rows = first_rows(jobs, catalogs)
            return [NamedChoice(*pair) for pair in zip(several, rows, strict=True)]
    return []


def _groups(column: str, values: list[str], words: str) -> dict[str, list[str]]:
    """The values of each choice; a family of instances stands for all its sizes."""
    if column != "instance":
        return {value: [value] for value in values}
    names = [word.strip().removeprefix("ml.") for word in words.split(",")]
    groups = {
        name: [value for value in values if value == name or value.startswith(f"{name}.")]
        for name in names
    }
    return {name: group for name, group in groups.items() if group}
