"""Names for mappings whose keys are known only at run time.

A mapping with fixed keys is a class instead. `calc.evaluate` has two more: `Row`, the values of one
row of a result, and `Columns`, a whole table.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Cells = Mapping[str, Any]  # column -> cell of a job, a scenario or a row, for reading
Json = dict[str, Any]  # an object of JSON or YAML, as a file or a catalog has it
Changes = dict[str, Any]  # column of a job or a scenario -> the cell that a change sets
Arguments = dict[str, Any]  # keyword arguments of a call, by name


def put_at_path(tree: Json, path: Sequence[str], value: Any) -> None:
    """Put a value at a path of nested mappings, unless another value stands above it."""
    for key in path[:-1]:
        tree = tree.setdefault(key, {})
        if not isinstance(tree, dict):
            return
    tree[path[-1]] = value
