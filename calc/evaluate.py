"""Runs formulas over a table: each makes the column of its name from the columns it reads."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from inspect import Parameter, Signature, isfunction, signature
from types import ModuleType
from typing import Any

# column -> one value per row along the last axis, or one value for all rows
Columns = dict[str, Any]
Row = dict[str, Any]  # column -> its value in one row


@cache
def parameters_of(formula: Callable) -> tuple[str, ...]:
    """The names of the columns that a formula reads."""
    return tuple(signature(formula).parameters)


def evaluate(formula: Callable, table: Mapping[str, Any]) -> Any:
    """Call a formula with the columns that its parameters name."""
    return formula(**{name: table[name] for name in parameters_of(formula)})


def reading(parts: Iterable[str | Callable]) -> Callable[[Callable], Callable]:
    """Mark a formula that takes columns by keyword: the named ones and those that formulas read."""
    names = dict.fromkeys(
        name
        for part in parts
        for name in ((part,) if isinstance(part, str) else parameters_of(part))
    )

    def mark(formula: Callable) -> Callable:
        parameters = [Parameter(name, Parameter.KEYWORD_ONLY) for name in names]
        formula.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return formula

    return mark


def evaluate_all(formulas: Iterable[Callable], table: Columns) -> Columns:
    """Add the column of each formula to the table, in order. A column has one maker."""
    for formula in formulas:
        if formula.__name__ in table:
            raise TypeError(f"Two formulas make the column {formula.__name__}; rename one of them.")
        table[formula.__name__] = evaluate(formula, table)
    return table


def resting(columns: Iterable[str], formulas: Iterable[Callable]) -> tuple[Callable, ...]:
    """The formulas that depend on these columns, in order."""
    names = set(columns)
    dependent = []
    for formula in formulas:
        if names.intersection(parameters_of(formula)):
            dependent.append(formula)
            names.add(formula.__name__)
    return tuple(dependent)


@cache
def formulas_of(module: ModuleType) -> tuple[Callable, ...]:
    """The formulas of a module: its public functions, in the order in which they are defined."""
    return tuple(
        value
        for name, value in vars(module).items()
        if isfunction(value) and value.__module__ == module.__name__ and name[0] != "_"
    )


def variant(formula: Callable, *, rename: Mapping[str, str], doc: str) -> Callable:
    """Return the same formula for other columns, under a name and a docstring of its own.

    Each word of `rename` is replaced in the formula's name and in the columns that it reads, the
    longest word first and each place once, so that two words may change places. Assign the variant
    to the name that results: `NAME = variant(...)`.

    Raises ValueError if the formula's name stays the same.
    """
    words = re.compile("|".join(map(re.escape, sorted(rename, key=len, reverse=True))))

    def renamed(name: str) -> str:
        return words.sub(lambda match: rename[match[0]], name)

    if renamed(formula.__name__) == formula.__name__:
        raise ValueError(f"`rename` must change the name of {formula.__name__}.")
    original_names = {renamed(name): name for name in parameters_of(formula)}

    @wraps(formula)
    def made(*values: Any, **columns: Any) -> Any:
        return formula(*values, **{original_names[name]: value for name, value in columns.items()})

    made.__name__ = made.__qualname__ = renamed(formula.__name__)
    made.__doc__ = doc
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in original_names]
    made.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return made
