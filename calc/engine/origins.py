"""The origins of columns, and the columns that decide what formulas read.

Rows whose values in those columns are equal share their results.
"""

from collections.abc import Callable, Mapping

from calc.catalogs.caches import cached_per_catalogs
from calc.catalogs.load import Catalogs
from calc.engine.stages import FORMULAS
from calc.evaluate import Columns, parameters_of
from calc.memory.block_forms import block_coefficients, head_coefficients, head_rows
from calc.scenarios import join
from calc.scenarios.problems import Problems
from calc.table import ORIGINS, Table

WORK = "work"  # the same in all rows of a table


def joined_table(inputs: Columns, catalogs: Catalogs, problems: Problems) -> Table:
    """Inputs joined with the catalogs, with the tables that memory reads and the origins."""
    return join.join(inputs, catalogs, problems, STEPS) | {ORIGINS: origins(catalogs)}


def _head_row(model_row, catalogs):
    return {"head_row": head_rows(catalogs)[model_row]}


def _coefficients(catalogs):
    return {
        "head_coefficients": head_coefficients(catalogs),
        "block_coefficients": block_coefficients(catalogs),
    }


STEPS: tuple[Callable, ...] = (*join.STEPS, _head_row, _coefficients)


class Origins:
    """The columns that each column is made of; a column without an entry is an input."""

    def __init__(self, made_of: Mapping[str, frozenset[str]], several_axes: frozenset[str]) -> None:
        self.made_of, self.several_axes = made_of, several_axes
        self.keys: dict[frozenset[str], tuple[str, ...]] = {}

    def deciding(self, read: frozenset[str]) -> tuple[str, ...]:
        """Return the columns that decide what formulas read, in alphabetical order.

        A column is taken as it is. Two kinds are replaced by the columns that they are made of: a
        column of several axes, which is no key, and a column made of a single one, such as the
        many numbers that a choice joins.
        """
        if read not in self.keys:
            self.keys[read] = tuple(sorted(self._keys(read)))
        return self.keys[read]

    def _keys(self, read: frozenset[str]) -> set[str]:
        """Follow columns back to those that decide them."""
        keys = set()
        columns_seen = set(read)
        waiting = list(read)
        while waiting:
            name = waiting.pop()
            origins = self.made_of.get(name)
            if origins is None or (len(origins) > 1 and not self._has_several_axes(name)):
                keys.add(name)
            else:
                waiting += origins - columns_seen
                columns_seen |= origins
        return keys

    def _has_several_axes(self, name: str) -> bool:
        return name in self.several_axes or name.startswith("stack_")


@cached_per_catalogs("precisions")
def origins(catalogs: Catalogs) -> Origins:
    """The origins of all columns: the columns that their step or formula reads."""
    formulas = {name: frozenset(parameters_of(formula)) for name, formula in FORMULAS.items()}
    made_of, several_axes = join.joined_of(catalogs, STEPS)
    return Origins(made_of | formulas | {WORK: frozenset()}, several_axes)
