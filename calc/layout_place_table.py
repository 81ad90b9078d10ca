"""Formulas over combinations of two tables, each at the narrowest level of what it reads.

The levels: one value for all; a value per layout; per place; per pair of a layout and a place; per
way (a pair and what it is multiplied by). A column that depends on the layout alone is computed
once, however many places the layout is tried on.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from calc.evaluate import Columns, parameters_of

ONE, LAYOUT, PLACE, PAIR, WAY = range(5)


class LayoutPlaceTable:
    """Columns with their levels, the layout and the place of each pair, the pair of each way."""

    def __init__(
        self,
        layouts: Columns,
        places: Columns,
        layout_of_pair: np.ndarray,
        place_of_pair: np.ndarray,
    ) -> None:
        self.layout_of_pair, self.place_of_pair = layout_of_pair, place_of_pair
        self.pair_of_way = np.arange(len(layout_of_pair))
        self.spread: dict[tuple[str, int], Any] = {}
        self.columns: dict[str, tuple[int, Any]] = {
            name: (ONE if values.shape[-1] == 1 else level, values)
            for level, table in ((LAYOUT, layouts), (PLACE, places))
            for name, values in table.items()
            if isinstance(values, np.ndarray) and values.ndim
        }

    def set(self, name: str, level: int, values: np.ndarray) -> None:
        """Set a column; one value for all needs no level."""
        if name in self.columns:
            for wide in (PAIR, WAY):
                self.spread.pop((name, wide), None)
        self.columns[name] = (ONE if values.shape[-1] == 1 else level, values)

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def column(self, name: str, level: int) -> Any:
        """Return a column at its level or a wider one.

        Its last axis is that of the level, or has one value.
        """
        narrow, values = self.columns[name]
        if narrow in (ONE, level):
            return values
        if (name, level) not in self.spread:
            self.spread[name, level] = values.take(self._numbers(narrow, level), axis=-1)
        return self.spread[name, level]

    def _numbers(self, narrow: int, level: int) -> np.ndarray:
        """Return the number, at a narrow level, of each entry of a wider level."""
        if narrow == PAIR:
            return self.pair_of_way
        of_pair = self.layout_of_pair if narrow == LAYOUT else self.place_of_pair
        return of_pair if level == PAIR else of_pair.take(self.pair_of_way)

    def value(self, formula: Callable, level: int) -> Any:
        """The result of a formula whose columns are all at this level."""
        return formula(**{name: self.column(name, level) for name in parameters_of(formula)})

    def evaluate_all(self, formulas: Iterable[Callable]) -> None:
        """Add the column of each formula, in order, at its level."""
        for formula in formulas:
            level = wider({self.columns[name][0] for name in parameters_of(formula)})
            self.set(formula.__name__, level, np.atleast_1d(self.value(formula, level)))

    def keep(self, pairs: np.ndarray) -> None:
        """Drop all pairs but these, given by number in order, and their ways."""
        stays = np.zeros(len(self.layout_of_pair), dtype=bool)
        stays[pairs] = True
        ways = np.flatnonzero(stays[self.pair_of_way])
        self.pair_of_way = (np.cumsum(stays) - 1)[self.pair_of_way[ways]]
        self.layout_of_pair = self.layout_of_pair.take(pairs)
        self.place_of_pair = self.place_of_pair.take(pairs)
        self.spread = {}
        for name, (level, values) in self.columns.items():
            if level in (PAIR, WAY):
                self.columns[name] = (level, values.take(pairs if level == PAIR else ways, axis=-1))

    def parts(self, most: int) -> Iterator["LayoutPlaceTable"]:
        """The pairs in order, in parts of at most this many; at least one part."""
        pairs = len(self.layout_of_pair)
        return (
            self.only(np.arange(start, min(start + most, pairs)))
            for start in range(0, max(pairs, 1), most)
        )

    def only(self, pairs: np.ndarray) -> "LayoutPlaceTable":
        """A copy with only these pairs, given by number."""
        part = LayoutPlaceTable({}, {}, self.layout_of_pair, self.place_of_pair)
        part.pair_of_way, part.columns = self.pair_of_way, dict(self.columns)
        part.keep(pairs)
        return part

    def multiply(self, pair: np.ndarray) -> None:
        """Make the ways, each from the pair of this number."""
        self.pair_of_way = pair
        self.spread = {key: values for key, values in self.spread.items() if key[1] == PAIR}


def wider(levels: set[int]) -> int:
    """The narrowest level that holds columns of all these levels."""
    widest = max(levels, default=ONE)
    return PAIR if widest == PLACE and LAYOUT in levels else widest


@lru_cache(maxsize=64)
def needed(formulas: tuple[Callable, ...], wanted: tuple[str, ...]) -> tuple[Callable, ...]:
    """The formulas that the wanted columns depend on, in order."""
    names = set(wanted)
    formulas_in_reverse = []
    for formula in reversed(formulas):
        if formula.__name__ in names:
            formulas_in_reverse.append(formula)
            names |= set(parameters_of(formula))
    return tuple(reversed(formulas_in_reverse))
