"""Calls in a Python script, and the config function of torchtitan. A script is never run."""

import ast
from collections.abc import Iterator
from typing import Any

from calc.files.configs.problem import MOST_FIELDS, ConfigProblem
from calc.files.configs.python_values import (
    CLASS,
    Values,
    argument_defaults,
    dotted_name,
    parameter_defaults,
    parse_python,
)
from calc.mappings import Json

OBJECTS = ("", "self.", "self.hparams.", "hparams.")  # on which a method reads its parameters
LOOP_CONFIG = "train_loop_config"  # of a trainer of Ray
INHERITED = "TrainingArguments"  # of transformers, whose classes with more arguments end so
NOT_TRAINED = ("Tokenizer", "Processor")


def calls_of(text: str, file: str, names: tuple[str, ...]) -> Iterator[tuple[str, Json]]:
    """The calls of these names in a script, in order, with the values of their arguments.

    A name that the script sets once has that value. Of a name that is set several times, the last
    value before the call counts, unless a branch or a function sets it too; then it is a variable,
    ${name}. Raises ConfigProblem.
    """
    tree = parse_python(text, file)
    known, resets = _names(tree, text)
    calls = sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.Call)),
        key=lambda node: (node.lineno, node.col_offset),
    )
    if len(calls) > MOST_FIELDS:
        raise ConfigProblem(
            f"{file} has more than {MOST_FIELDS:,} calls; give the script of the training alone."
        )
    for call in calls:
        callee = dotted_name(call.func)
        name = next((one for one in names if f".{callee}".endswith(f".{one}")), "")
        if callee.endswith(INHERITED):  # Seq2SeqTrainingArguments, UnslothTrainingArguments
            name = name or INHERITED
        if not name or any(word in callee for word in NOT_TRAINED):
            continue
        set_before = {one: expression for line, one, expression in resets if line < call.lineno}
        yield name, _arguments(call, Values(known | set_before))


def _names(tree: ast.Module, text: str) -> tuple[Json, list[tuple[int, str, ast.expr]]]:
    """The names that a script sets once, with their values, and the others in its own order.

    The others (line, name, expression) are those that no branch or function sets too.
    """
    assignments = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    expressions: dict[str, list[ast.expr]] = {}
    for node in assignments:
        for name, expression in _assigned(node):
            expressions.setdefault(name, []).append(expression)
    defaults = _parameters_by_name(tree) | argument_defaults(tree)
    defaults |= _handed_over(tree) if LOOP_CONFIG in text else {}
    once = {name: several[0] for name, several in expressions.items() if len(several) == 1}
    known = {name: value for name, value in defaults.items() if name not in expressions} | once
    in_order = [node for node in tree.body if isinstance(node, ast.Assign)]
    in_branches = set(assignments) - set(in_order)
    elsewhere = {name for node in in_branches for name, _ in _assigned(node)}
    resets = [
        (node.lineno, name, expression)
        for node in in_order
        for name, expression in _assigned(node)
        if name not in once and name not in elsewhere
    ]
    return known, resets


def _arguments(call: ast.Call, values: Values) -> Json:
    """The arguments of a call by name or by position; one that is a call itself as its code."""
    placed = {str(place): argument for place, argument in enumerate(call.args)}
    named = {argument.arg: argument.value for argument in call.keywords if argument.arg}
    arguments = {}
    for name, node in (placed | named).items():
        value = values.value(node)
        is_call = isinstance(value, dict) and CLASS in value
        arguments[name] = f"${{{value[CLASS]}(...)}}" if is_call else value
    return arguments


def _parameters_by_name(tree: ast.AST) -> Json:
    """The defaults of parameters by the names under which functions and methods read them."""
    return {
        f"{holder}{name}": value
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for name, value in parameter_defaults(function).items()
        for holder in OBJECTS
    }


def _handed_over(tree: ast.AST) -> Json:
    """The settings that Ray hands to a function of the script, by the name of its parameter."""
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    handed: Json = {}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        named = {argument.arg: argument.value for argument in call.keywords}
        loop = call.args[0] if call.args else named.get("train_loop_per_worker")
        function = functions.get(loop.id) if isinstance(loop, ast.Name) else None
        if LOOP_CONFIG in named and function and function.args.args:
            handed[function.args.args[0].arg] = named[LOOP_CONFIG]
    return handed


def _assigned(node: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """The names that an assignment sets, each with its expression; a, b = 1, 2 sets two."""
    target, value = node.targets[0], node.value
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, expression in zip(target.elts, value.elts, strict=False):
            if isinstance(one, ast.Name):
                yield one.id, expression


def read_python(text: str, file: str) -> Json:
    """The keyword arguments of the call that the only function returns; raises ConfigProblem.

    Nested calls are mappings: `class` is the callable, a number the position of an argument without
    a name.
    """
    functions = [
        (node.name, call)
        for node in parse_python(text, file).body
        if isinstance(node, ast.FunctionDef) and (call := _config_call(node))
    ]
    if len(functions) != 1:
        names = ", ".join(name for name, _ in functions)[:120] or "none"
        raise ConfigProblem(
            f"{file}: only one function may return a config, and this has {names}; keep the "
            f"one that runs."
        )
    ((name, call),) = functions
    fields: Any = Values().value(call)
    return {"config": name, **{key: value for key, value in fields.items() if key != CLASS}}


def _config_call(function: ast.FunctionDef) -> ast.Call | None:
    """The first call that a function returns, if it has named arguments; else None."""
    calls = (
        node.value
        for node in function.body
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Call)
    )
    call = next(calls, None)
    return call if call and call.keywords else None
