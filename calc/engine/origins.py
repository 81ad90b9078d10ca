"""The origins of columns, and the few columns that decide what formulas read.

Rows whose values in those few columns are equal share their results.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from calc.catalogs.kept import kept
from calc.catalogs.load import Catalogs
from calc.engine.stages import FORMULAS
from calc.evaluate import Columns, parameters_of
from calc.memory.block_forms import block_coefficients, head_coefficients, head_rows
from calc.scenarios import join
from calc.scenarios.problems import Problems
from calc.table import ORIGINS, Table

PLACE = frozenset(
    ["asked_gpu", "instance", "region", "private_prices"]
)  # the inputs that say where a job stands
WORK = "work"  # the same in all rows of a table
UNLIMITED = 10**6


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
        self.cuts: dict[frozenset[str], tuple[str, ...]] = {}

    def deciding(self, read: frozenset[str]) -> tuple[str, ...]:
        """The fewest columns that decide all those read; of several such sets the nearest to them.

        A column of several axes is no key, and a column that depends on the place is decided by
        itself alone: a layout is worked out once for all cards on which these columns are equal.
        """
        if read not in self.cuts:
            behind = self._behind(read)
            placed = {name for name in behind if self._behind({name}) & PLACE}
            uncut = {
                name for name in behind if name in self.several_axes or name.startswith("stack_")
            } | (placed - read)
            self.cuts[read] = tuple(
                sorted(smallest_cut(read, {name: self.made_of.get(name) for name in behind}, uncut))
            )
        return self.cuts[read]

    def _behind(self, names: Iterable[str]) -> set[str]:
        """These columns and all columns that they are made of."""
        behind, waiting = set(names), list(names)
        while waiting:
            fresh = self.made_of.get(waiting.pop(), frozenset()) - behind
            behind |= fresh
            waiting += fresh
        return behind


@kept("precisions")
def origins(catalogs: Catalogs) -> Origins:
    """The origins of all columns: the columns that their step or formula reads."""
    formulas = {name: frozenset(parameters_of(formula)) for name, formula in FORMULAS.items()}
    made_of, several_axes = join.joined_of(catalogs, STEPS)
    return Origins(made_of | formulas | {WORK: frozenset()}, several_axes)


def smallest_cut(
    read: Iterable[str], made_of: Mapping[str, frozenset[str] | None], uncut: set[str]
) -> set[str]:
    """The fewest columns that cut every path from an input (None) to a column that is read.

    Menger's theorem: as many as there are disjoint paths, found as a maximum flow (Edmonds and Karp
    1972).
    """
    left: dict[Any, dict[Any, int]] = defaultdict(
        dict
    )  # the residual capacities; a column is an edge between two nodes
    for name, columns in made_of.items():
        left[name, "in"][name, "out"] = UNLIMITED if name in uncut else 1
        for origin in ["inputs"] if columns is None else [(column, "in") for column in columns]:
            left[name, "out"][origin] = UNLIMITED
    left["read"] = {(name, "in"): UNLIMITED for name in read}
    while "inputs" in (before := _reached(left)):
        way = ["inputs"]
        while way[-1] != "read":
            way.append(before[way[-1]])
        for end, start in pairwise(way):
            left[start][end] -= 1
            left[end][start] = left[end].get(start, 0) + 1
    return {name for name in made_of if (name, "in") in before and (name, "out") not in before}


def _reached(left: Mapping[Any, Mapping[Any, int]]) -> dict[Any, Any]:
    """The nodes that flow can still reach from the columns read, each with the node before it."""
    before: dict[Any, Any] = {"read": None}
    waiting: deque[Any] = deque(["read"])
    while waiting and "inputs" not in before:
        node = waiting.popleft()
        for end, capacity in left.get(node, {}).items():
            if capacity and end not in before:
                before[end] = node
                waiting.append(end)
    return before
