"""Numbers that remember how they were made: a formula run on them also returns its equation.

The formulas of this package are plain functions of arrays and run unchanged on a `TracedColumn`.
`text` writes the equation with names or with numbers; `live` leaves out idle parts: zeros, factors
of one, branches not taken.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from calc.mappings import Cells

LOOSEST, ATOM = 0, 9  # precedence of a comparison or choice, and of a name, number or call
INFIX = {
    "add": (" + ", 1),
    "subtract": (" - ", 1),
    "multiply": (" · ", 2),
    "divide": (" / ", 2),
    "power": ("^", 3),
}
COMPARED = {
    "greater": ">",
    "greater_equal": "≥",
    "less": "<",
    "less_equal": "≤",
    "equal": "=",
    "not_equal": "≠",
    "bitwise_or": "or",
    "bitwise_and": "and",
    "logical_or": "or",
    "logical_and": "and",
}
SHORT = {"maximum": "max", "minimum": "min"}
PASSED_ON = ("astype", "asarray", "broadcast_to")


class TracedColumn(NDArrayOperatorsMixin):
    """An array with its operation and operands, or with its name as a column."""

    def __init__(self, value: Any, name: str = "", op: str = "", parts: Iterable = ()) -> None:
        self.value, self.name, self.op, self.parts = np.asarray(value), name, op, tuple(parts)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return TracedColumn(
            getattr(ufunc, method)(*_plain(inputs), **options), op=ufunc.__name__, parts=inputs
        )

    def __array_function__(self, function, types, inputs, options):
        return TracedColumn(
            function(*_plain(inputs), **options), op=function.__name__, parts=inputs
        )

    def __array__(self, dtype=None, copy=None):
        return np.array(self.value, dtype=dtype)

    def __getitem__(self, key):
        value = self.value[_plain(key)]
        if self.name:
            return TracedColumn(value, name=self.name)
        return TracedColumn(value, op="item", parts=(self,))

    def __bool__(self):
        return bool(self.value)

    def __len__(self):
        return len(self.value)

    def astype(self, kind: Any) -> "TracedColumn":
        """Return the column as another type of number."""
        return TracedColumn(self.value.astype(kind), op="astype", parts=(self,))

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the values."""
        return self.value.shape

    @property
    def dtype(self) -> np.dtype:
        """Return the type of the values."""
        return self.value.dtype


def _plain(operand):
    """The operand as a plain array."""
    if isinstance(operand, TracedColumn):
        return operand.value
    if isinstance(operand, tuple | list):
        return type(operand)(_plain(part) for part in operand)
    return operand


def _all(value, number):
    """Return whether every value is this number."""
    value = _plain(value)
    return np.asarray(value).dtype.kind in "bif" and bool(np.all(np.equal(value, number)))


def live(node: Any) -> Any:
    """The equation without terms of zero, factors of one and branches not taken."""
    if not isinstance(node, TracedColumn) or node.name:
        return node
    parts = node.parts
    if node.op in PASSED_ON or (node.op in ("sum", "max") and len(parts[0]) == 1):
        return live(parts[0])
    if _all(node, 0):
        return 0
    if node.op in ("where", "select", "maximum", "minimum"):
        branch = _branch(node.op, parts)
        if branch is not None:
            return live(branch)
    if node.op in ("add", "subtract") and _all(parts[1], 0):
        return live(parts[0])
    if node.op in ("multiply", "divide") and _all(parts[1], 1):
        return live(parts[0])
    if (node.op == "add" and _all(parts[0], 0)) or (node.op == "multiply" and _all(parts[0], 1)):
        return live(parts[1])
    return TracedColumn(
        node.value,
        op=node.op,
        parts=[live(part) if isinstance(part, TracedColumn) else part for part in parts],
    )


def _branch(op, parts):
    """The operand that a choice takes; None if rows or stacks differ."""
    if op in SHORT:
        larger = np.all(np.greater_equal(*_plain(parts)))
        smaller = np.all(np.greater_equal(*_plain(parts[::-1])))
        first = larger if op == "maximum" else smaller
        if first:
            return parts[0]
        if larger or smaller:
            return parts[1]
        return None
    conditions, choices = (parts[:1], parts[1:2]) if op == "where" else parts[:2]
    for condition, choice in zip(conditions, choices, strict=True):
        if np.all(_plain(condition)):
            return choice
        if np.any(_plain(condition)):
            return None
    return parts[2] if len(parts) > 2 else 0


def columns_of_formula(node: Any) -> list[str]:
    """The names of the columns in an equation, in the order of its terms."""
    if isinstance(node, TracedColumn):
        if node.name:
            return [node.name]
        return list(dict.fromkeys(columns_of_formula(list(node.parts))))
    if isinstance(node, tuple | list):
        return [name for part in node for name in columns_of_formula(part)]
    return []


class Term(NamedTuple):
    """The text of a part of an equation, and the precedence of its outermost operation."""

    text: str
    precedence: int

    def bound(self, least: int) -> str:
        """Return the text, in brackets if it binds less tightly than `least`."""
        return self.text if self.precedence >= least else f"({self.text})"


def text(node: Any, write_number: Callable[[str, Any], str] | None = None) -> str:
    """An equation with names, or with numbers in the form of `write_number(name, value)`."""
    return _term(node, write_number).text


def _term(node: Any, write_number: Callable[[str, Any], str] | None) -> Term:
    """The text of an equation, and the precedence of its outermost operation."""
    if not isinstance(node, TracedColumn):
        is_word = isinstance(node, str | tuple | list)
        return Term(str(node) if is_word else plain_number("", node), ATOM)
    if node.name:
        return Term(write_number(node.name, node.value) if write_number else node.name, ATOM)
    if not node.op:
        return Term(plain_number("", node.value), ATOM)
    if node.op in PASSED_ON or node.op == "item":
        return _term(node.parts[0], write_number)
    if node.op in INFIX:
        sign, precedence = INFIX[node.op]
        left, right = (_term(part, write_number) for part in node.parts)
        # a − (b − c) and a / (b / c) keep their brackets.
        right_least = precedence + (node.op in ("subtract", "divide"))
        return Term(left.bound(precedence) + sign + right.bound(right_least), precedence)
    if node.op in COMPARED:
        sides = (_term(part, write_number).bound(LOOSEST + 1) for part in node.parts)
        return Term(f" {COMPARED[node.op]} ".join(sides), LOOSEST)
    if node.op in ("where", "select"):
        return _choice(node, write_number)
    operands = ", ".join(_term(part, write_number).text for part in node.parts)
    return Term(f"{SHORT.get(node.op, node.op)}({operands})", ATOM)


def _choice(node: TracedColumn, write_number: Callable[[str, Any], str] | None) -> Term:
    """Return the text of np.where or np.select: value if condition, ... else value."""
    cases = [node.parts[:2]] if node.op == "where" else zip(*node.parts[:2], strict=True)
    branches = [
        f"{_term(value, write_number).bound(LOOSEST + 1)} if {_term(condition, write_number).text}"
        for condition, value in cases
    ]
    default = node.parts[2] if len(node.parts) > 2 else 0
    otherwise = _term(default, write_number).bound(LOOSEST + 1)
    return Term(f"{', '.join(branches)} else {otherwise}", LOOSEST)


def plain_number(name: str, value: Any) -> str:
    """A number in an equation: 4,096 or 6.98e9; several stacks side by side."""
    several = list(dict.fromkeys(np.asarray(value).ravel().tolist()))
    if len(several) != 1:
        return f"[{', '.join(plain_number(name, number) for number in np.asarray(value).ravel())}]"
    one = several[0]
    if not isinstance(one, int | float) or not np.isfinite(one):
        return str(one)
    if abs(one) >= 1e7:
        return f"{one:.4g}".replace("e+0", "e").replace("e+", "e")
    return f"{one:,.0f}" if one == int(one) else f"{one:.4g}"


def columns_to_trace(table: Cells) -> dict[str, TracedColumn]:
    """The columns of a table that hold numbers, each of which remembers what is made of it."""
    return {
        name: TracedColumn(values, name)
        for name, values in table.items()
        if isinstance(values, np.ndarray)
    }
