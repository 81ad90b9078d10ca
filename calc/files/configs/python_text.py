"""Calls in a Python script, and the config function of torchtitan. A script is never run."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from calc.files.configs.problem import MOST_FIELDS, ConfigProblem
from calc.files.configs.python_branches import Guard, functions_around, guards_of
from calc.files.configs.python_calls import CLASS
from calc.files.configs.python_names import (
    PARSERS,
    assigned_by,
    assignments,
    config_classes,
    is_none,
    known_names,
)
from calc.files.configs.python_parameters import parameter_defaults, parameters_of_functions
from calc.files.configs.python_values import Values, dotted_name, parse_python
from calc.mappings import Json

INHERITED = "TrainingArguments"  # of transformers, whose classes with more arguments end so
NOT_TRAINED = ("Tokenizer", "Processor")


class FoundCall(NamedTuple):
    """A call in a script: its name, its arguments, and the tests on which it hangs.

    `doubts`: tests that nothing decides; `switch`: the test that turns the call off, or empty.
    """

    name: str
    arguments: Json
    doubts: tuple[str, ...] = ()
    switch: str = ""


def calls_of(
    tree: ast.Module, file: str, names: tuple[str, ...], flags: Json
) -> Iterator[FoundCall]:
    """The calls of these names in a script, in order, with the values of their arguments.

    A name that the script sets once has that value. Of a name that is set several times, the last
    value before the call counts, unless a branch or a function sets it too; then it is a variable,
    ${name}. Of calls in the branches of one test the first counts. `flags`: those of the command
    that starts the script. Raises ConfigProblem.
    """
    known, resets = known_names(tree, flags), _resets(tree)
    guards, given = guards_of(tree), parameters_of_functions(tree)
    functions = functions_around(tree)
    if len(guards) > MOST_FIELDS:
        raise ConfigProblem(
            f"{file} has more than {MOST_FIELDS:,} calls; give the script of the training alone."
        )
    taken: dict[tuple[str, int], int] = {}  # the branch of a test in which a call was found
    for call in sorted(guards, key=lambda node: (node.lineno, node.col_offset)):
        name = _name_of(call, names)
        if not name:
            continue
        set_before = {one: expression for line, one, expression in resets if line < call.lineno}
        shadowing = _parameters(functions[call], given) if call in functions else {}
        values = Values(known | set_before | shadowing)
        branches = [((name, guard.chain), guard.branch) for guard in guards[call]]
        doubts, switch = _standing(guards[call], values)
        if not switch and any(taken.setdefault(key, at) != at for key, at in branches):
            continue
        yield FoundCall(name, _arguments(call, values), doubts, switch)
    yield from _parsed_classes(tree, names, known, flags)


def _parameters(function: ast.FunctionDef, given: Mapping[ast.FunctionDef, Json]) -> Json:
    """The parameters of a function that hide names of its script, with their values."""
    values = parameter_defaults(function) | given.get(function, {})
    reset = assignments(function)
    return {
        name: value
        for name, value in values.items()
        if dotted_name(value) != name and name not in reset and not is_none(value)
    }


def _name_of(call: ast.Call, names: tuple[str, ...]) -> str:
    """The name of a call among these names; empty for any other call."""
    callee = dotted_name(call.func)
    if callee == "dict":  # of mmengine, whose configs say with type what they build
        built = (one.value for one in call.keywords if one.arg == "type")
        callee = next(map(dotted_name, built), "")
    name = next((one for one in names if f".{callee}".endswith(f".{one}")), "")
    if callee.endswith(INHERITED):  # Seq2SeqTrainingArguments, UnslothTrainingArguments
        name = name or INHERITED
    return "" if any(word in callee for word in NOT_TRAINED) else name


def _standing(guards: tuple[Guard, ...], values: Values) -> tuple[tuple[str, ...], str]:
    """The tests of a call that nothing decides, and the one that turns it off."""
    doubts = []
    for guard in guards:
        holds = [values.truth(test) for test in guard.tests]
        is_off = True in holds[:-1] or (holds[-1] is False and not guard.is_else)
        is_off = is_off or (guard.is_else and True in holds)
        text = ast.unparse(guard.tests[-1])
        if is_off:
            return (), text
        if None in holds:
            doubts.append(text)
    return tuple(doubts), ""


def _resets(tree: ast.Module) -> list[tuple[int, str, ast.expr]]:
    """Assignments in order, with their lines, to names that are set several times, there alone."""
    in_order = [node for node in tree.body if isinstance(node, ast.Assign)]
    several = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    elsewhere = {name for node in several if node not in in_order for name, _ in assigned_by(node)}
    counted = Counter(name for node in several for name, _ in assigned_by(node))
    return [
        (node.lineno, name, expression)
        for node in in_order
        for name, expression in assigned_by(node)
        if counted[name] > 1 and name not in elsewhere
    ]


def _parsed_classes(
    tree: ast.Module, names: tuple[str, ...], known: Json, flags: Json
) -> Iterator[FoundCall]:
    """The classes of arguments that a parser fills from the command line, with their values."""
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    fields = config_classes(tree)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if dotted_name(call.func).rpartition(".")[2] not in PARSERS or not call.args:
            continue
        first = call.args[0]
        for one in first.elts if isinstance(first, ast.Tuple | ast.List) else [first]:
            own = classes.get(dotted_name(one))
            bases = [dotted_name(base) for base in own.bases] if own else [dotted_name(one)]
            name = next((known_name for base in bases if (known_name := _known(base, names))), "")
            defaults = fields.get(own.name, {}) if own else {}
            if name:
                values = Values(dict(known))
                given = {flag: constant.value for flag, constant in flags.items()}
                yield FoundCall(name, {k: values.value(v) for k, v in defaults.items()} | given)


def _known(class_name: str, names: tuple[str, ...]) -> str:
    """The name of a class of arguments among the calls that are read; empty for another class."""
    last = class_name.rpartition(".")[2]
    return last if last in names else INHERITED if last.endswith(INHERITED) else ""


def _arguments(call: ast.Call, values: Values) -> Json:
    """The arguments of a call by name or by position; one that is a call itself as its code."""
    placed = {str(place): argument for place, argument in enumerate(call.args)}
    named = {argument.arg: argument.value for argument in call.keywords if argument.arg}
    arguments: Json = {}
    for argument in call.keywords:  # **settings
        several = {} if argument.arg else values.value(argument.value)
        if isinstance(several, dict) and CLASS not in several:
            arguments |= several
    for name, node in (placed | named).items():
        value = values.value(node)
        is_call = isinstance(value, dict) and CLASS in value
        arguments[name] = f"${{{value[CLASS]}(...)}}" if is_call else value
    return arguments


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
