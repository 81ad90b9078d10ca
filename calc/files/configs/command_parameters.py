"""Write the words of a command into the functions and constants that they set."""

import ast
import re
from pathlib import PurePath

from calc.files.configs.flags import fields_of
from calc.files.configs.hydra_configs import typed
from calc.files.configs.loaded_configs import literal
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.python_values import dotted_name

STARTS = re.compile(r"(?:^|\.)(?:Fire|run|cli|CLI|auto_cli|ArgsParser|defopt)$")
OF_STARTS = ("fire", "typer", "tyro", "jsonargparse", "defopt", "Fire", "CLI")
COMMANDS = re.compile(r"(?:^|\.)(?:command|main|autocommand)$")  # decorators: app.command, click's
OPTION = re.compile(r"(?:^|\.)(?:option|argument)$")
EXECUTES = re.compile(r"exec\(\s*open\(")  # nanoGPT's configurator.py


def with_parameters(
    tree: ast.Module, arguments: list[str], constants: dict[str, ast.Module]
) -> set[str]:
    """Write the words of a command into the functions and constants of a script that they set.

    `constants`: files that set names alone, which a configurator runs where a command names them;
    returned are those that may be run.
    """
    given = _given(arguments)
    started = _started_functions(tree)
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        if function.name in started or any(map(_is_command, function.decorator_list)):
            _set_defaults(function, _options(function) | given)
    if not EXECUTES.search(ast.unparse(tree)):
        return set()
    for word in arguments:
        for file, config in constants.items():
            if PurePath(file).name == PurePath(word).name:
                given = _constants(config) | given
    _set_constants(tree, given)
    return set(constants)


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """The names that a file sets, each with its expression."""
    return {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }


def _given(arguments: list[str]) -> dict[str, ast.expr]:
    """The flags of a command as expressions."""
    try:
        fields, _ = fields_of(arguments, "", {})
    except ConfigProblem:
        return {}
    return {
        name: literal(typed(value) if isinstance(value, str) else value)
        for name, value in fields.items()
    }


def _started_functions(tree: ast.Module) -> set[str]:
    """The functions that a script hands to fire, typer or a parser like them."""
    names = set()
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        callee = dotted_name(call.func)
        owner = callee.partition(".")[0]
        if STARTS.search(callee) and owner in OF_STARTS:
            names |= {one.id for one in call.args if isinstance(one, ast.Name)}
    return names


def _is_command(node: ast.expr) -> bool:
    """Return whether a decorator makes a function a command: app.command(), click.command."""
    called = node.func if isinstance(node, ast.Call) else node
    name = dotted_name(called)
    return bool(COMMANDS.search(name)) and "hydra" not in name


def _options(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """The defaults of the options that click's decorators give a function."""
    options: dict[str, ast.expr] = {}
    for one in function.decorator_list:
        if isinstance(one, ast.Call) and OPTION.search(dotted_name(one.func)):
            flags = [str(word.value) for word in one.args if isinstance(word, ast.Constant)]
            name = next((flag for flag in reversed(flags) if flag.startswith("--")), "")
            default = next((word.value for word in one.keywords if word.arg == "default"), None)
            if name and default is not None:
                options[name.lstrip("-").partition("/")[0].replace("-", "_")] = default
    return options


def _set_defaults(function: ast.FunctionDef, given: dict[str, ast.expr]) -> None:
    """Give the parameters of a function the values of a command over their own defaults."""
    taken = function.args
    placed = [*taken.posonlyargs, *taken.args]
    without = len(placed) - len(taken.defaults)
    defaults = [ast.Constant(None) for _ in range(without)] + taken.defaults
    chosen = [given.get(one.arg, old) for one, old in zip(placed, defaults, strict=True)]
    is_set = any(one.arg in given for one in placed)
    taken.defaults = chosen if is_set else taken.defaults
    taken.kw_defaults = [
        given.get(one.arg, old) if one.arg in given else old
        for one, old in zip(taken.kwonlyargs, taken.kw_defaults, strict=True)
    ]


def _set_constants(tree: ast.Module, given: dict[str, ast.expr]) -> None:
    """Give the constants at the top of a script the values of a command."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            node.value = given.get(node.targets[0].id, node.value)
