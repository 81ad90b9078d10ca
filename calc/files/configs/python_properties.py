"""The properties of a script's classes of settings, as expressions of their fields."""

import ast
from copy import deepcopy

from calc.files.configs.python_flow import last_values

PROPERTIES = ("property", "cached_property")
OWN = "self"
DEEPEST = 8  # names within one another
MOST_NODES = 300  # of an expression whose names are filled in once more


def properties_of(node: ast.ClassDef, holder: str) -> dict[str, ast.expr]:
    """The expression of each property of a class that returns one, on an object of this name."""
    return {
        part.name: _on_object(value, holder)
        for part in node.body
        if isinstance(part, ast.FunctionDef) and any(map(_is_property, part.decorator_list))
        if (value := _returned(part)) is not None
    }


def _is_property(decorator: ast.expr) -> bool:
    return ast.unparse(decorator).rpartition(".")[2] in PROPERTIES


def _returned(function: ast.FunctionDef) -> ast.expr | None:
    """The only expression that a property returns, with its own names filled in."""
    values = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    if len(values) != 1 or values[0] is None:
        return None
    names = last_values(ast.Module([function], []))
    value = ast.parse(ast.unparse(values[0]), mode="eval").body
    for _ in range(DEEPEST):
        if sum(1 for _ in ast.walk(value)) > MOST_NODES:
            return None
        value = _Filled(names).visit(value)
    return value


def _on_object(value: ast.expr, holder: str) -> ast.expr:
    """An expression in which self is the object of this name."""
    object_of = ast.parse(holder, mode="eval").body
    return _Filled({OWN: object_of}).visit(ast.parse(ast.unparse(value), mode="eval").body)


class _Filled(ast.NodeTransformer):
    """Put the expressions of names in their places."""

    def __init__(self, names: dict[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return deepcopy(self.names.get(node.id, node))
