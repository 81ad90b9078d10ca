"""Expressions that catalogs write as text, such as 8 * hidden, and their values."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from calc.mappings import Json

Names = Callable[[str], Any]  # what a name stands for, None where nothing does
OPERATORS: dict[type[ast.AST], Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.In: lambda item, group: item in group,
    ast.NotIn: lambda item, group: item not in group,
}
NODES = (
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.UnaryOp,
    ast.BinOp,
    ast.BoolOp,
    ast.IfExp,
    ast.Compare,
)
PARTS = (*NODES, *OPERATORS, ast.And, ast.Or, ast.Load)


def linear(inside: int, outside: int, bias: bool = True) -> int:
    """A matrix and its bias. [parameters]"""
    return inside * outside + bool(bias) * outside


def layer(hidden: int, ffn: int) -> int:
    """Attention and two matrices with biases, and two LayerNorms. [parameters]

    Source: Dosovitskiy et al. 2020, arXiv 2010.11929.
    """
    return 4 * linear(hidden, hidden) + linear(hidden, ffn) + linear(ffn, hidden) + 4 * hidden


def side(size: Any) -> int:
    """Side of an image or a patch, which some configs state as height and width. [pixels]"""
    return size[0] if isinstance(size, list) else size


def patches(image: Any, patch: Any) -> int:
    """Patches of an image. [patches]"""
    return (side(image) // side(patch)) ** 2


def number_of(value: Any) -> int:
    """Elements of a list; 1 for anything else, 0 for nothing."""
    return len(value) if isinstance(value, list) else int(value is not None)


FUNCTIONS: dict[str, Callable] = {
    function.__name__: function
    for function in (linear, layer, side, patches, number_of, math.ceil, int, max, round)
}


@dataclass(frozen=True)
class Expression:
    """One expression, and the names that it may look up."""

    tree: ast.expr
    names: frozenset[str]

    def __call__(self, names: Names) -> Any:
        return _value(self.tree, names)


@cache
def expression(text: str) -> Expression:
    """An expression as the catalog writes it. Raises ValueError if it is none."""
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ValueError(f"'{text}' is not an expression") from None
    nodes = [*ast.walk(tree)]
    functions = {
        node.func.id
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    unknown = [ast.unparse(node) for node in nodes if not isinstance(node, PARTS)] + sorted(
        functions - FUNCTIONS.keys()
    )
    if unknown:
        raise ValueError(f"expressions do not know {unknown[0]}")
    return Expression(
        tree, frozenset(node.id for node in nodes if isinstance(node, ast.Name)) - functions
    )


def formula_of(text: Any) -> Any:
    """Return the rule of a catalog: an expression, a number, or several by name."""
    if isinstance(text, Mapping):
        return {name: formula_of(part) for name, part in text.items()}
    return expression(text) if isinstance(text, str) else text


def compute(formula: Any, names: Names) -> Any:
    """The value of a formula; each of several may name those before it."""
    if not isinstance(formula, Mapping):
        return formula(names) if isinstance(formula, Expression) else formula
    values: Json = {}
    for name, part in formula.items():
        values[name] = compute(
            part, lambda name: values[name] if values.get(name) is not None else names(name)
        )
    return values


def parameters_by(formula: Any, names: Names) -> int:
    """The count that a formula, or the last of several, gives. [parameters]"""
    value = compute(formula, names)
    return [*value.values()][-1] if isinstance(value, dict) else value


def _value(node: Any, names: Names) -> Any:
    """The value of an expression, whose names `names` looks up."""
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return names(name)
        case ast.Attribute(part, name):
            return (_value(part, names) or {}).get(name)
        case ast.Subscript(listed, place):
            return _value(listed, names)[_value(place, names)]
        case ast.Call(ast.Name(function), arguments):
            return FUNCTIONS[function](*(_value(argument, names) for argument in arguments))
        case ast.UnaryOp(sign, operand):
            return OPERATORS[type(sign)](_value(operand, names))
        case ast.BinOp(left, sign, right):
            return OPERATORS[type(sign)](_number(left, names), _number(right, names))
        case ast.Compare(left, [sign], [right]):
            return OPERATORS[type(sign)](_value(left, names), _value(right, names))
        case ast.BoolOp(word, operands):
            for operand in operands:
                value = _value(operand, names)
                if bool(value) == isinstance(word, ast.Or):
                    break
            return value
        case ast.IfExp(test, then, otherwise):
            return _value(then if _value(test, names) else otherwise, names)


def _number(node: ast.expr, names: Names) -> float:
    """Return a number for arithmetic. Raise TypeError for any other value.

    A name that stands for a negative number raises it too.
    """
    value = _value(node, names)
    if not isinstance(value, int | float) or (
        isinstance(node, ast.Name | ast.Attribute) and value < 0
    ):
        raise TypeError(f"{ast.unparse(node)} is {value!r:.20}")
    return value
