"""The last expressions of names that one function of a script sets several times."""

import ast
from collections.abc import Iterable

Expressions = dict[str, ast.expr]
Scope = ast.Module | ast.FunctionDef


def last_values(tree: ast.Module) -> Expressions:
    """The last expressions of names that one function, or the script itself, alone sets.

    A branch makes a conditional expression of what it sets, and a step such as a //= b an operation
    on the value before.
    """
    scopes: list[Scope] = [tree, *(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))]
    found: dict[str, list[ast.expr]] = {}
    for scope in scopes:
        for name, value in _after(scope.body, {}).items():
            found.setdefault(name, []).append(value)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def returned_values(tree: ast.Module) -> Expressions:
    """The expression that each function of a script returns, where it returns one alone."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    returned: Expressions = {}
    for function in functions:
        values = [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value]
        is_generator = any(isinstance(n, ast.Yield) for n in ast.walk(function))
        if len(values) == 1 and not is_generator:
            returned[function.name] = values[0]
    return returned


def _after(statements: Iterable[ast.stmt], before: Expressions) -> Expressions:
    """The expressions of names after statements, given those before them."""
    values = dict(before)
    for node in statements:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values[name] = _replaced(value, name, values.get(name))
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=several)):
                pairs = zip(names, several, strict=False)
                values |= {one.id: value for one, value in pairs if isinstance(one, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value:
                values[name] = value
            case ast.AugAssign(target=ast.Name(id=name), op=sign, value=value):
                if name in values:
                    values[name] = ast.BinOp(values[name], sign, value)
            case ast.If(test=test, body=body, orelse=others):
                values = _joined(test, _after(body, values), _after(others, values), values)
            case ast.With(body=body) | ast.Try(body=body):
                values = _after(body, values)
            case ast.For(target=ast.Name(id=name), body=body):
                inner = _after(body, values)
                values = {one: inner[one] for one in inner if one in values or one != name}
    return values


def _joined(
    test: ast.expr, then: Expressions, otherwise: Expressions, before: Expressions
) -> Expressions:
    """The expressions after a branch: a conditional one where its sides differ."""
    values: Expressions = {}
    for name in {**then, **otherwise}:
        one, other = then.get(name), otherwise.get(name)
        if one is other or one is None or other is None:
            values[name] = one or other  # type: ignore[assignment]
        else:
            values[name] = ast.IfExp(test, one, other)
    return {name: value for name, value in values.items() if value is not None} | {
        name: value for name, value in before.items() if name not in values
    }


def _replaced(value: ast.expr, name: str, before: ast.expr | None) -> ast.expr:
    """An expression with the value that its own name had before in the place of the name."""
    uses = any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(value))
    return _Replaced(name, before).visit(_copy(value)) if uses and before else value


def _copy(value: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(value), mode="eval").body


class _Replaced(ast.NodeTransformer):
    """Put an expression in the place of a name."""

    def __init__(self, name: str, expression: ast.expr | None) -> None:
        self.name, self.expression = name, expression

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.expression if node.id == self.name and self.expression else node


def with_set_items(tree: ast.Module) -> None:
    """Write the items that a script sets at its top into the mappings that they are of.

    CFG = dict(seq=512) and then CFG["seq"] = 1024, or CFG.update(seq=1024).
    """
    mappings: dict[str, ast.Dict | ast.Call] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() | ast.Call() as value):
                if isinstance(value, ast.Dict) or ast.unparse(value.func) == "dict":
                    mappings[name] = value
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key))],
                value=value,
            ) if name in mappings:
                _set_item(mappings[name], str(key), value)
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr="update"), keywords=keywords
                )
            ) if name in mappings:
                for one in keywords:
                    _set_item(mappings[name], str(one.arg), one.value)


def _set_item(mapping: ast.Dict | ast.Call, key: str, value: ast.expr) -> None:
    """Set an item of a mapping that a script writes out."""
    if isinstance(mapping, ast.Call):
        mapping.keywords = [one for one in mapping.keywords if one.arg != key]
        mapping.keywords.append(ast.keyword(key, value))
        return
    left = [
        (one, old)
        for one, old in zip(mapping.keys, mapping.values, strict=True)
        if getattr(one, "value", None) != key
    ]
    mapping.keys = [*(one for one, _ in left), ast.Constant(key)]
    mapping.values = [*(old for _, old in left), value]
