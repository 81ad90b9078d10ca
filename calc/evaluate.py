"""Runs formulas over a table: a formula's name is the column it makes, its parameters are the columns it reads."""

from functools import cache
from inspect import signature


@cache
def parameters_of(formula):
    """The names of the columns that a formula reads."""
    return tuple(signature(formula).parameters)


def evaluate(formula, table):
    """Call a formula with the columns that its parameters name."""
    return formula(**{name: table[name] for name in parameters_of(formula)})


def evaluate_all(formulas, table):
    """Add to the table, in order, the column that each formula makes; return the table."""
    for formula in formulas:
        table[formula.__name__] = evaluate(formula, table)
    return table
