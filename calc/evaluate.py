"""Runs formulas over a table: each makes the column of its name from the columns it reads."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, reduce, wraps
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
    names, kept = set(columns), []
    for formula in formulas:
        if names.intersection(parameters_of(formula)):
            kept.append(formula)
            names.add(formula.__name__)
    return tuple(kept)


@cache
def formulas_of(module: ModuleType) -> tuple[Callable, ...]:
    """The formulas of a module: its public functions, in the order in which they are defined."""
    return tuple(
        value
        for name, value in vars(module).items()
        if isfunction(value) and value.__module__ == module.__name__ and name[0] != "_"
    )


def twin(formula: Callable, words: dict[str, str]) -> Callable:
    """The same formula for other columns: `words` replaced in name, parameters and docstring."""

    def replaced(text: str) -> str:
        return reduce(lambda changed, word: changed.replace(*word), words.items(), text)

    names = {replaced(name): name for name in parameters_of(formula)}

    @wraps(formula)
    def made(*values: Any, **columns: Any) -> Any:
        return formula(*values, **{names[name]: value for name, value in columns.items()})

    made.__name__ = made.__qualname__ = replaced(formula.__name__)
    made.__doc__ = replaced(formula.__doc__ or "")
    parameters = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    made.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return made
