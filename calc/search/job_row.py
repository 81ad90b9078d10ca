"""A row of the table of jobs as a value: what it says, to be compared, hashed and kept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.search.settle import blank


@dataclass(frozen=True)
class JobRow:
    """The columns of a job that are not blank, in the order of their names; a list of values is a tuple."""

    pairs: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, job: Mapping[str, Any]) -> "JobRow":
        """The row of a mapping by column."""
        columns = {str(name): _hashable(value) for name, value in job.items() if not blank(value)}
        return cls(tuple((name, columns[name]) for name in sorted(columns)))

    @property
    def columns(self) -> dict[str, Any]:
        """The columns by name."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self.pairs}

    def without(self, names: Iterable[str]) -> "JobRow":
        """The same row without some columns."""
        left_out = set(names)
        return JobRow(tuple(pair for pair in self.pairs if pair[0] not in left_out))


def _hashable(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_hashable(one) for one in value)
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float) else str(value)
