"""A config function of torchtitan as nested mappings: its source is parsed, never run."""

import ast
import operator
import re
from collections.abc import Iterator
from typing import Any

from calc.files.configs.problem import ConfigProblem
from calc.mappings import Json

MOST_NUMBER = 10**18
DEEPEST_SUM = 8  # of names and brackets
OPERATORS: dict[Any, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
ADDS = "add_argument"
HOLDERS = ("args", "opts", "opt", "options", "flags", "cli_args", "script_args", "parsed_args")
SUPPORTED = re.compile(
    r"(?P<negated>not )?(?:[\w.]*\.)?is_bf(?:loat)?16_supported\(\)"
)  # as every card since Ampere says
LONGEST_SCRIPT, LONGEST_CODE = 200_000, 60  # characters, of a file and of an unknown value


def calls_of(text: str, file: str, names: tuple[str, ...]) -> Iterator[tuple[str, Json]]:
    """The calls of these names in a script, in order, with the values of their arguments.

    A name that the script gives one literal stands for it, of several the last before the call;
    any other expression is a variable, ${expression}.
    """
    tree = parse_python(text, file)
    literals: Json = _defaults_by_name(tree) | argument_defaults(tree)
    assigned: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for name, value in _assigned(node):
                literals[name] = None if name in assigned else value
                assigned.add(name)
    in_order = [node for node in tree.body if isinstance(node, ast.Assign)]
    elsewhere = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and node not in in_order
        for name, _ in _assigned(node)
    }  # in a branch or a function
    calls = sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.Call)),
        key=lambda node: (node.lineno, node.col_offset),
    )
    for call in calls:
        callee = _dotted_name(call.func)
        name = next(
            (name for name in names if callee == name or callee.endswith(f".{name}")),
            "",
        )
        at_call = literals | {
            one: value
            for node in in_order
            for one, value in _assigned(node)
            if node.lineno < call.lineno and literals[one] is None and one not in elsewhere
        }
        if name and "Tokenizer" not in callee and "Processor" not in callee:
            placed = {
                str(place): _literal(argument, at_call) for place, argument in enumerate(call.args)
            }
            yield (
                name,
                placed
                | {
                    argument.arg: _literal(argument.value, at_call)
                    for argument in call.keywords
                    if argument.arg
                },
            )


def _defaults_by_name(tree: ast.AST) -> Json:
    """The defaults of parameters by the names under which functions and methods read them."""
    return {
        f"{holder}{name}": value
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for name, value in parameter_defaults(function).items()
        for holder in ("", "self.", "self.hparams.", "hparams.")
    }


def _assigned(node: ast.Assign) -> Iterator[tuple[str, Any]]:
    """The names that an assignment sets, each with its expression; a, b = 1, 2 sets two."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, expression in zip(target.elts, value.elts, strict=False):
            if isinstance(one, ast.Name):
                yield one.id, expression


def argument_defaults(tree: ast.AST) -> Json:
    """The defaults of a script's own flags, by the names under which it reads them: args.epochs."""
    defaults: Json = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _dotted_name(node.func).rpartition(".")[2] != ADDS:
            continue
        flags = [one.value for one in node.args if isinstance(one, ast.Constant)]
        named = next((str(one) for one in flags if str(one).startswith("--")), "")
        given = {one.arg: one.value for one in node.keywords if one.arg}
        if named and "default" in given:
            name = named.lstrip("-").replace("-", "_")
            defaults |= {f"{holder}.{name}": given["default"] for holder in HOLDERS}
    return defaults


def parameter_defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr]:
    """The parameters of a function that have a default, each with its expression."""
    given = function.args
    placed = [*given.posonlyargs, *given.args]
    pairs = [
        *zip(placed[len(placed) - len(given.defaults) :], given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    return {one.arg: value for one, value in pairs if value is not None}


def _dotted_name(node: Any) -> str:
    """The name of what is called, trl.SFTConfig; of what a call returns its attributes alone."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join(reversed([*names, node.id] if isinstance(node, ast.Name) else names))


def _literal(node: Any, literals: Json) -> Any:
    """Return the value of an expression, as far as it is known without running the script.

    A name has its value in `literals`. A test for what the GPU supports counts as true. An
    attribute of torch is its name. Any other expression is returned as a variable, ${its code}.
    """
    if isinstance(node, ast.Name | ast.Attribute):
        node = literals.get(_dotted_name(node)) or node
    if isinstance(node, ast.IfExp) and SUPPORTED.fullmatch(ast.unparse(node.test)):
        node = node.body
    number = _number(node, literals)
    if number is not None:
        return number
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):  # {[]: 1} has a key without a hash
        code = ast.unparse(node)
    if match := SUPPORTED.fullmatch(code):
        return not match["negated"]
    if code.startswith("torch.") and "(" not in code:
        return code.removeprefix("torch.")
    return "${" + code[:LONGEST_CODE] + "}"


def _number(node: Any, literals: Json, depth: int = 0) -> int | None:
    """The whole number of a sum over names with one value; None for any other expression."""
    if depth > DEEPEST_SUM:
        return None
    if isinstance(node, ast.Name):
        return _number(literals.get(node.id), literals, depth + 1)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = (_number(side, literals, depth + 1) for side in (node.left, node.right))
        if left is None or right is None or (isinstance(node.op, ast.FloorDiv) and not right):
            return None
        value = OPERATORS[type(node.op)](left, right)
        return value if abs(value) < MOST_NUMBER else None
    is_whole = isinstance(node, ast.Constant) and type(node.value) is int
    return node.value if is_whole else None


def parse_python(text: str, file: str) -> ast.Module:
    """The syntax tree of a script; raises ConfigProblem where it is not Python."""
    if len(text) > LONGEST_SCRIPT:
        raise ConfigProblem(
            f"{file} has more than {LONGEST_SCRIPT:,} characters of Python; give the script of the "
            f"run alone."
        )
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = str(error)[:120] or "nested too deep"
        raise ConfigProblem(f"{file}: this is not Python ({reason}); correct it there.") from None


def read_python(text: str, file: str) -> Json:
    """The keyword arguments of the call that the only function returns; raises ConfigProblem.

    Nested calls are mappings: `class` is the callable, a number the position of an argument without
    a name.
    """
    functions = [
        node
        for node in parse_python(text, file).body
        if isinstance(node, ast.FunctionDef) and _return_value(node)
    ]
    if len(functions) != 1:
        names = ", ".join(function.name for function in functions)[:120] or "none"
        raise ConfigProblem(
            f"{file}: only one function may return a config, and this has {names}; keep the "
            f"one that runs."
        )
    return {"config": functions[0].name, **_arguments(_return_value(functions[0]))}


def _return_value(function: Any) -> Any:
    """The call that a function returns, if it has named arguments; else None."""
    calls = [
        node.value
        for node in function.body
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Call)
    ]
    return calls[0] if calls and calls[0].keywords else None


def _arguments(call: Any) -> Json:
    placed = {str(place): _value(argument) for place, argument in enumerate(call.args)}
    return placed | {
        argument.arg: _value(argument.value) for argument in call.keywords if argument.arg
    }


def _value(node: Any) -> Any:
    """The value of an argument: a call as a mapping, a list, a literal, or its code."""
    if isinstance(node, ast.Call):
        return {"class": ast.unparse(node.func), **_arguments(node)}
    if isinstance(node, ast.List):
        return [_value(element) for element in node.elts]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _value(node.left), _value(node.right)
        return (
            left * right
            if isinstance(left, int) and isinstance(right, int) and abs(left * right) < MOST_NUMBER
            else ast.unparse(node)
        )
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return ast.unparse(node)
