"""A Python script as nested values: what it assigns and calls. It is parsed, never run."""

import ast
from collections.abc import Sequence
from typing import Any

from calc.files.configs.python_names import (
    argument_defaults,
)
from calc.files.configs.python_parameters import parameter_defaults, parameters_of_functions
from calc.files.configs.python_values import (
    CLASS,
    DEEPEST,
    LONGEST_CODE,
    Values,
    dotted_name,
    joined,
    parse_python,
)
from calc.mappings import Json


def python_tree(text: str, file: str) -> Json:
    """The assignments and calls of a script, those of a function under its name.

    Names stand for the literal that the script gives them; text is joined and formatted; any other
    expression is a variable, ${expression}. Raises ConfigProblem where the text is not Python.
    """
    tree = parse_python(text, file)
    script = _Script(argument_defaults(tree, {}))
    script.given = parameters_of_functions(tree)
    script.parts = {}
    return script.block(tree.body, 0)


class _Script(Values):
    """The names of a script with their values, as far as its statements have been read."""

    given: dict[ast.FunctionDef, dict[str, ast.expr]]  # what calls give to parameters
    parts: dict[str, str]  # names of parts of a known mapping: s = recipe.trainer.strategy

    def block(self, statements: list[ast.stmt], depth: int) -> Json:
        tree: Json = {}
        for statement in statements if depth < DEEPEST else []:
            self._statement(statement, tree, depth)
        return tree

    def _parameters(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Json:
        """The parameters of a function with what its calls give them, or else their defaults."""
        given = self.given.get(function, {}) if isinstance(function, ast.FunctionDef) else {}
        own = {name: node for name, node in given.items() if dotted_name(node) != name}
        return {
            name: self.value(node) for name, node in (parameter_defaults(function) | own).items()
        }

    def _statement(self, statement: ast.stmt, tree: Json, depth: int) -> None:
        """Add what a statement assigns or calls to `tree`, with the statements inside it."""
        if isinstance(statement, ast.Import | ast.ImportFrom):
            module = getattr(statement, "module", "") or ""
            for alias in statement.names:
                self.imported[alias.asname or alias.name] = f"{module}.{alias.name}".strip(".")
        elif isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = {
                f"decorator {place}": self.value(decorator)
                for place, decorator in enumerate(statement.decorator_list)
            }
            if not isinstance(statement, ast.ClassDef):
                self.names |= self._parameters(statement)
            tree[statement.name] = inner | self.block(statement.body, depth + 1)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            assigned = self.value(statement.value)
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target, value in _pairs(targets, assigned):
                if self._sets_key(target, value):
                    continue
                name = target.id if isinstance(target, ast.Name) else ast.unparse(target)[:80]
                self.parts.pop(name, None)
                if isinstance(statement.value, ast.Attribute):
                    self.parts[name] = self._path(statement.value)
                self.names[name] = tree[name] = value
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            name, added = statement.target.id, self.value(statement.value)
            self.names[name] = tree[name] = joined(self.names.get(name), added)
        elif isinstance(statement, ast.Expr | ast.Return) and statement.value is not None:
            self._expression(statement, tree)
        holds = self.truth(statement.test) if isinstance(statement, ast.If) else None
        others = {True: ("orelse",), False: ("body",), None: ()}[holds]  # never run
        for body in ("body", "orelse", "finalbody"):
            if body in others:
                continue
            inner_statements = getattr(statement, body, None)
            if isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
                tree |= self.block(inner_statements or [], depth + 1)

    def _sets_key(self, target: ast.expr, value: Any) -> bool:
        """Return whether the target was set as a key or an attribute of a known mapping."""
        if isinstance(target, ast.Attribute):
            name, _, attribute = self._path(target).partition(".")
            called = self.names.get(name)
            if not isinstance(called, dict) or CLASS not in called:
                return False
            called[attribute] = value
            return True
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            return False
        mapping, key = self.names.get(target.value.id), self.value(target.slice)
        if not isinstance(mapping, dict) or not isinstance(key, str):
            return False
        mapping[key] = value
        return True

    def _path(self, attribute: ast.Attribute) -> str:
        """An attribute as its script writes it, a name of a part as the part itself."""
        name, _, rest = ast.unparse(attribute)[:LONGEST_CODE].partition(".")
        return f"{self.parts.get(name, name)}.{rest}"

    def _expression(self, statement: ast.Expr | ast.Return, tree: Json) -> None:
        """Add the value of an expression to `tree`; append and extend change a list."""
        match statement.value:
            case ast.Call(
                func=ast.Attribute(value=target, attr="append" | "extend" as method),
                args=[argument, *_],
            ):
                name, added = ast.unparse(target), self.value(argument)
                added = [added] if method == "append" else added
                self.names[name] = tree[name] = joined(self.names.get(name), added)
            case None:
                pass
            case value:
                tree[f"line {statement.lineno}"] = self.value(value)


def _pairs(targets: Sequence[ast.expr], value: Any) -> list[tuple[ast.expr, Any]]:
    """Each target of an assignment with its value; a, b = 1, 2 has two."""
    pairs: list[tuple[ast.expr, Any]] = []
    for target in targets:
        names = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        if isinstance(value, list) and names and len(names) == len(value):
            pairs += zip(names, value, strict=True)
        else:
            pairs.append((target, value))
    return pairs
