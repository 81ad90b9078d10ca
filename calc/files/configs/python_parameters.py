"""The values that the calls of a script give to the parameters of its functions and classes."""

import ast
from collections.abc import Iterator
from functools import lru_cache

from calc.files.configs.python_branches import functions_around
from calc.files.configs.python_values import dotted_name

SPAWNS = ("spawn", "Process", "start_processes", "notebook_launcher")


def parameter_defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr]:
    """The parameters of a function that have a default, each with its expression."""
    given = function.args
    placed = [*given.posonlyargs, *given.args]
    pairs = [
        *zip(placed[len(placed) - len(given.defaults) :], given.defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]
    return {one.arg: value for one, value in pairs if value is not None}


@lru_cache(maxsize=2)  # of trees, which nothing changes once they are read
def parameters_of_functions(tree: ast.AST) -> dict[ast.FunctionDef, dict[str, ast.expr]]:
    """The values that the calls of a function, or of a class, give to its parameters.

    Where several calls give one different values, it has none. A parameter that is handed on under
    its own name has the value that the function around the call was given.
    """
    around = functions_around(tree)
    given: dict[ast.FunctionDef, dict[str, ast.expr]] = {}
    called = _calls_of_functions(tree)
    for function, calls in called.items():
        handed = [_handed_values(call, function) for call in calls]
        same = {
            name: value
            for name, value in handed[0].items()
            if all(ast.dump(one.get(name, tree)) == ast.dump(value) for one in handed)
        }
        given[function] = same
    for function, calls in called.items():
        outer = given.get(around[calls[0]], {}) if calls[0] in around else {}
        for name, value in given[function].items():
            if dotted_name(value) == name and name in outer:
                given[function][name] = outer[name]
    return given


def _handed_values(call: ast.Call, function: ast.FunctionDef) -> dict[str, ast.expr]:
    """The arguments of a call by the names of the function's parameters."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    names = names[1:] if names[:1] == ["self"] else names
    pairs = [*zip(names, call.args, strict=False)]
    pairs += [(one.arg, one.value) for one in call.keywords if one.arg]
    return {name: value for name, value in pairs if not isinstance(value, ast.Starred)}


def _calls_of_functions(tree: ast.AST) -> dict[ast.FunctionDef, list[ast.Call]]:
    """The calls of each function of a script; of a method on an object, of a class its own."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    classes = {
        part: node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.FunctionDef)
    }
    by_name: dict[str, list[ast.FunctionDef]] = {}
    for function in functions:
        is_class = function.name == "__init__" and function in classes
        by_name.setdefault(classes[function] if is_class else function.name, []).append(function)
    found: dict[ast.FunctionDef, list[ast.Call]] = {}
    for call in (*_every_call(tree), *_started_calls(tree)):
        called = dotted_name(call.func)
        on_object, last = "." in called, called.rpartition(".")[2]
        for function in by_name.get(last, []):
            if on_object == (function in classes) or function.name == "__init__":
                found.setdefault(function, []).append(call)
    return found


def _started_calls(tree: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that processes begin with, as by mp.spawn(work, args=(n, settings)).

    spawn gives the number of the process before the others.
    """
    for call in _every_call(tree):
        last = dotted_name(call.func).rpartition(".")[2]
        named = {one.arg: one.value for one in call.keywords if one.arg}
        work = call.args[0] if call.args else named.get("fn") or named.get("target")
        given = named.get("args")
        if last in SPAWNS and isinstance(work, ast.Name) and isinstance(given, ast.Tuple):
            first = [ast.Name("rank")] if last == SPAWNS[0] else []
            yield ast.Call(work, [*first, *given.elts], [])


def _every_call(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
