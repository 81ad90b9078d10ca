"""Calls of a script that load a config, or a command's words, replaced by what stands there."""

import ast
from functools import cached_property
from pathlib import PurePath
from typing import Any

from calc.files.configs.flags import fields_of
from calc.files.configs.hydra_configs import Configs, mapping_of, typed
from calc.files.configs.problem import ConfigProblem
from calc.files.configs.python_names import known_names
from calc.files.configs.python_values import Values, dotted_name
from calc.mappings import Json, put_at_path

LOADERS = ("safe_load", "load", "full_load", "fromfile", "load_yaml", "load_config", "read_yaml")
OF_TEXT = ("yaml", "json", "toml", "tomllib", "tomli", "OmegaConf", "Config", "YAML", "", "cfg")
FROM_COMMAND = "OmegaConf.from_cli"
ARGUMENTS = "sys.argv"
ENDS = (".yaml", ".yml", ".json", ".toml")


def with_loads(tree: ast.Module, words: list[str], configs: Configs) -> set[str]:
    """Write the configs that a script loads into it; return the files that it takes.

    `words`: the script and what stands behind it in the command that starts it.
    """
    file, *arguments = words
    _Words(file, arguments).visit(tree)
    if not configs:
        return set()
    loads = _Loads(tree, arguments, configs)
    loads.visit(tree)
    return loads.used


def literal(value: Any) -> ast.expr:
    """An expression for a value of a config; what has no literal as its text."""
    try:
        return ast.parse(repr(value), mode="eval").body
    except (SyntaxError, ValueError):
        return ast.Constant(str(value))


class _Words(ast.NodeTransformer):
    """Replace the words of the command: sys.argv, and OmegaConf.from_cli(...)."""

    def __init__(self, file: str, arguments: list[str]) -> None:
        self.words = [file, *arguments]
        self.settings: Json = {}
        for word in arguments:
            path, equals, value = word.partition("=")
            if equals:
                put_at_path(self.settings, path.lstrip("-+").split("."), typed(value))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if dotted_name(node.func) == FROM_COMMAND:
            return literal(self.settings)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        is_read = isinstance(node.ctx, ast.Load) and dotted_name(node) == ARGUMENTS
        return literal(self.words) if is_read else self.generic_visit(node)


class _Loads(ast.NodeTransformer):
    """Replace the calls that load a config by the mapping that it holds."""

    def __init__(self, tree: ast.Module, arguments: list[str], configs: Configs) -> None:
        self.configs, self.used = configs, set[str]()
        try:
            flags = {
                name: ast.Constant(value) for name, value in fields_of(arguments, "", {})[0].items()
            }
        except ConfigProblem:
            flags = {}
        self.tree, self.flags = tree, flags
        self.opened = {
            item.optional_vars.id: item.context_expr
            for node in ast.walk(tree)
            if isinstance(node, ast.With)
            for item in node.items
            if isinstance(item.optional_vars, ast.Name)
        }
        named = [word for word in arguments if word.endswith(ENDS)]
        self.named = [
            found for word in named if (found := self._file(word.partition("=")[2] or word))
        ]

    @cached_property
    def values(self) -> Values:
        """The values of the script's names, as they are before its loads are replaced."""
        return Values(known_names(self.tree, self.flags))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = dotted_name(node.func)
        owner, _, last = name.rpartition(".")
        loads = last in LOADERS and owner.rpartition(".")[2] in OF_TEXT and bool(node.args)
        file = self._loaded(node.args[0]) if loads else ""
        values = mapping_of(file, self.configs) if file else {}
        if not values:
            return self.generic_visit(node)
        self.used.add(file)
        return literal(values)

    def _loaded(self, node: ast.expr) -> str:
        """The file that a call loads: by the path it opens, else the one that the command names."""
        if isinstance(node, ast.Name) and node.id in self.opened:
            node = self.opened[node.id]
        path = self.values.value(node)
        while not isinstance(path, str) and isinstance(node, ast.Call):
            node = _inside(node)  # open(path), Path(path).read_text()
            path = self.values.value(node)
        found = self._file(path) if isinstance(path, str) else ""
        is_open = not isinstance(path, str) or "${" in path
        return found or (self.named[0] if is_open and len(set(self.named)) == 1 else "")

    def _file(self, path: str) -> str:
        """The config of a path, by its last part."""
        name = PurePath(path).name
        return next((file for file in self.configs if PurePath(file).name == name), "")


def _inside(call: ast.Call) -> ast.expr:
    """The expression of what a call opens: its first argument, or the object of a method."""
    if call.args:
        return call.args[0]
    return call.func.value if isinstance(call.func, ast.Attribute) else ast.Constant(None)
