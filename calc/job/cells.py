"""A row of the table of jobs: its cells as values, and the whole row as a hashable value."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.evaluate import Row
from calc.job.columns import SEVERAL
from calc.mappings import Cells
from calc.say.remarks.inputs import allowed_values
from calc.scenarios.inputs import Input, inputs_by_name
from calc.scenarios.lookups import similar
from calc.scenarios.problems import quote_cell
from calc.scenarios.read import number

MACHINES = re.compile(r"(?:(?P<count>\d{1,9})\s*(?:[x×*]\s*|\s))?(?P<name>[^\s×*]+)")
BETWEEN_VALUES = re.compile(r"\s*[+,;|]\s*")
BETWEEN_DIGITS = re.compile(r"(?<=\d),(?=\d)")  # a comma that groups digits: 1,000,000
MOST_MACHINES = 512
PERCENTILES = ("first_token_percentile", "token_percentile")
NUMBERED = ("fewest_bits", "confidence", *PERCENTILES)  # choices that a table may hold as numbers


class JobError(ValueError):
    """The job cannot be answered as it is written: what is wrong, and what to do about it.

    The message is both as one sentence. Without a cure `wrong` is the whole sentence.
    """

    def __init__(self, wrong: str, cure: str = "") -> None:
        super().__init__(f"{wrong}; {cure}." if cure else wrong)
        self.wrong, self.cure = wrong, cure


@dataclass(frozen=True)
class JobRow:
    """The columns of a job that are not blank, in order of their names; a list is a tuple."""

    pairs: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, job: Cells) -> "JobRow":
        """The row of a mapping by column."""
        columns = {str(name): _hashable(value) for name, value in job.items() if not blank(value)}
        return cls(tuple((name, columns[name]) for name in sorted(columns)))

    @property
    def columns(self) -> Row:
        """The columns by name."""
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in self.pairs
        }

    def without(self, names: Iterable[str]) -> "JobRow":
        """Return the row without some columns."""
        left_out = set(names)
        return JobRow(tuple(pair for pair in self.pairs if pair[0] not in left_out))


def _hashable(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_hashable(one) for one in value)
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float) else str(value)


def blank(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, an empty text, or a list of empty cells."""
    if isinstance(value, list | tuple):
        return all(blank(one) for one in value)
    if isinstance(value, str):
        return not value.strip()
    return value is None or bool(value != value)


def listed(value: Any) -> list:
    """The values of a cell that holds one or several, blank ones left out."""
    return [
        one for one in (value if isinstance(value, list | tuple) else [value]) if not blank(one)
    ]


def cell_value(column: Input, value: Any, default: Any = None) -> Any:
    """One value of a column; its default if the cell is blank."""
    if blank(value):
        return column.default if default is None else default
    if column.kind in ("text", "choice"):
        text = "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value).strip()
        text = text.removesuffix(".0") if column.name in NUMBERED else text
        text = text.lower() if column.kind == "choice" else text
        text = text.removeprefix("p") if column.name in PERCENTILES else text
        if column.kind == "choice" and text not in column.choices:
            raise JobError(
                f"{column.name} '{quote_cell(value)}' is not known",
                f"use {' or '.join(filter(None, column.choices))}",
            )
        return text
    amount = number(BETWEEN_DIGITS.sub("", str(value)))
    if not column.allows(np.array(amount)):
        raise JobError(
            f"{column.name} '{quote_cell(value)}' is not {allowed_values(column)}",
            "correct that cell",
        )
    return amount


def cell_values(name: str, value: Any) -> list:
    """Return the values that fix a scenario column: one, a list, or several in a text."""
    several = BETWEEN_VALUES.split(value) if isinstance(value, str) and name in SEVERAL else value
    several = several if isinstance(several, list | tuple) else [several]
    column = inputs_by_name()[name]
    is_list_of_choices = len(several) > 1 and column.kind == "choice"
    if not is_list_of_choices:  # in which an empty value is the default
        several = [value for value in several if not blank(value)]
    return list(dict.fromkeys(cell_value(column, value) for value in several))


def cell_ids(name: str, value: Any, ids: Sequence[str], default: Sequence[str] = ()) -> list[str]:
    """Return the ids of a list or of a text with + or , between.

    Raise JobError for an unknown one. The error suggests a similar id, else those in `default`.
    """
    parts = BETWEEN_VALUES.split(value) if isinstance(value, str) else list(value)
    words = list(dict.fromkeys(str(word).strip().lower() for word in parts if not blank(word)))
    names_nothing = len(parts) > 1 and not words  # a + alone
    for word in [value] if names_nothing else words:
        if word not in ids:
            raise JobError(
                f"{name} '{quote_cell(word)}' is not known",
                f"use {similar(word, ids) or ', '.join(default or ids[:6])}",
            )
    return words


def check_ids(name: str, values: Iterable[str], ids: Iterable[str]) -> None:
    """Refuse values that a catalog does not have."""
    for value in values:
        if value not in ids:
            near = similar(value, ids) or ", ".join(list(ids)[:6])
            raise JobError(
                f"{name} '{quote_cell(value)}' is not in the catalog", f"choose one such as {near}"
            )


def machines_of(text: str, ids: Sequence[str]) -> dict[str, int]:
    """Counts of cards or instance types by id: of 8 x a100-80gb-sxm + 2 x p5.48xlarge."""
    counts: dict[str, int] = {}
    for part in BETWEEN_VALUES.split(text.lower()):
        match = MACHINES.fullmatch(part.strip())
        name, count = (match["name"], int(match["count"] or 1)) if match else ("", 0)
        if name not in ids:
            near = similar(name, ids) or "a100-80gb-sxm"
            raise JobError(
                f"have '{quote_cell(part.strip())}' is not a GPU or instance type of the catalog",
                f"write a count x an id such as {near}",
            )
        counts[name] = counts.get(name, 0) + count
        if not 1 <= counts[name] <= MOST_MACHINES:
            raise JobError(
                f"have '{quote_cell(part.strip())}' is not 1 to {MOST_MACHINES:,} of them",
                "correct the count",
            )
    return counts
