"""A Python script as nested values: what it assigns and calls. It is parsed, never run."""

import ast
from typing import Any

from calc.files.configs.python_text import argument_defaults, parameter_defaults, parse_python
from calc.mappings import Json

CLASS = "class"  # the key under which a call keeps the name of what it calls
FROM_ENVIRONMENT = ("os.environ.get", "os.getenv", "environ.get", "getenv", "env.get")
LONGEST_CODE = 60  # characters of an expression that has no literal value
MOST_CHARACTERS = 20_000  # of one joined text
DEEPEST = 25


def python_tree(text: str, file: str) -> Json:
    """The assignments and calls of a script, those of a function under its name.

    Names stand for the literal that the script gives them; text is joined and formatted; any other
    expression is a variable, ${expression}. Raises ConfigProblem where the text is not Python.
    """
    tree = parse_python(text, file)
    return _Script(argument_defaults(tree)).block(tree.body, 0)


class _Script:
    """The names of a script with their values, as far as its statements have been read."""

    def __init__(self, defaults: Json | None = None) -> None:
        self.names: Json = {}
        self.defaults = defaults or {}
        self.imported: dict[str, str] = {}

    def block(self, statements: list[ast.stmt], depth: int) -> Json:
        tree: Json = {}
        for statement in statements if depth < DEEPEST else []:
            self._statement(statement, tree, depth)
        return tree

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
                defaults = parameter_defaults(statement)
                self.names |= {name: self.value(node) for name, node in defaults.items()}
            tree[statement.name] = inner | self.block(statement.body, depth + 1)
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            value = self.value(statement.value)
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for target in targets:
                if self._sets_key(target, value):
                    continue
                name = target.id if isinstance(target, ast.Name) else ast.unparse(target)[:80]
                self.names[name] = tree[name] = value
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            name, added = statement.target.id, self.value(statement.value)
            self.names[name] = tree[name] = _sum(self.names.get(name), added)
        elif isinstance(statement, ast.Expr | ast.Return) and statement.value is not None:
            self._expression(statement, tree)
        for body in ("body", "orelse", "finalbody"):
            inner_statements = getattr(statement, body, None)
            if isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
                tree |= self.block(inner_statements or [], depth + 1)

    def _sets_key(self, target: ast.expr, value: Any) -> bool:
        """Return whether the target was set as a key or an attribute of a known mapping."""
        if isinstance(target, ast.Attribute):
            name, _, attribute = ast.unparse(target)[:LONGEST_CODE].partition(".")
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

    def _expression(self, statement: ast.Expr | ast.Return, tree: Json) -> None:
        """Add the value of an expression to `tree`; append and extend change a list."""
        match statement.value:
            case ast.Call(
                func=ast.Attribute(value=target, attr="append" | "extend" as method),
                args=[argument, *_],
            ):
                name, added = ast.unparse(target), self.value(argument)
                added = [added] if method == "append" else added
                self.names[name] = tree[name] = _sum(self.names.get(name), added)
            case None:
                pass
            case value:
                tree[f"line {statement.lineno}"] = self.value(value)

    def value(self, node: ast.AST, depth: int = 0) -> Any:
        """The value of an expression, as far as it is a literal."""
        if depth > DEEPEST:
            return "${...}"
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str | int | float | None) else "${...}"
        if isinstance(node, ast.Name):
            return self.names.get(node.id, f"${{{node.id}}}")
        if isinstance(node, ast.Attribute) and (given := self.defaults.get(ast.unparse(node))):
            return self.value(given, depth + 1)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return [self.value(element, depth + 1) for element in node.elts]
        if isinstance(node, ast.Dict):
            return self._mapping(node, depth)
        if isinstance(node, ast.JoinedStr):
            return self._formatted(node, depth)
        if isinstance(node, ast.BinOp):
            return _combine(
                node, self.value(node.left, depth + 1), self.value(node.right, depth + 1)
            )
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.value(node.operand, depth + 1)
            return -value if isinstance(value, int | float) else _code(node)
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        return _code(node)

    def _mapping(self, node: ast.Dict, depth: int) -> Json:
        """A dictionary with the values of its keys; `**other` adds those of another."""
        values: Json = {}
        for key, value in zip(node.keys, node.values, strict=True):
            inner = self.value(value, depth + 1)
            if key is not None:
                values[str(self.value(key, depth + 1))] = inner
            elif isinstance(inner, dict):
                values |= inner
        return values

    def _formatted(self, node: ast.JoinedStr, depth: int) -> str:
        parts = (
            self.value(part.value if isinstance(part, ast.FormattedValue) else part, depth + 1)
            for part in node.values
        )
        return "".join(map(str, parts))[:MOST_CHARACTERS]

    def _call(self, node: ast.Call, depth: int) -> Any:
        """The value of a known call, such as os.getenv; of another one its arguments by name."""
        name = ast.unparse(node.func)
        placed = [self.value(argument, depth + 1) for argument in node.args]
        named = {
            keyword.arg: self.value(keyword.value, depth + 1)
            for keyword in node.keywords
            if keyword.arg
        }
        for keyword in node.keywords:  # **settings
            inner = {} if keyword.arg else self.value(keyword.value, depth + 1)
            named = (inner if isinstance(inner, dict) else {}) | named
        if name == "dict":
            return (placed[0] if placed and isinstance(placed[0], dict) else {}) | named
        if name in ("str", "int", "float", "list", "Path") and len(placed) == 1:
            return placed[0] if name != "str" else str(placed[0])
        if name == "json.dumps" and placed and isinstance(placed[0], str | int | float):
            return str(placed[0])
        if name in FROM_ENVIRONMENT and len(placed) == 2:
            return placed[1]
        if name in FROM_ENVIRONMENT and placed:
            return f"${{{placed[0]}}}"
        if isinstance(node.func, ast.Attribute) and node.func.attr == "join" and len(placed) == 1:
            return _join(self.value(node.func.value, depth + 1), placed[0])
        first, _, rest = name.partition(".")
        called = ".".join(filter(None, (self.imported.get(first, first), rest)))
        return {CLASS: called, **{str(place): value for place, value in enumerate(placed)}, **named}


def _join(separator: Any, parts: Any) -> str:
    words = parts if isinstance(parts, list) else [parts]
    return str(separator).join(map(str, words))[:MOST_CHARACTERS]


def _combine(node: ast.BinOp, left: Any, right: Any) -> Any:
    """The value of an operation on two values; a variable where it has none."""
    numbers = all(isinstance(side, int | float) for side in (left, right))
    if isinstance(node.op, ast.Add):
        return _sum(left, right)
    if numbers and isinstance(node.op, ast.Mult):
        return left * right if abs(left * right) < 1e18 else _code(node)
    if numbers and right and isinstance(node.op, ast.FloorDiv | ast.Div):
        return left // right if isinstance(node.op, ast.FloorDiv) else left / right
    return _code(node)


def _sum(left: Any, right: Any) -> Any:
    """Two lists, texts or numbers together; of other values the first one that is known."""
    if isinstance(left, list) and isinstance(right, list):
        return [*left, *right][:MOST_CHARACTERS]
    if isinstance(left, str) and isinstance(right, str):
        return (left + right)[:MOST_CHARACTERS]
    if isinstance(left, int | float) and isinstance(right, int | float):
        return left + right
    return right if left is None else left


def _code(node: ast.AST) -> str:
    """An expression without a literal value, as a variable: ${expression}."""
    return f"${{{ast.unparse(node)[:LONGEST_CODE]}}}"
